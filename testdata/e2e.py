#!/usr/bin/env python3
"""The built binary end to end: record the demo, then read the recording with every command that can.

usage: e2e.py --bin PATH

One line a step, exit 1 when a step failed. Each step is a function below, in the order in which they run.
"""
import argparse, glob, json, os, shutil, socket, subprocess, sys, tempfile, threading, time

MARK = "MCPSNOOP_E2E_MARK"


class Run:
    """A fresh home, the binary, and what the demo recorded."""

    def __init__(self, binary):
        self.bin, self.tmp = os.path.abspath(binary), tempfile.mkdtemp(prefix="mcpsnoop-e2e-")
        self.mark = "%d-%d" % (os.getpid(), time.time_ns())
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("MCPSNOOP", "XDG_"))}
        self.env.update(HOME=self.tmp, MCPSNOOP_HOME=os.path.join(self.tmp, "state"), **{MARK: self.mark})
        self.log, self.frames = "", 0

    def snoop(self, *args, exit=0, input=""):
        p = subprocess.run([self.bin, *args], input=input, env=self.env, cwd=self.tmp, capture_output=True, text=True, timeout=120)
        want = exit if isinstance(exit, tuple) else (exit,)
        assert p.returncode in want, "%s: exit %d, wanted %s; %s" % (" ".join(args), p.returncode, exit, p.stderr.strip()[-300:])
        return p

    def lines(self):
        with open(self.log, encoding="utf-8") as f:
            return [json.loads(x) for x in f]


def demo(run):
    p = run.snoop("demo", "--headless")
    logs = glob.glob(os.path.join(run.env["MCPSNOOP_HOME"], "sessions", "*.jsonl"))
    assert len(logs) == 1, "%d session logs" % len(logs)
    run.log = logs[0]
    assert run.log in p.stdout, "the path of the session is not in what the demo says"
    kinds = {x["direction"] for x in run.lines()}
    assert kinds >= {"meta", "c2s", "s2c", "stderr", "end"}, "directions in the log: %s" % kinds


def nothing_left(run):
    left = []
    for d in glob.glob("/proc/[0-9]*"):
        try:
            with open(d + "/environ", "rb") as f:
                if ("%s=%s" % (MARK, run.mark)).encode() in f.read():
                    left.append(d[6:])
        except OSError:
            pass
    assert not left, "processes left: %s" % left


def sessions(run):
    s = json.loads(run.snoop("sessions", "--format", "json").stdout)["sessions"]
    assert len(s) == 1 and s[0]["path"] == run.log, s
    run.frames = s[0]["frames"]
    assert s[0]["calls"] > 0 and s[0]["errors"] > 0 and s[0]["pending"] > 0, s[0]
    assert s[0]["id"] in run.snoop("sessions").stdout, "the id is not in the text"


def tail(run):
    want = sum(x["direction"] in ("c2s", "s2c", "stderr") for x in run.lines())
    assert run.frames == want, "sessions says %d frames, the log holds %d" % (run.frames, want)
    got = run.snoop("tail", run.log).stdout
    assert "tools/call" in got and "\x1b" not in got, got[:300]
    for line in run.snoop("tail", "--format", "jsonl", run.log).stdout.splitlines():
        json.loads(line)


def check(run):
    p = run.snoop("check", "--format", "json", "--fail-on", "error,invalid,pending", run.log, exit=1)
    doc = json.loads(p.stdout)
    signals = doc["sessions"][0]["signals"]
    assert doc["exit"] == 1 and doc["failed"] == ["error", "invalid", "pending"], doc["failed"]
    assert signals["incomplete"] == 0, signals
    assert "check failed" in run.snoop("check", run.log, exit=1).stdout


def export(run):
    json.loads(run.snoop("export", "-T", "json", "-o", "-", run.log).stdout)
    assert run.snoop("export", "-T", "text", "-o", "-", run.log).stdout.strip()
    copy = run.snoop("export", "-T", "jsonl", "-o", "-", run.log).stdout
    pick = lambda rows: [(x["direction"], x.get("raw"), x.get("text")) for x in rows if x["direction"] in ("c2s", "s2c", "stderr")]
    assert pick(json.loads(x) for x in copy.splitlines()) == pick(run.lines()), "the copy holds other frames"
    again = json.loads(run.snoop("check", "--format", "json", "--fail-on", "none", "-", input=copy).stdout)
    assert again["sessions"][0]["frames"] == run.frames, "the copy reads differently"


