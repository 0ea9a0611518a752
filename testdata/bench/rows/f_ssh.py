"""Viewers over SSH, and mirrors."""
import fcntl, json, os, select, signal, socket, struct, subprocess, termios, threading, time, urllib.request

from kit import HERE, MIB, Broken, at_least, at_most, median

ROOT = os.path.dirname(os.path.dirname(HERE))


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class _Hub:
    """mcpsnoop hub --ssh-listen on loopback, with a key that is let in."""

    def __init__(self, bench, *flags):
        self.bench, self.port = bench, _free_port()
        self.key = os.path.join(bench.tmp, "ssh-key")
        if not os.path.exists(self.key):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key], check=True)
        self.keys = self.key + ".pub"
        os.chmod(self.keys, 0o600)
        self.log = open(os.path.join(bench.tmp, "hub.log"), "wb")
        self.p = subprocess.Popen([bench.bin, "hub", "--ssh-listen", "127.0.0.1:%d" % self.port, "--authorized-keys", self.keys, *flags],
                                  env=bench.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.time() + 10
        while time.time() < end:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise Broken("the hub does not listen")

    def cpu(self):
        with open("/proc/%d/stat" % self.p.pid) as f:
            parts = f.read().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def rss(self):
        with open("/proc/%d/status" % self.p.pid) as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS:"))

    def ssh(self, *words, pty=False):
        return ["ssh", "-F", "/dev/null", "-tt" if pty else "-T", "-p", str(self.port), "-i", self.key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
                "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "127.0.0.1", *words]

    def stop(self):
        self.p.send_signal(signal.SIGTERM)
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            raise Broken("the hub does not end within 10 s after TERM") from None


def _load(bench):
    binary = os.path.join(bench.tmp, "sshload")
    if not os.path.exists(binary):
        subprocess.run(["go", "build", "-o", binary, "./testdata/sshload"], cwd=ROOT, check=True)
    return binary


def _watch(bench, viewers, rate, span, stuck=0):
    """viewers, some of them stuck, on a session of rate requests a second -> figures of sshload, cores and bytes a viewer of the hub."""
    home = bench.home()
    hub = _Hub(bench)
    try:
        flood = subprocess.Popen([bench.lab, "flood", "-n", "1000", "-rate", str(rate), "-for", "%ds" % (span + 15), bench.bin, "--label", "flood", "--", bench.lab, "serve"],
                                 env=bench.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        sessions = os.path.join(home, "sessions")
        log = os.path.join(sessions, next(n for n in os.listdir(sessions) if n.startswith("flood")))
        before = hub.rss()
        p = subprocess.Popen([_load(bench), "-addr", "127.0.0.1:%d" % hub.port, "-key", hub.key, "-log", log, "-n", str(viewers), "-stuck", str(stuck), "-for", "%ds" % span], stdout=subprocess.PIPE, text=True)
        time.sleep(8)
        c, t, most = hub.cpu(), time.monotonic(), 0
        for _ in range(max(1, int(span - 5))):
            time.sleep(1)
            most = max(most, hub.rss())
        cores = (hub.cpu() - c) / (time.monotonic() - t)
        out = p.communicate(timeout=span + 60)[0]
        if p.returncode != 0:
            raise Broken("sshload: exit %d" % p.returncode)
        figures = json.loads(out)
        done = json.loads(flood.communicate(timeout=span + 60)[0])
        judged = subprocess.run([bench.bin, "check", "--format", "json", "--fail-on", "none", log], env=bench.env, check=True, capture_output=True, timeout=120).stdout
        session = json.loads(judged)["sessions"][0]
        if session["signals"]["incomplete"] or session["calls"]["ok"] < done["requests"]:
            raise Broken("the capture lost frames: %s; the log has %s" % (done, session["calls"]))
        return figures, cores, (most - before) / viewers
    finally:
        hub.stop()


def many_viewers(bench):
    """100 viewers, 80x24, one client process, 2,000 frames a second."""
    span = bench.n(60, 5)
    f, cores, each = _watch(bench, bench.n(100, 5), 1000, span)
    return [
        at_most("ssh, %d viewers, 2,000 frames/s: behind the newest frame" % f["viewers"], f["lag_s_max"], 2, "%.2f s at most, median %.2f s, %d looks" % (f["lag_s_max"], f["lag_s_p50"], f["lags"]), " s"),
        at_most("ssh, the same: cores of the hub", cores, 1.5, "%.2f" % cores, ""),
        at_most("ssh, the same: memory a viewer", each / MIB, 4, "%.2f MiB" % (each / MIB), " MiB"),
        at_most("ssh, the same: first screen behind the login", f["first_ms_p50"], 150, "median %.0f ms, %.0f ms at most" % (f["first_ms_p50"], f["first_ms_max"]), " ms"),
    ]


def stuck_viewers(bench):
    """20 viewers, of which 5 never read, 2,000 frames a second: the others."""
    n, stuck = bench.n(20, 4), bench.n(5, 1)
    f, cores, _ = _watch(bench, n, 1000, bench.n(20, 5), stuck)
    return [at_most("ssh, %d viewers of which %d never read: how far the others are behind" % (n, stuck), f["lag_s_max"], 2, "%.2f s at most, median %.2f s; %.2f cores" % (f["lag_s_max"], f["lag_s_p50"], cores), " s")]


def bytes_to_a_viewer(bench):
    """One viewer, 80x24, 100 frames a second."""
    f, _, _ = _watch(bench, 1, 50, bench.n(20, 5))
    return [at_most("ssh, 100 frames/s at 80x24: bytes to the viewer", f["bytes_per_s_max"] / 1000, 20, "%.1f kB/s" % (f["bytes_per_s_max"] / 1000), " kB/s")]


def first_screen(bench):
    """ssh -tt until the first screen, against `ssh host version` on the same server."""
    bench.home()
    hub = _Hub(bench)
    try:
        floor, seen = [], []
        for _ in range(7):
            t = time.monotonic()
            subprocess.run(hub.ssh("version"), env=bench.env, check=True, capture_output=True, timeout=20)
            floor.append(time.monotonic() - t)
            t = time.monotonic()
            ours, theirs = os.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            p = subprocess.Popen(hub.ssh(pty=True), env=dict(bench.env, TERM="xterm-256color"), stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
            os.close(theirs)
            got, end = b"", time.monotonic() + 20
            while b"no sessions yet" not in got:
                if time.monotonic() > end or not select.select([ours], [], [], 10)[0]:
                    raise Broken("no first screen: %r" % got[-200:])
                got += os.read(ours, 65536)
            seen.append(time.monotonic() - t)
            os.close(ours)
            p.kill()
            p.wait()
        ms = (median(seen) - median(floor)) * 1000
        return [at_most("ssh: first screen beyond a command on the same server", ms, 150, "%.0f ms; medians of 7: %.0f and %.0f ms" % (ms, median(seen) * 1000, median(floor) * 1000), " ms")]
    finally:
        hub.stop()


def mirror(bench):
    """remote --once of 1 GB of logs from a hub on loopback. Floor: cp."""
    home = bench.home()
    sessions = os.path.join(home, "sessions")
    os.makedirs(sessions, mode=0o700)
    rnd = os.urandom(1 << 20).hex()
    size = bench.n(250, 4) * 1000 * 1000
    for i in range(4):
        with open(os.path.join(sessions, "big%d-9-%012x.jsonl" % (i, i)), "w") as f:
            n = seq = 0
            while n < size:
                seq += 1
                at = seq * 127 % (len(rnd) - 400)
                n += f.write('{"session_id":"big%d-9-%012x","server_label":"big","seq":%d,"ts":"2026-08-01T16:32:00Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}}\n'
                             % (i, i, seq, seq, rnd[at:at + 400]))
    hub = _Hub(bench, "--history-limit", "1")
    try:
        copy = os.path.join(bench.tmp, "copy")
        t = time.monotonic()
        subprocess.run(["cp", "-r", sessions, copy], check=True)
        floor = 4 * size / 1e6 / (time.monotonic() - t)
        subprocess.run(["rm", "-r", copy], check=True)
        with open(os.path.join(bench.tmp, "ssh_config"), "w") as f:
            f.write("Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile %s\n  IdentityAgent none\n" % os.path.join(bench.tmp, "known"))
        client = dict(bench.env, MCPSNOOP_HOME=os.path.join(bench.tmp, "client"))
        t = time.monotonic()
        subprocess.run([bench.bin, "remote", "-F", f.name, "-i", hub.key, "--once", "127.0.0.1:%d" % hub.port], env=client, check=True, capture_output=True, timeout=300)
        rate = 4 * size / 1e6 / (time.monotonic() - t)
        subprocess.run(["diff", "-r", sessions, os.path.join(client["MCPSNOOP_HOME"], "remote", "127.0.0.1_%d" % hub.port, "sessions")], check=True)
        return [at_least("remote: mirror of %.1f GB over loopback" % (4 * size / 1e9), rate, 100, "%.0f MB/s, cp %.0f MB/s" % (rate, floor), " MB/s")]
    finally:
        hub.stop()


class _Dropping:
    """A port that leads to the hub, and breaks all connections now and then: by a reset, as a link does that is gone for long."""

    def __init__(self, port):
        self.to, self.pairs, self.lock, self.broken = port, [], threading.Lock(), 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                here, _ = self.listener.accept()
            except OSError:
                return
            try:
                there = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                here.close()
                continue
            with self.lock:
                self.pairs.append((here, there))
            for a, b in ((here, there), (there, here)):
                threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    def _pump(self, a, b):
        try:
            while data := a.recv(1 << 16):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def drop(self):
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            self.broken += 1
            for s in pair:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()

    def close(self):
        self.listener.close()
        self.drop()


def _same(a, b):
    """Whether two folders hold the same files."""
    return subprocess.run(["diff", "-rq", a, b], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def mirror_over_drops(bench):
    """remote over a link that drops every 5 s for 2 minutes, while a session is written."""
    span = bench.n(120, 12)
    home = bench.home()
    hub = _Hub(bench)
    link = _Dropping(hub.port)
    client = None
    try:
        with open(os.path.join(bench.tmp, "ssh_config"), "w") as f:
            f.write("Host *\n  StrictHostKeyChecking no\n  UserKnownHostsFile %s\n  IdentityAgent none\n" % os.path.join(bench.tmp, "known"))
        env = dict(bench.env, MCPSNOOP_HOME=os.path.join(bench.tmp, "far"))
        flood = subprocess.Popen([bench.lab, "flood", "-n", "1000", "-rate", "200", "-for", "%ds" % span, bench.bin, "--label", "flood", "--", bench.lab, "serve"],
                                 env=bench.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with open(os.path.join(bench.tmp, "remote.log"), "wb") as log:
            client = subprocess.Popen([bench.bin, "remote", "-F", f.name, "-i", hub.key, "127.0.0.1:%d" % link.port], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + span
        while time.monotonic() < end:
            time.sleep(5)
            link.drop()
        flood.communicate(timeout=60)
        t = time.monotonic()
        theirs, ours = os.path.join(home, "sessions"), os.path.join(env["MCPSNOOP_HOME"], "remote", "127.0.0.1_%d" % link.port, "sessions")
        while not _same(theirs, ours):
            if time.monotonic() > t + 60:
                raise Broken("the mirror is not the original a minute after the end")
            time.sleep(0.05)
        took = time.monotonic() - t
        size = sum(os.path.getsize(os.path.join(theirs, n)) for n in os.listdir(theirs))
        if os.listdir(os.path.join(os.path.dirname(ours), "replaced")):
            raise Broken("the mirror was begun anew")
        return [at_most("remote, a link that drops every 5 s for %d s: mirror equal after the end" % span, took, 10, "%.1f s; %d drops, %.0f MB, byte for byte" % (took, link.broken, size / 1e6), " s")]
    finally:
        if client:
            client.send_signal(signal.SIGTERM)
            client.wait(10)
        link.close()
        hub.stop()


def killed_clients(bench):
    """50 ssh clients in mid-screen, killed by SIGKILL: what the hub holds afterwards."""
    bench.home()
    port = _free_port()
    hub = _Hub(bench, "--metrics-listen", "127.0.0.1:%d" % port)

    def holds():
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=10) as f:
            lines = dict(line.split(" ", 1) for line in f.read().decode().splitlines() if not line.startswith("#") and "{" not in line)
        return float(lines["go_goroutines"]), float(lines["process_open_fds"]), float(lines["process_resident_memory_bytes"]) / MIB

    def look(n):
        clients = []
        for _ in range(n):
            ours, theirs = os.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            clients.append((subprocess.Popen(hub.ssh(pty=True), env=dict(bench.env, TERM="xterm-256color"), stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL), ours))
            os.close(theirs)
        for _, ours in clients:
            got, end = b"", time.monotonic() + 30
            while b"flood" not in got:
                if time.monotonic() > end or not select.select([ours], [], [], 5)[0]:
                    raise Broken("no screen: %r" % got[-200:])
                got += os.read(ours, 65536)
        for _, ours in clients:
            os.write(ours, b"\rG")
        time.sleep(2)
        return clients

    def kill(clients):
        for p, _ in clients:
            p.kill()
        for p, ours in clients:
            p.wait()
            os.close(ours)

    try:
        flood = subprocess.Popen([bench.lab, "flood", "-n", "1000", "-rate", "100", "-for", "60s", bench.bin, "--label", "flood", "--", bench.lab, "serve"],
                                 env=bench.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        kill(look(1))  # what is made once, and the log that is open for all
        time.sleep(1)
        before, n = holds(), bench.n(50, 5)
        clients = look(n)
        during = holds()
        t = time.monotonic()
        kill(clients)
        while True:
            after, took = holds(), time.monotonic() - t
            if after[0] <= before[0] + 2 and after[1] <= before[1] and after[2] <= before[2] * 1.25:
                break
            if took > 60:
                break
            time.sleep(0.2)
        flood.kill()
        flood.wait()
        say = lambda h: "%d goroutines, %d descriptors, %.0f MiB" % h
        return [at_most("ssh, %d clients killed in mid-screen: the hub holds what it held, memory within a quarter" % n, took, 30,
                        "%.1f s; before %s, with them %s, after %s" % (took, say(before), say(during), say(after)), " s")]
    finally:
        hub.stop()
