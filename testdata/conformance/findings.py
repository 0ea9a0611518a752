"""What `mcpsnoop check` says of the traffic that the conformance suite makes: findings by rule, and those that nothing bears out.

Traffic of a scenario that passes in the suite is taken to be right. A finding of a signal that fails a check there is either
a false alarm, which is to be mended, or a fault that the suite makes or does not look for: findings.txt lists those.
"""
import collections, json, os, re, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
GATED = ("invalid", "warn", "mismatch")
SUITE = "suite"                                     # at fault: what the suite sends, whichever SDK is on the other side

Scenario = collections.namedtuple("Scenario", "sdk name home passes")


def logs(home):
    """Where the sessions of one run are, None when there are none."""
    folder = os.path.join(home, "sessions")
    return folder if os.path.isdir(folder) and os.listdir(folder) else None


def check(binary, scenario):
    """-> the findings of all sessions of a scenario"""
    env = dict(os.environ, MCPSNOOP_HOME=scenario.home)
    p = subprocess.run([binary, "check", "--all", "--format", "json", "--fail-on", "none"], env=env, capture_output=True, text=True, timeout=120)
    if p.returncode:
        raise OSError("check of %s: exit %d: %s" % (scenario.name, p.returncode, p.stderr.strip()[-300:]))
    return [f for s in json.loads(p.stdout)["sessions"] for f in s["findings"]]


def listed():
    """findings.txt -> {(rule, scenario, at fault): the sentence}, without the lines that are for the test of servers over stdio"""
    out = {}
    with open(os.path.join(HERE, "findings.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                rule, scenario, fault, sentence = re.split(r"\s+\|\s+", line.strip(), maxsplit=3)
                if not sentence or (rule, scenario, fault) in out:
                    raise ValueError("findings.txt: %r has no sentence, or stands there twice" % line.strip())
                out[rule, scenario, fault] = sentence
    return {k: v for k, v in out.items() if not k[1].startswith("stdio ")}


class Judge:
    """Collects the findings of scenarios as they have been run."""

    def __init__(self, binary):
        self.binary, self.known, self.used = binary, listed(), set()
        self.by_rule, self.bad, self.scenarios, self.sessions = {}, [], 0, 0

    def add(self, scenario):
        folder = logs(scenario.home)
        if not folder:
            self.bad.append("%s, %s: nothing was recorded" % (scenario.sdk, scenario.name))
            return
        self.scenarios += 1
        self.sessions += len(os.listdir(folder))
        for f in check(self.binary, scenario):
            count, names = self.by_rule.setdefault((f["signal"], f["rule"]), ([0], {}))
            count[0] += f["count"]
            names["%s %s" % (scenario.sdk, scenario.name)] = True
            if f["signal"] in GATED and scenario.passes and not self.excused(f["rule"], scenario):
                self.bad.append("%s | %s | %s | #%d %s" % (f["rule"], scenario.name, scenario.sdk, f["seq"], f["message"]))

    def excused(self, rule, scenario):
        keys = {(rule, scenario.name, fault) for fault in (SUITE, scenario.sdk)} & set(self.known)
        self.used |= keys
        return bool(keys)

    def stale(self):
        """Lines of findings.txt that nothing has needed."""
        return [" | ".join(k) for k in self.known if k not in self.used]

    def table(self):
        print("Findings of check, by rule: %d sessions of %d runs of scenarios" % (self.sessions, self.scenarios))
        order = sorted(self.by_rule.items(), key=lambda e: (e[0][0] not in GATED, e[0]))
        rows = [("signal", "rule", "count", "runs", "")]
        rows += [(signal, rule, str(count[0]), str(len(names)), some(list(names))) for (signal, rule), (count, names) in order]
        widths = [max(len(r[i]) for r in rows) for i in range(4)]
        for r in rows:
            print(("  %s  %s  %s  %s  %s" % (r[0].ljust(widths[0]), r[1].ljust(widths[1]), r[2].rjust(widths[2]), r[3].rjust(widths[3]), r[4])).rstrip())
        print(flush=True)


def some(names):
    return ", ".join(names[:2]) + (", ..." if len(names) > 2 else "")