def replay(run):
    ask = ("replay", "--format", "json", "--timeout", "2s", run.log, "--")
    doc = json.loads(run.snoop(*ask, run.bin, "demo-server").stdout)
    assert {c["outcome"] for c in doc["calls"]} == {"same"} and len(doc["calls"]) == doc["summary"]["same"] > 5, doc["summary"]
    doc = json.loads(run.snoop(*ask, "sh", "-c", "sed -u 's/get_weather/gone/' | " + run.bin + " demo-server", exit=1).stdout)
    assert doc["summary"]["worse"] == 2 and doc["exit"] == 1, doc["summary"]
    run.snoop(*ask, "sh", "-c", "exit 3", exit=2)
    nothing_left(run)


def usage(run):
    p = run.snoop("chekc", exit=2)
    assert "check" in p.stderr and not p.stdout, "a mistyped command does not name the nearest: %s" % p.stderr
    run.snoop("check", os.path.join(run.tmp, "missing.jsonl"), exit=2)
    assert run.snoop("version").stdout.strip()
    for shell in ("bash", "zsh", "fish", "powershell"):
        assert "mcpsnoop" in run.snoop("completion", shell).stdout


def ssh(run):
    """A hub, the same commands through it by ssh, and a copy of the logs by remote."""
    if not (shutil.which("ssh") and shutil.which("ssh-keygen")):
        assert os.environ.get("CI") != "true", "ssh is needed"
        print("skip  e2e ssh: no ssh here", flush=True)
        return
    key, known = os.path.join(run.tmp, "key"), os.path.join(run.tmp, "known")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, timeout=30)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    hub = subprocess.Popen([run.bin, "hub", "--ssh-listen", "127.0.0.1:" + port, "--authorized-keys", key + ".pub"], env=run.env, cwd=run.tmp, stderr=subprocess.PIPE, text=True)
    try:
        said = hub.stderr.readline() + hub.stderr.readline() + hub.stderr.readline()
        with open(known, "w") as f:
            f.write(said.rpartition("known_hosts line: ")[2])
        threading.Thread(target=hub.stderr.read, daemon=True).start()
        words = ["ssh", "-F", "/dev/null", "-p", port, "-i", key, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "UserKnownHostsFile=" + known, "-o", "StrictHostKeyChecking=yes", "127.0.0.1"]
        for command in (["sessions", "--format", "json"], ["check", "--format", "json"], ["export", "-T", "html"], ["tail"], ["stats"], ["nothing"]):
            here = subprocess.run([run.bin, *command], env=run.env, cwd=run.tmp, capture_output=True, timeout=60)
            there = subprocess.run(words + command, env=run.env, cwd=run.tmp, capture_output=True, timeout=60)
            code = 127 if command == ["nothing"] else here.returncode
            assert there.returncode == code, "%s: exit %d over SSH, %d here; %s" % (command, there.returncode, code, there.stderr[-300:])
            assert there.stdout == here.stdout, "%s gives %d bytes over SSH, %d here" % (command, len(there.stdout), len(here.stdout))
        config = os.path.join(run.tmp, "ssh_config")
        with open(config, "w") as f:
            f.write("Host *\n  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n  IdentityAgent none\n" % known)
        far = os.path.join(run.tmp, "far")
        subprocess.run([run.bin, "remote", "-F", config, "-i", key, "--once", "127.0.0.1:" + port], env=dict(run.env, MCPSNOOP_HOME=far), check=True, capture_output=True, timeout=60)
        with open(run.log, "rb") as a, open(os.path.join(far, "remote", "127.0.0.1_" + port, "sessions", os.path.basename(run.log)), "rb") as b:
            assert a.read() == b.read(), "the copy is another file"
    finally:
        hub.terminate()
        assert hub.wait(10) == 0, "the hub ends with %d" % hub.returncode


STEPS = [demo, nothing_left, sessions, tail, check, export, replay, usage, ssh]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--bin", required=True, help="the mcpsnoop binary")
    a = ap.parse_args()
    if not os.access(a.bin, os.X_OK):
        ap.exit(2, "e2e.py: %s is not an executable file: run make build\n" % a.bin)
    run, failed = Run(a.bin), 0
    try:
        for step in STEPS:
            if failed and not run.log and step is not usage:
                print("skip  e2e %s: nothing was recorded" % step.__name__, flush=True)
                continue
            try:
                step(run)
                print("ok    e2e %s" % step.__name__, flush=True)
            except (AssertionError, LookupError, ValueError, OSError, subprocess.TimeoutExpired) as ex:
                failed += 1
                print("FAIL  e2e %s: %s: %s" % (step.__name__, type(ex).__name__, " ".join(str(ex).split())[:400]), flush=True)
    finally:
        shutil.rmtree(run.tmp, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
