"""The hub: the start over saved logs, filters on a large session, traffic that arrives. Measured in Go beside the tests of hub, with the rules running."""
import os, re, shutil, subprocess, sys

from kit import LAB, Broken, at_most

ROOT = os.path.dirname(os.path.dirname(LAB))


def _measure(bench, name, **env):
    """Run one benchmark in a process of its own: {unit: value}."""
    binary = os.path.join(bench.tmp, "hub.test")
    if not os.path.exists(binary):
        built = subprocess.run(["go", "test", "-c", "-o", binary, "./hub"], cwd=ROOT, capture_output=True, text=True)
        if built.returncode != 0:
            raise Broken("go test -c ./hub: %s" % built.stderr[-200:])
    run = subprocess.run([binary, "-test.run", "^$", "-test.bench", "^%s$" % name, "-test.benchtime", "1x"], cwd=os.path.join(ROOT, "hub"),
                         env=dict(os.environ, **env), capture_output=True, text=True, timeout=300)
    values = {unit: float(v) for v, unit in re.findall(r"([\d.e+-]+) (\S*[a-zA-Z%])", "".join(x for x in run.stdout.splitlines(True) if x.startswith(name + "-") or x.startswith(name + " ")))}
    if run.returncode != 0 or not values:
        raise Broken("%s: exit %d; %s" % (name, run.returncode, (run.stdout + run.stderr)[-300:]))
    return values


def _logs(bench, sessions, frames):
    folder = os.path.join(bench.tmp, "hub-logs")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for i in range(1, sessions + 1):
        session = "gen-%d-%012x" % (i, i)
        subprocess.run([sys.executable, os.path.join(LAB, "genlog.py"), str(frames), os.path.join(folder, session + ".jsonl"), session], check=True)
    return folder


def hub_history(bench):
    """100 sessions of 5,000 frames, 211 MB."""
    n, frames = bench.n(100, 4), 5000
    v = _measure(bench, "BenchmarkHistory", MCPSNOOP_BENCH_LOGS=_logs(bench, n, frames))
    if v["frames"] < n * (frames - 5):
        raise Broken("only %d frames are indexed" % v["frames"])
    what = "hub, %d sessions of %d frames: " % (n, frames)
    return [
        at_most(what + "the list is complete", v["list-ms"], 1000, "%.0f ms" % v["list-ms"], " ms"),
        at_most(what + "all is indexed", v["indexed-ms"], 6000, "%.0f ms" % v["indexed-ms"], " ms"),
        at_most(what + "peak memory", v["MiB"], 200, "%.0f MiB" % v["MiB"], " MiB"),
        at_most(what + "processor when idle", v["idle-%"], 0.5, "%.2f %%" % v["idle-%"], " %"),
    ]


def hub_one_large(bench):
    """One log of 500,000 frames."""
    n = bench.n(500000, 5000)
    v = _measure(bench, "BenchmarkHistory", MCPSNOOP_BENCH_LOGS=_logs(bench, 1, n))
    what = "hub, one log of %d frames: " % n
    return [
        at_most(what + "all is indexed", v["indexed-ms"], 4000, "%.0f ms" % v["indexed-ms"], " ms"),
        at_most(what + "peak memory", v["MiB"], 250, "%.0f MiB" % v["MiB"], " MiB"),
    ]


def hub_filter(bench):
    """A new filter on a session of 1,000,000 frames."""
    n = bench.n(1000000, 5000)
    v = _measure(bench, "BenchmarkFilter", MCPSNOOP_BENCH_LOGS=_logs(bench, 1, n))
    what = "filter on %d frames: " % v["frames"]
    return [
        at_most(what + "first page, the slowest of 11 filters", v["first-page-ms"], 100, "%.0f ms" % v["first-page-ms"], " ms"),
        at_most(what + "first page after one more word", v["keystroke-ms"], 50, "%.0f ms" % v["keystroke-ms"], " ms"),
    ]


def hub_live(bench):
    """5,000 frames a second for 30 s, each counted."""
    seconds = bench.n(30, 2)
    v = _measure(bench, "BenchmarkLive", MCPSNOOP_BENCH_SECONDS=str(seconds))
    what = "hub, 5,000 frames a second for %d s: " % seconds
    return [
        at_most(what + "frames missing", seconds * 5000 - v["frames"], 0, "%d of %d" % (seconds * 5000 - v["frames"], seconds * 5000), ""),
        at_most(what + "processor, writing included", v["cpu-%"], 50, "%.1f %% of one core" % v["cpu-%"], " %"),
    ]
