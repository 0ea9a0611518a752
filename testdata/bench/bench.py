#!/usr/bin/env python3
"""Measure mcpsnoop against its bars and print one table.

usage: bench.py --bin PATH [--only WORD] [--scale F] [--markdown FILE]

Exit 0 when every bar holds, 1 when one is missed, 2 when nothing could be measured. README.md says how rows are written.
"""
import argparse, importlib, os, pkgutil, platform, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import rows                                        # noqa: E402
from kit import Bench, Broken, Row                 # noqa: E402


def measures(only):
    """Every public function of every file in rows/, in the order of the files and of the functions in them."""
    for info in sorted(pkgutil.iter_modules(rows.__path__), key=lambda i: i.name):
        module = importlib.import_module("rows." + info.name)
        for name, f in list(vars(module).items()):
            if callable(f) and getattr(f, "__module__", "") == module.__name__ and not name.startswith("_"):
                if not only or any(w in info.name or w in name for w in only):
                    yield info.name, name, f


def machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), model)
    except OSError:
        pass
    go = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True).stdout.strip()
    return "%s, %d cores, %s %s, %s" % (model, os.cpu_count() or 0, platform.system(), platform.release(), go)


def table(lines, head):
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    row = lambda cells: "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"
    return "\n".join([row(head), "|" + "|".join("-" * (w + 2) for w in widths) + "|"] + [row(line) for line in lines])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--bin", required=True, help="the mcpsnoop binary")
    ap.add_argument("--only", action="append", metavar="WORD", help="only rows whose file or function has this word; may be repeated")
    ap.add_argument("--scale", type=float, default=1.0, help="fraction of the load (default 1)")
    ap.add_argument("--markdown", metavar="FILE", help="write the table there as well")
    a = ap.parse_args()
    if not os.access(a.bin, os.X_OK):
        ap.exit(2, "bench.py: %s is not an executable file: run make build\n" % a.bin)
    progress = lambda text: print(text, file=sys.stderr, flush=True)
    bench, done = Bench(a.bin, a.scale, progress), []
    load = os.getloadavg()[0]
    try:
        for file, name, measure in measures(a.only):
            progress("bench: %s %s" % (file, name))
            t0 = time.monotonic()
            try:
                done += measure(bench)
            except (Broken, subprocess.TimeoutExpired) as ex:
                done.append(Row("%s: %s" % (file, name), "runs", "%s" % ex, False))
            progress("bench: %s %s took %.1f s" % (file, name, time.monotonic() - t0))
    finally:
        bench.close()
    if not done:
        ap.exit(2, "bench.py: no row fits\n")
    text = table([[r.what, r.bar, r.shown, "ok" if r.ok else "MISSED"] for r in done], ["what", "bar", "measured", "verdict"])
    note = "%s; load average %.1f before, %.1f after" % (machine(), load, os.getloadavg()[0])
    if a.scale != 1:
        note += "; scale %g: the verdicts mean nothing" % a.scale
    print(text + "\n\n" + note)
    if a.markdown:
        with open(a.markdown, "w", encoding="utf-8") as f:
            f.write(text + "\n\n" + note + "\n")
    missed = sum(not r.ok for r in done)
    print("%d bars hold, %d missed" % (len(done) - missed, missed))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
