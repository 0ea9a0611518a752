"""What every kind of case needs: a private home, processes that are always cleaned up, logs, check and export."""
import base64, fnmatch, glob, html, json, os, re, secrets, shutil, signal, socket, stat, subprocess, sys, tempfile, threading, time

TOOLS = os.path.dirname(os.path.abspath(__file__))
FORMATS = ["json", "jsonl", "html", "text", "har", "otlp", "tape"]
STRICT = ("invalid", "warn", "mismatch", "auth")       # a finding with one of these must be listed in expect.json


class Skip(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(test, seconds):
    end = time.time() + seconds
    while time.time() < end:
        if test():
            return True
        time.sleep(0.05)
    return bool(test())


def listening(port):
    with socket.socket() as s:
        s.settimeout(0.2)
        return s.connect_ex(("127.0.0.1", port)) == 0


def fits(got, want):
    """want: a value, a list of allowed values, or ">=N" / "<=N"."""
    if isinstance(want, list):
        return any(fits(got, w) for w in want)
    if isinstance(want, str) and want[:2] in (">=", "<=") and isinstance(got, (int, float)):
        return got >= float(want[2:]) if want[0] == ">" else got <= float(want[2:])
    return got == want


def any_in(words, text):
    words = [words] if isinstance(words, str) else words
    return any(w.lower() in text.lower() for w in words)


def loose(data):
    """Text of an export with HTML entities and JSON escapes undone, so that one needle fits every format."""
    text = html.unescape(data.decode("utf-8", "replace"))
    for _ in range(2):
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m.group(1), 16)), text.replace("\\\\u", "\\u"))
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\\/", "/").replace('\\"', '"')


class Case:
    """One run of one case. Collects what is broken; owns a temp dir and every process started in it."""

    def __init__(self, binary, folder, spec, limit):
        self.bin, self.folder, self.spec = os.path.abspath(binary), folder, spec
        self.broken, self.notes, self.sessions = [], [], []
        self.deadline = time.time() + limit
        self.tmp = os.path.realpath(tempfile.mkdtemp(prefix="mcpsnoop-case-"))
        self.home, self.state, self.work = (os.path.join(self.tmp, d) for d in ("home", "state", "work"))
        path = os.path.join(self.tmp, "bin")
        for d in (self.home, self.work, path):
            os.makedirs(d)
        os.symlink(sys.executable, os.path.join(path, "python3"))     # the players use the Python that runs this
        self.mark = "CASE_MARK=" + secrets.token_hex(8)               # found again in /proc/PID/environ
        keep = {k: v for k, v in os.environ.items()
                if not k.startswith(("MCPSNOOP", "XDG_", "CASE_", "SSH_", "TMUX")) and k not in ("NO_COLOR", "COLORTERM")}
        self.env = dict(keep, HOME=self.home, MCPSNOOP_HOME=self.state, TMPDIR=self.tmp, LC_ALL="C.UTF-8", TERM="xterm-256color",
                        PATH=path + os.pathsep + os.environ.get("PATH", ""), PYTHONDONTWRITEBYTECODE="1",
                        CASE_MARK=self.mark.partition("=")[2], CASE_PID=os.path.join(self.tmp, "pid"))
        self.started = []
        self.watchdog = threading.Timer(limit, self.expire)
        self.watchdog.daemon = True
        self.watchdog.start()

    def fail(self, text, *args):
        self.broken.append(text % args if args else text)

    def expect(self, ok, text, *args):
        if not ok:
            self.fail(text, *args)
        return ok

    # processes
    def start(self, cmd, env=None, cwd=None, **kw):
        for name in ("stdin", "stdout", "stderr"):
            kw.setdefault(name, subprocess.PIPE)
        p = subprocess.Popen(cmd, env=dict(self.env, **(env or {})), cwd=cwd or self.work, start_new_session=True, **kw)
        self.started.append(p.pid)
        return p

    def run(self, cmd, input=b"", timeout=15, **kw):
        """-> (exit code, stdout, stderr); exit code None when it had to be killed."""
        p = self.start(cmd, **kw)
        try:
            out, err = p.communicate(input, max(0.1, min(timeout, self.deadline - time.time())))
            return p.returncode, out, err
        except subprocess.TimeoutExpired:
            self.kill_group(p.pid)
            out, err = p.communicate()
            return None, out, err

    def snoop(self, *args, **kw):
        return self.run([self.bin] + list(args), **kw)

    def kill_group(self, pid, sig=signal.SIGKILL):
        try:
            os.killpg(pid, sig)
        except (ProcessLookupError, PermissionError):
            pass

    def owned(self):
        """Processes that carry this case's mark: everything started for it, also what changed its process group."""
        found = []
        for d in glob.glob("/proc/[0-9]*"):
            try:
                with open(d + "/environ", "rb") as f:
                    if self.mark.encode() in f.read().split(b"\0") and open(d + "/stat").read().rpartition(")")[2].split()[0] != "Z":
                        found.append(int(d[6:]))
            except OSError:
                pass
        return [p for p in found if p != os.getpid()]

    def kill_all(self):
        for pid in self.started:
            self.kill_group(pid)
        for _ in range(20):
            left = self.owned()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            if not left:
                return
            time.sleep(0.05)

    def expire(self):
        self.fail("time limit reached")
        self.kill_all()

    def close(self):
        self.watchdog.cancel()
        self.kill_all()
        shutil.rmtree(self.tmp, ignore_errors=True)

    # logs
    def new_session(self):
        """The session log written since the last call."""
        logs = [p for p in glob.glob(os.path.join(self.state, "sessions", "*.jsonl")) if p not in self.sessions]
        if not self.expect(len(logs) == 1, "expected 1 new session log under sessions/, found %d", len(logs)):
            return None
        self.sessions.append(logs[0])
        return logs[0]


