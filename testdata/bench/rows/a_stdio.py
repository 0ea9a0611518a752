"""What standing between a client and its server costs."""
import os

from kit import MIB, Row, at_least, at_most, complete, median, percentile


def round_trip(bench):
    """1 KB requests one at a time, recording on, against a bare two-way relay: the same client and server, the two in
    turn, so that the mood of the machine hits both. Percentiles are of all trips of all runs together."""
    runs, trips, warm = 7, bench.n(5000, 200), 200
    ways = {"direct": bench.direct(), "relay": bench.relay(), "recorded": bench.recorded("--label", "bench")}
    pooled, p50s = {w: [] for w in ways}, {w: [] for w in ways}
    for i in range(runs):
        for way in (list(ways) if i % 2 == 0 else reversed(list(ways))):
            bench.home()
            raw = os.path.join(bench.tmp, "trips")
            got = bench.run_lab("lat", "-n", trips, "-warm", warm, "-size", 1024, "-raw", raw, *ways[way])
            with open(raw) as f:
                pooled[way] += [int(x) for x in f]
            p50s[way].append(got["p50_us"])
            if way == "recorded":
                complete(bench.only_log(), trips + warm, trips + warm)
    rows = []
    for name, p, limit in (("p50", 0.50, 1.15), ("p99", 0.99, 1.30)):
        us = {w: percentile(pooled[w], p) / 1000 for w in ways}
        ratio = us["recorded"] / us["relay"]
        shown = "%.2fx: %.1f us, relay %.1f us, direct %.1f us" % (ratio, us["recorded"], us["relay"], us["direct"])
        if name == "p50":
            shown += "; medians of the runs %.2fx" % (median(p50s["recorded"]) / median(p50s["relay"]))
        rows.append(at_most("round trip %s, 1 KB, recording, %d trips in %d runs" % (name, trips * runs, runs), ratio, limit, shown))
    return rows


def throughput(bench):
    """1 MiB frames both ways at once. The clock stops when the last answer is back; then the log must be whole."""
    runs, n = 5, bench.n(300, 20)
    rate = {"relay": [], "recorded": []}
    ways = {"relay": bench.relay(), "recorded": bench.recorded("--label", "bench")}
    for i in range(runs):
        for way in (list(ways) if i % 2 == 0 else reversed(list(ways))):
            bench.home()
            rate[way].append(bench.run_lab("thr", "-n", n, "-size", MIB, *ways[way])["MBps_each_way"])
            if way == "recorded":
                complete(bench.only_log(), n, n)
    bench.home()
    ours, floor = median(rate["recorded"]), median(rate["relay"])
    return [at_least("throughput, 1 MiB frames both ways, recording, none lost", ours / floor, 0.45,
                     "%.2fx: %.0f MB/s each way, relay %.0f MB/s, medians of %d runs" % (ours / floor, ours, floor, runs))]


def memory(bench):
    """Peak resident memory of the shim after 1,000 frames of 1 MiB each way."""
    n = bench.n(1000, 40)
    bench.home()
    floor = bench.run_lab("thr", "-n", n, "-size", MIB, *bench.relay())["hwm_kib"] / 1024
    got = bench.run_lab("thr", "-n", n, "-size", MIB, *bench.recorded("--label", "bench"))
    complete(bench.only_log(), n, n)
    bench.home()
    ours = got["hwm_kib"] / 1024
    if not ours:
        return [Row("shim memory", "at most 64 MiB", "could not be read", False)]
    beside = "; processes beside it %.0f MiB" % (got["helpers_kib"] / 1024) if got["helpers_kib"] else ""
    return [at_most("shim memory, %d + %d frames of 1 MiB" % (n, n), ours, 64, "%.0f MiB, relay %.0f MiB%s" % (ours, floor, beside), " MiB")]
