"""Every frame in the log, in the order things happened."""
import json, re

from kit import Broken, Row, complete, frames

ID = re.compile(rb'"raw":\{"jsonrpc":"2\.0","id":(\d+),')
TS = re.compile(rb'"ts":"([^"]+)"')


def flood(bench):
    """20,000 quick round trips, then 50,000 requests a second for 2 s, each answered. Then the log is read: nothing
    missing, no answer before its request, no clock that goes back, and check finds no false alarm in legal traffic."""
    trips, rate = bench.n(20000, 200), 50000
    span = "%dms" % bench.n(2000, 100)
    floor = bench.run_lab("flood", "-n", trips, "-rate", rate, "-for", span, *bench.relay("serve"))
    bench.home()
    got = bench.run_lab("flood", "-n", trips, "-rate", rate, "-for", span, *bench.recorded("--label", "bench", server="serve"))
    log = bench.only_log()
    complete(log, got["c2s"], got["s2c"])
    bad = _out_of_order(log)
    rc, out, err, _, _ = bench.timed([bench.bin, "check", "--format", "json", "--fail-on", "error,invalid,warn,pending,late-result,incomplete", log])
    try:
        session = json.loads(out)["sessions"][0]
    except (ValueError, LookupError):
        raise Broken("check of the flood: exit %d, no report; %s" % (rc, err.decode("utf-8", "replace")[-200:])) from None
    alarms = {k: v for k, v in session["signals"].items() if v and k not in ("info", "schema", "deprecated")}
    bench.home()
    total = got["c2s"] + got["s2c"]
    shown = "%d frames, 0 missing, %d out of order, false alarms %s; %.0f requests/s answered, relay %.0f" % (
        total, bad, alarms or 0, got["answered_per_s"], floor["answered_per_s"])
    return [Row("%d quick trips, then %d requests/s for %s" % (trips, rate, span), "all in the log, in order, no false alarm", shown,
                bad == 0 and rc == 0 and not alarms)]


def _out_of_order(log):
    bad, open_ids, last = 0, set(), ""
    for _, direction, line in frames(log):
        ts = _padded(TS.search(line).group(1).decode())
        bad += ts < last
        last = ts
        m = ID.search(line)
        if not m:
            continue
        if direction == "c2s":
            open_ids.add(m.group(1))
        elif m.group(1) in open_ids:
            open_ids.remove(m.group(1))
        else:
            bad += 1
    return bad + len(open_ids)


def _padded(ts):
    """RFC 3339 with any number of digits after the point, so that text order is time order."""
    return ts[:19] + "." + (ts[20:-1] if ts[19] == "." else "").ljust(9, "0")
