"""What it costs to send spans while a session goes on, and what arrives."""
import http.server, os, socket, subprocess, threading, time

from kit import Broken, Row, at_most, complete, percentile


def _fields(b):
    """The fields of a protobuf message: (number, bytes or int)."""
    at, n = 0, len(b)

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            c = b[at]
            at += 1
            v |= (c & 127) << shift
            shift += 7
            if c < 128:
                return v
    while at < n:
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 2:
            size = varint()
            yield key >> 3, b[at:at + size]
            at += size
        else:
            size = 8 if kind == 1 else 4
            yield key >> 3, b[at:at + size]
            at += size


def _inner(b, *path):
    if not path:
        yield b
        return
    for number, v in _fields(b):
        if number == path[0]:
            yield from _inner(v, *path[1:])


class _Collector:
    """Takes OTLP over HTTP and keeps the bodies; they are counted afterwards, so that it is little in the way."""

    def __init__(self, port=0):
        self.bodies, outer = [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/traces":
                    outer.bodies.append(body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        """-> (how many, how many different ones) of requests; the span of a whole chain is none."""
        ids = [i for body in self.bodies for span in _inner(body, 1, 2, 2) for i in _inner(span, 2)]
        return len(ids), len(set(ids))

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def arrives(bench):
    """Quick calls, and the client is gone: what the collector has when the shim has ended."""
    n = bench.n(2000, 100)
    bench.home()
    c = _Collector()
    try:
        bench.run_lab("lat", "-n", n, "-warm", 0, "-size", 1024, *bench.recorded("--label", "bench", "--otlp-endpoint", c.url))
        complete(bench.only_log(), n, n)
        total, different = c.spans()
    finally:
        c.close()
    return [Row("%d quick calls and an exit, spans at the collector" % n, "%d, each once" % n,
                "%d, %d different" % (total, different), total == different == n)]


def round_trip(bench):
    """1 KB requests one at a time, recording, with spans sent and without, in turn."""
    runs, trips, warm = 7, bench.n(20000, 400), 200
    c = _Collector()
    ways = {"off": bench.recorded("--label", "bench"), "on": bench.recorded("--label", "bench", "--otlp-endpoint", c.url)}
    pooled = {w: [] for w in ways}
    sent = 0
    try:
        for i in range(runs):
            for way in (list(ways) if i % 2 == 0 else reversed(list(ways))):
                bench.home()
                raw = os.path.join(bench.tmp, "trips")
                bench.run_lab("lat", "-n", trips, "-warm", warm, "-size", 1024, "-raw", raw, *ways[way])
                with open(raw) as f:
                    pooled[way] += [int(x) for x in f]
                complete(bench.only_log(), trips + warm, trips + warm)
            sent += trips + warm
            if c.spans()[0] != sent:
                raise Broken("%d spans of %d" % (c.spans()[0], sent))
    finally:
        c.close()
    us = {(w, p): percentile(pooled[w], p) / 1000 for w in ways for p in (0.5, 0.99)}
    mean = {w: sum(pooled[w]) / len(pooled[w]) / 1000 for w in ways}
    ratio = us["on", 0.5] / us["off", 0.5]
    return [at_most("round trip p50, 1 KB, spans sent against not, %d trips in %d runs" % (trips * runs, runs), ratio, 1.1,
                    "%.2fx: %.1f us, without %.1f us; p99 %.1f and %.1f us; mean %.1f and %.1f us"
                    % (ratio, us["on", 0.5], us["off", 0.5], us["on", 0.99], us["off", 0.99], mean["on"], mean["off"]))]


def away(bench):
    """The collector is away and comes back while the session goes on: all that the queue holds arrives."""
    n, seconds = bench.n(20000, 200), bench.n(60, 3)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    bench.home()
    p = subprocess.Popen(bench.recorded("--label", "bench", "--otlp-endpoint", "http://127.0.0.1:%d" % port), env=bench.env,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}\n'
    for i in range(n):
        p.stdin.write(line % i)
        p.stdin.flush()
        p.stdout.readline()
    time.sleep(seconds)
    c = _Collector(port)
    try:
        end = time.monotonic() + 30
        while c.spans()[1] < n and time.monotonic() < end:
            time.sleep(0.2)
        total, different = c.spans()
        p.stdin.close()
        said = p.stderr.read().decode()
        p.wait(30)
    finally:
        c.close()
    lost = "were not sent" in said
    return [Row("collector away for %d s, %d calls meanwhile" % (seconds, n), "%d arrive" % n,
                "%d, %d different%s" % (total, different, ", losses said" if lost else ""), different == n and not lost)]
