"""The UI: the slowest key of each screen with two sessions of 500,000 frames. Measured in Go beside the tests of internal/tui."""
import os, re, subprocess

from kit import LAB, Broken, at_most

ROOT = os.path.dirname(os.path.dirname(LAB))


def screens(bench):
    n = bench.n(500000, 5000)
    run = subprocess.run(["go", "test", "./internal/tui", "-run", "^$", "-bench", "^BenchmarkScreens$", "-benchtime", "1x"], cwd=ROOT,
                         env=dict(os.environ, MCPSNOOP_BENCH_FRAMES=str(n)), capture_output=True, text=True, timeout=600)
    values = {name: float(v) for v, name in re.findall(r"([\d.e+-]+) ([a-z]+)-ms", run.stdout)}
    if run.returncode != 0 or len(values) < 11:
        raise Broken("BenchmarkScreens: exit %d; %s" % (run.returncode, (run.stdout + run.stderr)[-300:]))
    slowest = max(values, key=values.get)
    rest = ", ".join("%s %.1f" % (k, v) for k, v in sorted(values.items(), key=lambda x: -x[1]))
    return [at_most("a key on each of %d screens, %d frames" % (len(values), 2 * n), values[slowest], 50, "%s %.1f ms; %s" % (slowest, values[slowest], rest), " ms")]
