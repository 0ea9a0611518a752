"""What the HTTP proxy costs, against Go's own reverse proxy without recording."""
import contextlib, json, signal, socket, subprocess, time

from kit import Broken, Row, at_least, at_most, frames, median, vm_hwm


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def _listening(argv, port, env):
    p = subprocess.Popen([str(a) for a in argv], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 10
        while True:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if p.poll() is not None or time.monotonic() > end:
                raise Broken("%s does not listen" % " ".join(str(a) for a in argv[:2]))
            time.sleep(0.02)
        yield p
    finally:
        if p.poll() is None:
            p.send_signal(signal.SIGTERM)
            try:
                p.wait(60)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


@contextlib.contextmanager
def _ways(bench):
    """The lab's server, Go's reverse proxy and mcpsnoop before it: {way: URL}, and the process of mcpsnoop."""
    bench.home()
    server, reverse, ours = _free_port(), _free_port(), _free_port()
    target = "http://127.0.0.1:%d" % server
    with _listening([bench.lab, "httpsrv", "-addr", "127.0.0.1:%d" % server], server, bench.env), \
            _listening([bench.lab, "reverse", target, "127.0.0.1:%d" % reverse], reverse, bench.env), \
            _listening([bench.bin, "http", "--target", target + "/mcp", "--listen", "127.0.0.1:%d" % ours], ours, bench.env) as p:
        yield {"direct": target + "/mcp", "reverse": "http://127.0.0.1:%d/mcp" % reverse, "ours": "http://127.0.0.1:%d/mcp" % ours}, p


def http_round_trip(bench):
    """1 KB POSTs on connections that are kept, answered in JSON and as an event stream, by 1 and by 8 clients. The ways in
    turn; the figures are medians of the runs."""
    runs, n = 5, bench.n(4000, 80)
    p50, rate = {}, {}
    with _ways(bench) as (urls, proxy):
        for i in range(runs):
            for kind in ("json", "sse"):
                for clients in (1, 8):
                    for way in (list(urls) if i % 2 == 0 else reversed(list(urls))):
                        url = urls[way] + ("?sse" if kind == "sse" else "")
                        got = bench.run_lab("httpcli", "-url", url, "-n", n, "-c", clients)
                        p50.setdefault((kind, clients, way), []).append(got["p50_us"])
                        rate.setdefault((kind, clients, way), []).append(got["per_s"])
    _whole(bench, runs * sum(n // c * c + 100 for c in (1, 8)), runs * sum(n // c * c + 100 for c in (1, 8)))
    rows = []
    for kind in ("json", "sse"):
        for clients in (1, 8):
            us = {w: median(p50[kind, clients, w]) for w in urls}
            shown = "%.2fx: %.0f us, reverse %.0f us, direct %.0f us" % (us["ours"] / us["reverse"], us["ours"], us["reverse"], us["direct"])
            rows.append(at_most("HTTP round trip p50, 1 KB, %s, %d client%s, recording" % (kind, clients, "s" if clients > 1 else ""), us["ours"] / us["reverse"], 1.15, shown))
        per_s = {w: median(rate[kind, 8, w]) for w in urls}
        shown = "%.2fx: %.0f/s, reverse %.0f/s, direct %.0f/s" % (per_s["ours"] / per_s["reverse"], per_s["ours"], per_s["reverse"], per_s["direct"])
        rows.append(at_least("HTTP requests a second, %s, 8 clients, recording" % kind, per_s["ours"] / per_s["reverse"], 0.9, shown))
    return rows


def _whole(bench, json_requests, sse_requests):
    """The log holds every request and every answer, each answer behind its request in its exchange."""
    requests, answers, last, open_ = 0, 0, 0, {}
    for seq, direction, line in frames(bench.only_log()):
        if seq != last + 1:
            raise Broken("log: seq %d after %d" % (seq, last))
        last = seq
        if direction not in ("c2s", "s2c"):
            continue
        d = json.loads(line)
        body, x = d.get("raw"), d["exchange"]
        if direction == "c2s":
            if x in open_:
                raise Broken("log: two requests in exchange %d" % x)
            requests += 1
            open_[x] = body["id"] if body else None
        elif x not in open_:
            raise Broken("log: seq %d stands before its request" % seq)
        elif body and "id" in body:
            if body["id"] != open_[x]:
                raise Broken("log: answer %s in the exchange of %s" % (body["id"], open_[x]))
            answers += 1
            open_[x] = "answered"
    pending = sum(v not in ("answered", None) for v in open_.values())
    if requests != json_requests + sse_requests or pending:
        raise Broken("log: %d requests of %d, %d without an answer" % (requests, json_requests + sse_requests, pending))
    return answers


def http_event_delay(bench):
    """Events every 2 ms: from the server's write to the client's read, against direct. Plain, and gzip flushed after each."""
    n, rows = bench.n(1500, 50), []
    with _ways(bench) as (urls, _):
        for zipped in (False, True):
            p99 = {"direct": [], "ours": []}
            for i in range(3):
                for way in (("direct", "ours") if i % 2 == 0 else ("ours", "direct")):
                    p99[way].append(bench.run_lab("eventcli", "-url", urls[way], "-n", n, *(["-gzip"] if zipped else []))["p99_us"])
            added = (median(p99["ours"]) - median(p99["direct"])) / 1000
            rows.append(at_most("added delay of an event, %s, p99" % ("gzip" if zipped else "plain"), added, 5,
                                "%.2f ms: %.2f ms, direct %.2f ms" % (added, median(p99["ours"]) / 1000, median(p99["direct"]) / 1000), " ms"))
    return rows


def http_load(bench):
    """100,000 requests of 1 KB by 8 clients and a stream of 10,000 events: peak memory, and a record with nothing missing,
    nothing out of order, nothing pending and no false alarm."""
    n, events = bench.n(100000, 800) // 8 * 8, bench.n(10000, 100)
    with _ways(bench) as (urls, proxy):
        got = bench.run_lab("httpcli", "-url", urls["ours"], "-n", n, "-c", 8)
        bench.run_lab("eventcli", "-url", urls["ours"], "-n", events, "-every", "0s")
        peak = vm_hwm(proxy.pid) / 1024
    answers = _whole(bench, n + 100, 1)
    rc, out, err, _, _ = bench.timed([bench.bin, "check", "--format", "json", "--fail-on", "pending,incomplete,late-result", bench.only_log()])
    try:
        session = json.loads(out)["sessions"][0]
    except (ValueError, LookupError):
        raise Broken("check: exit %d, no report; %s" % (rc, err.decode("utf-8", "replace")[-200:])) from None
    alarms = {k: session["signals"].get(k) for k in ("pending", "incomplete", "late_result") if session["signals"].get(k)}
    shown = "%d requests, %d answers, 0 missing, 0 out of order, alarms %s; %.0f requests/s" % (n + 101, answers, alarms or 0, got["per_s"])
    return [
        Row("HTTP record under load, 8 clients, %d requests" % n, "no gap, none out of order, none pending", shown, rc == 0 and not alarms and answers == n + 100),
        at_most("HTTP proxy memory, %d requests of 1 KB and %d events" % (n, events), peak, 48, "%.0f MiB" % peak, " MiB"),
    ]
