"""Reading a large log again."""
import os, sys, subprocess

from kit import LAB, Broken, at_least, at_most, median


def check_large_log(bench):
    """check of a log of 500,000 frames. Floor: reading the same file with wc -l."""
    n = bench.n(500000, 5000)
    log = os.path.join(bench.tmp, "large.jsonl")
    subprocess.run([sys.executable, os.path.join(LAB, "genlog.py"), str(n), log], check=True)
    size = os.path.getsize(log)
    bench.home()
    seconds, floor, peak = [], [], 0
    for _ in range(3):
        floor.append(bench.timed(["wc", "-l", log])[3])
        rc, out, err, s, kib = bench.timed([bench.bin, "check", "--fail-on", "none", log])
        if rc != 0 or not out:
            raise Broken("check: exit %d, %d bytes on standard output; %s" % (rc, len(out), err.decode("utf-8", "replace")[-200:]))
        seconds.append(s)
        peak = max(peak, kib * 1024)
    os.remove(log)
    mb, rate, wc = size / 1e6, size / 1e6 / median(seconds), size / 1e6 / median(floor)
    return [
        at_least("check, %d frames, %.0f MB: speed" % (n, mb), rate, 100, "%.0f MB/s, wc -l %.0f MB/s, medians of 3" % (rate, wc), " MB/s"),
        at_most("check, the same: peak memory against the log", peak / size, 0.5, "%.2fx: %.0f MB of %.0f MB" % (peak / size, peak / 1e6, mb)),
    ]