def wire_slice(line):
    """The bytes of the member raw of one log line, as they stand in the file."""
    dec, i = json.JSONDecoder(), line.index("{") + 1
    while True:
        while line[i] in " \t,":
            i += 1
        if line[i] == "}":
            return None
        key, i = dec.raw_decode(line, i)
        while line[i] in " \t:":
            i += 1
        _, end = dec.raw_decode(line, i)
        if key == "raw":
            return line[i:end]
        i = end


def read_log(path):
    """-> (frames, bad line numbers). Lines end at LF only. frame["wire"] is what was on the wire, as bytes."""
    frames, bad = [], []
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    for n, b in enumerate(lines, 1):
        if not b.strip(b"\r\0 "):
            continue
        try:
            text = b.decode("utf-8")
            f = json.loads(text)
            if "raw" in f:
                f["wire"] = wire_slice(text).encode()
            elif "text" in f:
                f["wire"] = f["text"].encode("utf-8", "surrogatepass")
            else:
                f["wire"] = base64.b64decode(f.get("bytes", ""))
            frames.append(f)
        except (ValueError, AttributeError, IndexError, TypeError):
            bad.append(n)
    return frames, bad


def check_log(case, path, frames, bad, finished=True):
    """What docs/LOG_FORMAT.md promises for every log."""
    e = case.expect
    e(not bad, "log: lines %s cannot be read", bad[:5])
    e([f.get("seq") for f in frames] == list(range(1, len(frames) + 1)), "log: seq is not 1, 2, 3 ... without gaps")
    ts = [f.get("ts", "") for f in frames]
    e(all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$", t) for t in ts), "log: ts is not RFC 3339 UTC")
    norm = [t[:19] + "." + (t[20:-1] if t[19:20] == "." else "").ljust(9, "0") for t in ts]
    e(norm == sorted(norm), "log: ts goes backwards")
    sid = os.path.basename(path)[:-6]
    e(all(f.get("session_id") == sid for f in frames), "log: session_id is not the file name")
    e(all(f.get("direction") and f.get("transport") in ("stdio", "http") and f.get("server_label") for f in frames), "log: direction, transport or server_label missing")
    e(bool(frames) and frames[0].get("direction") == "meta", "log: first line is not meta")
    if finished:
        e(bool(frames) and frames[-1].get("direction") == "end", "log: last line is not end")
    if os.name == "posix":
        e(stat.S_IMODE(os.stat(path).st_mode) == 0o600, "log: mode is not 0600")
        e(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700, "log: folder mode is not 0700")


def check_record(case, want, path, frames):
    e, count = case.expect, lambda d: sum(f.get("direction") == d for f in frames)
    with open(path, "rb") as f:
        everything = f.read().decode("utf-8", "replace") + "\n" + "\n".join(f["wire"].decode("utf-8", "replace") for f in frames)
    for d in ("c2s", "s2c", "stderr"):
        if d in want:
            e(fits(count(d), want[d]), "record: %s frames %s, wanted %s", d, count(d), want[d])
        if d + "_bad" in want:
            n = sum(f.get("direction") == d and "raw" not in f and bool(f["wire"]) for f in frames)
            e(fits(n, want[d + "_bad"]), "record: %s frames that are not JSON %s, wanted %s", d, n, want[d + "_bad"])
    for name, test in (("eol_none", lambda f: f.get("eol") == "none"), ("batch", lambda f: f.get("batch")), ("redacted", lambda f: f.get("redacted"))):
        if name in want:
            n = sum(bool(test(f)) for f in frames)
            e(fits(n, want[name]), "record: frames with %s %d, wanted %s", name, n, want[name])
    for key, value in want.get("end", {}).items():
        got = (frames[-1].get("raw") or {}).get(key) if frames and frames[-1].get("direction") == "end" else None
        e(fits(got, value), "record: end.%s is %r, wanted %s", key, got, value)
    if "auth_marks" in want:
        n = len({f["auth"].get("sha256_16") for f in frames if f.get("auth")})
        e(n == want["auth_marks"], "record: %d different credentials marked, wanted %d", n, want["auth_marks"])
    for w in want.get("contains", []):
        e(any_in(w, everything), "record: %r is missing", w)
    for w in want.get("not_contains", []):
        e(w not in everything, "record: %r must not occur", w)


def hit(case, finding, want, frames):
    """Does one finding fit one wanted entry?"""
    rules = want.get("rule", "*")
    if not any(fnmatch.fnmatchcase(str(finding.get("rule")), r) for r in ([rules] if isinstance(rules, str) else rules)):
        return False
    if "signal" in want and not fits(finding.get("signal"), want["signal"]):
        return False
    if "seq" in want and finding.get("seq") != want["seq"]:
        return False
    if "id" in want and str(finding.get("id")).strip('"') != want["id"]:
        return False
    if "tool" in want and finding.get("tool") != want["tool"] and want["tool"] not in str(finding.get("message")):
        return False
    words = json.dumps(finding, ensure_ascii=False)
    if "text" in want and not any_in(want["text"], words):
        return False
    if "text_all" in want and not all(any_in(w, words) for w in want["text_all"]):
        return False
    if "at" in want:
        return any(f.get("seq") == finding.get("seq") and want["at"].encode() in f["wire"] for f in frames)
    return True


def check_session(case, want, session, frames):
    args = want.get("args", [])
    rc, out, err = case.snoop("check", "--format", "json", *(args + [session]))
    label = "check" + "".join(" " + a for a in args)
    if "exit" in want:
        case.expect(fits(rc, want["exit"]), "%s: exit %s, wanted %s", label, rc, want["exit"])
    if rc == 2 and fits(2, want.get("exit", 0)):
        return case.expect(not out, "%s: exit 2 with something on standard output", label)
    try:
        doc = json.loads(out)
        one = doc["sessions"][0]
        signals, calls, found = one["signals"], dict(one["calls"]), one["findings"]
    except (ValueError, LookupError, TypeError) as ex:
        return case.fail("%s: no report (%s); stderr: %s", label, ex, err.decode("utf-8", "replace").strip()[:120])
    case.expect(doc.get("version") == 1 and doc.get("exit") == rc, "%s: version or exit in the report is wrong", label)
    calls["not_ok"] = calls.get("total", 0) - calls.get("ok", 0)
    for group, have in (("signals", signals), ("calls", calls)):
        for k, v in want.get(group, {}).items():
            case.expect(fits(have.get(k), v), "%s: %s.%s is %s, wanted %s", label, group, k, have.get(k), v)
    if "frames" in want:
        case.expect(fits(one.get("frames"), want["frames"]), "%s: frames %s, wanted %s", label, one.get("frames"), want["frames"])
    if "findings" in want or "allow" in want:
        for w in want.get("findings", []):
            hits = [f for f in found if hit(case, f, w, frames)]
            total = sum(f.get("count") or 1 for f in hits)
            name = ",".join("%s=%s" % kv for kv in w.items() if kv[0] not in ("count", "entries"))
            case.expect(fits(total, w.get("count", ">=1")), "%s: %d findings with %s, wanted %s", label, total, name, w.get("count", ">=1"))
            if "entries" in w:
                case.expect(fits(len(hits), w["entries"]), "%s: %d entries with %s, wanted %s", label, len(hits), name, w["entries"])
        allowed = [{"rule": r} for r in want.get("allow", [])] + [{"rule": w.get("rule", "*")} for w in want.get("findings", []) if "rule" in w]
        extra = [f for f in found if f.get("signal") in STRICT and not any(hit(case, f, w, frames) for w in allowed)]
        case.expect(not extra, "%s: unexpected finding %s", label, ", ".join(sorted({"%s #%s" % (f.get("rule"), f.get("seq")) for f in extra})[:4]))
    for r in want.get("no_rules", []):
        n = [f for f in found if f.get("signal") != "info" and fnmatch.fnmatchcase(str(f.get("rule")), r)]
        case.expect(not n, "%s: rule %s must not fire", label, r)
    for t in want.get("no_tools", []):
        n = [f.get("rule") for f in found if f.get("tool") == t and f.get("signal") in STRICT]
        case.expect(not n, "%s: tool %s must have no finding, has %s", label, t, n[:3])
    if want.get("repeat_text"):
        rc, out, _ = case.snoop("check", *(args + [session]))
        case.expect(b"\x1b" not in out, "check text holds a raw ESC")


def parse_export(case, fmt, data):
    try:
        if fmt in ("json", "har", "otlp"):
            json.loads(data)
        if fmt in ("jsonl", "tape"):
            [json.loads(x) for x in data.split(b"\n") if x.strip()]
        if fmt == "tape":
            case.expect(all(json.loads(x).get("type") or "dir" in json.loads(x) for x in data.split(b"\n") if x.strip()), "export tape: a line is neither a frame nor typed")
    except ValueError as ex:
        case.fail("export %s does not parse: %s", fmt, ex)


def check_export(case, want, session, frames):
    for fmt in want.get("formats", FORMATS):
        rc, data, err = case.snoop("export", "-T", fmt, "-o", "-", *(want.get("flags", []) + [session]))
        if not case.expect(rc == 0 and data, "export %s: exit %s, %d bytes; %s", fmt, rc, len(data), err.decode("utf-8", "replace").strip()[:100]):
            continue
        parse_export(case, fmt, data)
        text = loose(data)
        for w in want.get("contains", []):
            case.expect(w in text or any_in(w, text), "export %s: %r is missing", fmt, w)
        for w in want.get("not_contains", []):
            escaped = any(c < " " for c in w)          # a control may stand there as an escape
            case.expect(w.encode() not in data and (escaped or w not in text), "export %s: %r must not occur", fmt, w)
        if fmt == "text":
            case.expect(b"\x1b" not in data and b"\0" not in data, "export text holds a raw ESC or NUL")
        if fmt == "jsonl" and want.get("same_frames"):
            copy = os.path.join(case.tmp, "copy.jsonl")
            with open(copy, "wb") as f:
                f.write(data)
            pick = lambda fs: [(f["direction"], f["wire"]) for f in fs if f.get("direction") in ("c2s", "s2c", "stderr")]
            case.expect(pick(read_log(copy)[0]) == pick(frames), "export jsonl does not hold the same frames, byte for byte")


def check_secrets(case, secrets_, session):
    """None of the strings may stand in any file the tool wrote, in any export, or in what its commands print."""
    hay = {}
    for top in (case.state, case.home):
        for d, _, names in os.walk(top):
            for n in names:
                with open(os.path.join(d, n), "rb") as f:
                    hay[os.path.relpath(os.path.join(d, n), case.tmp)] = f.read()
    for fmt in FORMATS:
        hay["export " + fmt] = case.snoop("export", "-T", fmt, "-o", "-", session)[1]
    for cmd in (["check", session], ["check", "--format", "json", session], ["tail", session], ["sessions"]):
        rc, out, err = case.snoop(*cmd)
        hay[cmd[0]] = out + err
    for where, data in hay.items():
        for s in secrets_:
            case.expect(s.encode() not in data and s not in loose(data), "secret %r found in %s", s[:6] + "...", where)


def judge(case, want, session, frames):
    """All parts of expect.json that look at a finished session."""
    if session is None:
        return
    if "record" in want:
        check_record(case, want["record"], session, frames)
    checks = want.get("check", [])
    for c in [checks] if isinstance(checks, dict) else checks:
        check_session(case, c, session, frames)
    exports = want.get("export", [])
    for x in [exports] if isinstance(exports, dict) else exports:
        check_export(case, x, session, frames)
    if "secrets" in want:
        check_secrets(case, want["secrets"], session)
