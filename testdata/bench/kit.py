"""What the rows of the bench share: running the load generators, reading logs, percentiles and verdicts."""
import json, os, re, shutil, statistics, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(os.path.dirname(HERE), "lab")
MIB = 1 << 20


class Broken(Exception):
    """The load did not run as it should: no figure, bar missed."""


class Row:
    """One line of the table. value is compared with limit; shown is the figure in words, its floor in it."""

    def __init__(self, what, bar, shown, ok):
        self.what, self.bar, self.shown, self.ok = what, bar, shown, ok


def at_most(what, value, limit, shown, unit="x"):
    return Row(what, "at most %g%s" % (limit, unit), shown, value <= limit)


def at_least(what, value, limit, shown, unit="x"):
    return Row(what, "at least %g%s" % (limit, unit), shown, value >= limit)


def percentile(values, p):
    """As the generators do: the element at p of the way through the sorted list."""
    ordered = sorted(values)
    return ordered[int((len(ordered) - 1) * p)]


class Bench:
    """One run of the bench: the binary under test, the load generator, a scratch folder that holds every log."""

    def __init__(self, binary, scale=1.0, say=print):
        self.bin, self.scale, self.say = os.path.abspath(binary), scale, say
        self.tmp = tempfile.mkdtemp(prefix="mcpsnoop-bench-")
        self.lab = os.path.join(self.tmp, "lab")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("MCPSNOOP", "XDG_"))}
        self.env["HOME"] = self.tmp
        build_env = dict(os.environ, GOFLAGS=(os.environ.get("GOFLAGS", "") + " -buildvcs=false").strip())
        subprocess.run(["go", "build", "-o", self.lab, "."], cwd=LAB, env=build_env, check=True)

    def close(self):
        shutil.rmtree(self.tmp, ignore_errors=True)

    def n(self, count, least=1):
        """A count of the load, made smaller by --scale."""
        return max(least, int(count * self.scale))

    def home(self):
        """A fresh MCPSNOOP_HOME; the one before is removed, since logs of large frames are large."""
        shutil.rmtree(os.path.join(self.tmp, "home"), ignore_errors=True)
        self.env["MCPSNOOP_HOME"] = os.path.join(self.tmp, "home")
        return self.env["MCPSNOOP_HOME"]

    def direct(self, server="echo"):
        return [self.lab, server]

    def relay(self, server="echo"):
        return [self.lab, "relay", "--", self.lab, server]

    def recorded(self, *flags, server="echo"):
        return [self.bin, *flags, "--", self.lab, server]

    def run_lab(self, command, *args, timeout=300):
        """Run one load generator and return the JSON it prints."""
        p = subprocess.run([self.lab, command, *[str(a) for a in args]], env=self.env, capture_output=True, text=True, timeout=timeout)
        try:
            return json.loads(p.stdout.strip().rsplit("\n", 1)[-1])
        except ValueError:
            raise Broken("lab %s: exit %d, no figures; %s" % (command, p.returncode, p.stderr.strip()[-200:])) from None

    def timed(self, argv, timeout=600):
        """-> (exit code, stdout, stderr, seconds, peak KiB). The peak is read while it runs: the one that wait4 reports
        takes in the memory of this Python at the time of the fork."""
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        t0 = time.monotonic()
        p = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        end = t0 + timeout
        pid = peak = 0
        while not pid and time.monotonic() < end:
            peak = max(peak, vm_hwm(p.pid))
            pid, status, usage = os.wait4(p.pid, os.WNOHANG)
            if not pid:
                time.sleep(0.002)
        seconds = time.monotonic() - t0
        if not pid:
            p.kill()
            raise Broken("%s: still running after %d s" % (" ".join(argv[:3]), timeout))
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return p.returncode, out.read(), err.read(), seconds, peak or usage.ru_maxrss

    def only_log(self):
        """The one session log that the last recorded run has written."""
        folder = os.path.join(self.env["MCPSNOOP_HOME"], "sessions")
        logs = [os.path.join(folder, n) for n in (os.listdir(folder) if os.path.isdir(folder) else []) if n.endswith(".jsonl")]
        if len(logs) != 1:
            raise Broken("expected one session log, found %d" % len(logs))
        return logs[0]


def vm_hwm(pid):
    """Peak resident memory of a running process in KiB, 0 when it is gone or cannot be read."""
    try:
        with open("/proc/%d/status" % pid) as f:
            return next((int(line.split()[1]) for line in f if line.startswith("VmHWM:")), 0)
    except (OSError, ValueError):
        return 0


HEAD = re.compile(rb'"seq":(\d+).*?"direction":"(\w+)"')


def frames(path):
    """Yield (seq, direction, line) of each line of a log. The head is enough: bodies of 1 MiB are not parsed."""
    with open(path, "rb") as f:
        for line in f:
            m = HEAD.search(line[:600])
            if m and line.endswith(b"\n"):
                yield int(m.group(1)), m.group(2).decode(), line
            else:
                d = json.loads(line)
                yield d["seq"], d["direction"], line


def complete(path, c2s, s2c):
    """The log holds so many frames each way, numbered without a gap; else Broken."""
    count, last = {}, 0
    for seq, direction, line in frames(path):
        if seq != last + 1:
            raise Broken("log: seq %d after %d" % (seq, last))
        if direction != "end" and b'"dropped":' in line[:600]:
            raise Broken("log: frames dropped before seq %d" % seq)
        last = seq
        count[direction] = count.get(direction, 0) + 1
    for direction, want in (("c2s", c2s), ("s2c", s2c)):
        if count.get(direction, 0) != want:
            raise Broken("log: %d %s frames of %d" % (count.get(direction, 0), direction, want))
    if count.get("meta") != 1 or count.get("end") != 1:
        raise Broken("log: no meta line or no end line")


median = statistics.median
