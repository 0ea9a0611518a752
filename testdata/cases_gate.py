#!/usr/bin/env python3
"""Run the cases and hold the result against the list of those that wait for a feature.

usage: cases_gate.py --bin PATH [--only GLOB] [--jobs N]

The list is cases/waiting.txt. Exit 1 when a case that is not listed fails, when a listed one passes (the entry is stale
and must go), when an entry names no case, and, with CI=true, when a case that is not listed is skipped for a missing
tool. Exit 2 when nothing could be run.
"""
import argparse, concurrent.futures, fnmatch, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "cases")
WAITING = os.path.join(CASES, "waiting.txt")


def waiting():
    """-> {prefix: reason}. A malformed line ends the run: a list that is not understood hides failures."""
    found = {}
    with open(WAITING, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            prefix, _, reason = line.partition(" ")
            if ": " not in reason or not all(reason.split(": ", 1)):
                sys.exit("cases_gate.py: waiting.txt:%d: want `NN reason: what it waits for`, got %r" % (n, line))
            if prefix in found:
                sys.exit("cases_gate.py: waiting.txt:%d: %s is listed twice" % (n, prefix))
            found[prefix] = reason.strip()
    return found


def all_cases():
    return sorted(n for n in os.listdir(CASES) if os.path.exists(os.path.join(CASES, n, "expect.json")))


def run(binary, name):
    """One case in a runner of its own -> (result, seconds, lines)."""
    p = subprocess.run([sys.executable, os.path.join(CASES, "run_cases.py"), "--bin", binary, "--json", os.path.join(CASES, name)],
                       capture_output=True, text=True)
    for line in p.stdout.splitlines():
        if line.startswith("{"):
            r = json.loads(line)
            return r["result"], r["seconds"], r["lines"]
    return "FAIL", 0.0, ["the runner ended with exit %d: %s" % (p.returncode, p.stderr.strip()[-200:])]


def verdict(result, reason, strict):
    """-> (word to print, is it wrong)."""
    if result == "ok":
        return ("stale", True) if reason else ("ok", False)
    if reason:
        return "waits", False
    if result == "skip":
        return "skip", strict
    return "FAIL", True


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--bin", required=True, help="the mcpsnoop binary")
    ap.add_argument("--only", action="append", metavar="GLOB", help="case names to run, a glob or a prefix; may be repeated")
    ap.add_argument("--jobs", type=int, default=1, help="cases at a time; more than one makes those that look at times unsure (default 1)")
    a = ap.parse_args()
    if not os.access(a.bin, os.X_OK):
        ap.exit(2, "cases_gate.py: %s is not an executable file: run make build\n" % a.bin)
    listed, strict = waiting(), os.environ.get("CI") == "true"
    names = all_cases()
    wrong = ["waiting.txt lists %s, and there is no such case" % p for p in listed if p not in {n.split("-")[0] for n in names}]
    names = [n for n in names if not a.only or any(fnmatch.fnmatch(n, o) or n.startswith(o) for o in a.only)]
    if not names:
        ap.exit(2, "cases_gate.py: no case fits\n")
    count = {}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for name, (result, seconds, lines) in zip(names, pool.map(lambda n: run(a.bin, n), names)):
            reason = listed.get(name.split("-")[0])
            word, bad = verdict(result, reason, strict)
            count[word] = count.get(word, 0) + 1
            tail = reason if word == "waits" else " ".join("; ".join(lines[:3]).split())
            print("%-5s %s (%.1f s)%s" % (word, name, seconds, ": " + tail if tail else ""), flush=True)
            if bad:
                why = {"stale": "passes: take it out of waiting.txt", "skip": "skipped with CI=true"}.get(word, "fails")
                wrong.append("%s %s" % (name, why))
    print("cases: %d passed, %d failed, %d waiting, %d skipped, %d stale" % tuple(count.get(w, 0) for w in ("ok", "FAIL", "waits", "skip", "stale")))
    for w in wrong:
        print("cases: %s" % w)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
