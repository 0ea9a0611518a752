"""What a hub shows Prometheus when a client makes up names of tools."""
import re, signal, subprocess, time, urllib.request

from kit import Broken, Row, at_most, median


def _page(address):
    t0 = time.monotonic()
    with urllib.request.urlopen(address, timeout=30) as r:
        text = r.read().decode()
    return text, (time.monotonic() - t0) * 1000


def _total(text, metric):
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(metric + r"[ {]", line))


def made_up_names(bench):
    """Calls of as many made-up tools, each once, beside a hub: how many series, the totals, the time of a scrape."""
    n = bench.n(3000, 100)
    bench.home()
    hub = subprocess.Popen([bench.bin, "hub", "--metrics-listen", "127.0.0.1:0"], env=bench.env, stderr=subprocess.PIPE, text=True)
    try:
        m = re.search(r"http://\S+/metrics", hub.stderr.readline())
        if not m:
            raise Broken("the hub does not say where its metrics are")
        p = subprocess.Popen(bench.recorded("--label", "bench"), env=bench.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"made-up \\"%d\\"\\n"}}\n'
        for i in range(n):
            p.stdin.write((line % (i, i)).encode())
            p.stdin.flush()
            p.stdout.readline()
        end = time.monotonic() + 30
        text, _ = _page(m[0])
        while _total(text, "mcpsnoop_tool_call_duration_seconds_count") < n and time.monotonic() < end:
            time.sleep(0.1)
            text, _ = _page(m[0])
        took = sorted(_page(m[0])[1] for _ in range(20))
        p.stdin.close()
        p.wait(30)
    finally:
        hub.send_signal(signal.SIGINT)
        hub.communicate(timeout=30)
    series = sum(1 for line in text.splitlines() if line and not line.startswith("#"))
    calls, answers = _total(text, "mcpsnoop_tool_calls_total"), _total(text, "mcpsnoop_tool_call_duration_seconds_count")
    what = "%d made-up tool names: " % n
    return [
        at_most(what + "series", series, 499, "%d" % series, ""),
        Row(what + "totals", "%d" % n, "%d calls, %d latencies" % (calls, answers), calls == answers == n),
        at_most(what + "scrape, the slowest of 20", took[-1], 100, "%.1f ms, median %.1f ms" % (took[-1], median(took)), " ms"),
    ]
