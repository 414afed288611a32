#!/usr/bin/env python3
"""Real processes for hours, beside a load of its own: scripts/soak says how it is called.

    soak.py process HOURS REPORT ONLY …     the rounds that the gate has few of, again and again, or
                                            only those of this name if it is not empty
    soak.py attached ROUNDS REPORT '' MINUTES   so many of test_attached_rounds.py
    soak.py gate TIMES REPORT '' …          the gate's tests of real processes, as scripts/test does

Safety is judged as in every test, by `bullring audit` over all event streams, by what the commands
write and by what answers a prober has; what fails besides is counted. REPORT.txt and REPORT.json
say what was found. Exit status: 1 on a violation of safety or a fault of the product, when a run
of the gate is not sound, or when the rounds of `attached` came to no end; else 0.
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

from harness.node import python_environment
from harness.safety import judged_in
from gate import results, witness

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROCESS = ROOT / "tests" / "process"
# Where something is done to a cluster again and again.
ATTACKS = (
    "run_rounds run_both_killed address_rounds http_one_leader restart crash hang hang_after lead"
    " last_event handover drill namespaces notice member_rounds attached_rounds"
).split()
PIECE_S = 600  # at most for one of them, until it is the next one's turn
LOAD = ["stress-ng", "--quiet", "--cpu", "2"]


@contextlib.contextmanager
def load():
    """Both processors are busy with something else meanwhile."""
    with subprocess.Popen(LOAD, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield
        finally:
            process.terminate()


def near_the_end_of_process_ids():
    """So that they begin anew within the run; for root alone."""
    with contextlib.suppress(OSError):
        highest = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(highest - 700))


class Report:
    def __init__(self, base, kind):
        self.base = pathlib.Path(base)
        self.began = time.monotonic()
        self.told = {"kind": kind, "load": " ".join(LOAD), "pieces": [], "violations": []}

    def add(self, **piece):
        self.told["pieces"].append(piece)
        line = f"{self.minutes():7.1f} min  {piece['name']}: {piece['passed']} passed, "
        line += f"{len(piece['noted'])} not, {piece['leaderships']} leaderships judged"
        print("\n             ".join([line, *piece["noted"]]), flush=True)
        self.write()

    def minutes(self):
        return (time.monotonic() - self.began) / 60

    def write(self):
        self.told["minutes"] = round(self.minutes(), 1)
        self.base.with_suffix(".json").write_text(json.dumps(self.told, indent=1) + "\n")
        self.base.with_suffix(".txt").write_text("\n".join(self.lines()) + "\n")

    def lines(self):
        pieces = self.told["pieces"]
        for name in sorted({piece["name"] for piece in pieces}):
            some = [piece for piece in pieces if piece["name"] == name]
            noted = sorted({case for piece in some for case in piece["noted"]})
            counts = f"{sum(piece['passed'] for piece in some)} passed, {len(noted)} did not"
            yield "\n  ".join([f"{name}: {len(some)} times, {counts}", *noted])
        judged = sum(piece["leaderships"] for piece in pieces)
        for violation in self.told["violations"]:
            yield f"VIOLATION {violation}"
        found = len(self.told["violations"])
        yield f"{judged} leaderships judged in {self.minutes():.0f} min, {found} violations"


def violations_in(folder):
    for path in sorted((folder / "safety").glob("*.json")):
        told = json.loads(path.read_text())
        yield f"{told['test']}: {told['found'].splitlines()[0]} (see {path})"


def play(name, folder, seconds):
    """One file of attacks for so long; what came of it."""
    report, tally = folder / "junit.xml", folder / "tally"
    tally.unlink(missing_ok=True)
    report.unlink(missing_ok=True)
    environment = os.environ | {
        "BULLRING_TEST_ALL": "1",
        "BULLRING_ROUNDS_UNTIL": str(time.monotonic() + seconds),
        "BULLRING_BUILD": str(folder),
        "BULLRING_TALLY": str(tally),
        "BULLRING_STANDSTILL": str(folder / "standstill.jsonl"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = ["pytest-3", "-q", str(PROCESS / f"test_{name}.py"), f"--junitxml={report}"]
    test = results.Test(0, f"process.{name}", words, {}, {"process"})
    with open(folder / f"{name}.log", "a", encoding="utf-8") as log:
        subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
        )
    passed, failed = 0, [results.Case(test, "the file as a whole", None, "it says of no case")]
    if report.exists():
        passed, failed, _ = results.of_pytest(test, report)
    faults = [f"{case.full_name}: {case.why}" for case in failed if results.FAULT.search(case.why)]
    noted = [case.full_name for case in failed]
    leaderships = judged_in(tally)[1]
    return {"name": name, "passed": passed, "noted": noted, "leaderships": leaderships}, faults


def soak_process(hours, report, attacks):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-", dir=report.base.parent.resolve()))
    end = time.monotonic() + hours * 3600
    order = random.Random(int(time.time()))
    with load(), witness.watching(folder / "standstill.jsonl"):
        while time.monotonic() < end and not report.told["violations"]:
            for name in order.sample(attacks, len(attacks)):
                left = end - time.monotonic()
                if left <= 0 or report.told["violations"]:
                    break
                near_the_end_of_process_ids()
                piece, faults = play(name, folder, min(left, PIECE_S, hours * 3600 / len(attacks)))
                report.told["violations"] += [*violations_in(folder), *faults]
                report.add(**piece)
    print(f"the logs are in {folder}")


def soak_attached(rounds, minutes, report):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak-", dir=report.base.parent.resolve()))
    os.environ["BULLRING_ROUNDS"] = str(rounds)
    with load(), witness.watching(folder / "standstill.jsonl"):
        piece, faults = play("attached_rounds", folder, minutes * 60)
    report.told["violations"] += [*violations_in(folder), *faults]
    report.add(**piece)
    print(f"{rounds_in(folder / 'junit.xml')} rounds; the logs are in {folder}")
    return 1 if piece["noted"] else 0


def rounds_in(junit):
    """Those that the tests say they have played."""
    found = ElementTree.parse(junit).iterfind(".//property[@name='rounds']")
    return sum(int(played.get("value")) for played in found)


def soak_gate(times, report):
    environment = python_environment()
    slots = str(2 * (os.cpu_count() or 1))
    words = [sys.executable, "-B", "-m", "gate", "build", "^process$", "-LE", "^long$"]
    found = ROOT / "build" / "gate.json"
    for number in range(1, times + 1):
        found.unlink(missing_ok=True)
        if number % 2 == 0:
            near_the_end_of_process_ids()
        log = report.base.with_suffix(f".{number}.log")
        with load(), open(log, "w", encoding="utf-8") as out:
            status = subprocess.run(
                [*words, "--parallel", slots], cwd=ROOT, env=environment, stdout=out, stderr=out
            ).returncode
        told = json.loads(found.read_text())
        if status != 0:
            report.told["violations"].append(f"run {number}: {told['sentence']} (see {log})")
        report.add(
            name="gate", passed=told["passed"], noted=told["lines"], leaderships=told["leaderships"]
        )


def main():
    kind, much, base, only, minutes = sys.argv[1:]
    if only not in ("", *ATTACKS):
        print(f"soak: --only '{only}': one of {', '.join(ATTACKS)} is needed", file=sys.stderr)
        return 2
    # The load ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(base, kind)
    status = 0
    if kind == "process":
        soak_process(float(much), report, [only] if only else ATTACKS)
    elif kind == "attached":
        status = soak_attached(int(much), float(minutes), report)
    else:
        soak_gate(int(much), report)
    report.write()
    print("\n".join(report.lines()))
    return 1 if report.told["violations"] else status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
