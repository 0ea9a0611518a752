"""Writing a large log in every format."""
import os, subprocess, sys

from kit import LAB, MIB, Broken, at_least, at_most, median

FORMATS = ("json", "jsonl", "text", "html", "har", "otlp", "tape")


def export_large_log(bench):
    """export of a log of 500,000 frames to a file, each format. Floor: cp of the same file."""
    n = bench.n(500000, 5000)
    log, out = os.path.join(bench.tmp, "large.jsonl"), os.path.join(bench.tmp, "out")
    subprocess.run([sys.executable, os.path.join(LAB, "genlog.py"), str(n), log], check=True)
    size = os.path.getsize(log)
    bench.home()
    rows, floor = [], []
    for fmt in FORMATS:
        seconds, peak = [], 0
        for _ in range(3):
            floor.append(bench.timed(["cp", log, out])[3])
            rc, _, err, s, kib = bench.timed([bench.bin, "export", "-T", fmt, "-o", out, log])
            if rc != 0 or os.path.getsize(out) < size / 4:
                raise Broken("export %s: exit %d; %s" % (fmt, rc, err.decode("utf-8", "replace")[-200:]))
            seconds.append(s)
            peak = max(peak, kib * 1024)
        os.remove(out)
        rows.append(at_least("export as %s, %d frames, %.0f MB: speed" % (fmt, n, size / 1e6), size / 1e6 / median(seconds), 60,
                             "%.0f MB/s of log, cp %.0f MB/s, medians" % (size / 1e6 / median(seconds), size / 1e6 / median(floor)), " MB/s"))
        rows.append(at_most("export as %s, the same: peak memory" % fmt, peak / MIB, 250, "%.0f MiB" % (peak / MIB), " MiB"))
    os.remove(log)
    return rows
