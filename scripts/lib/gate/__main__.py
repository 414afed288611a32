#!/usr/bin/env python3
"""Runs the tests of a build and says what their failures mean.

Usage: python3 -m gate [--unsteady FILE] BUILD LABELS [CTEST_FLAG…]

A safety violation ends the run at once. A case of real processes that fails is run once more,
alone, unless a fault of the product was seen in it or more than four failed: if it passes then, it
is unsteady. Everything else that fails has failed.
"""

import argparse
import contextlib
import datetime
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

from harness.safety import judged_in
from gate import results, unsteady, witness
from gate.verdict import FAILED_MAX, Outcome
from harness.waiting import seen_within

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Run:
    """One run of ctest over one build, and what is tried again after it."""

    def __init__(self, build, labels, flags, unsteady_file):
        self.build = pathlib.Path(build)
        self.labels = labels
        self.flags = flags
        self.outcome = Outcome()
        self.said = []
        self.known = unsteady.read(unsteady_file)
        for name in ("safety", "junit", "unsteady"):
            shutil.rmtree(self.build / name, ignore_errors=True)
        (self.build / "junit").mkdir()
        self.gaps = self.build / "standstill.jsonl"
        self.tally = self.build / "judged.jsonl"
        for file in (self.gaps, self.tally):
            file.unlink(missing_ok=True)
        os.environ["BULLRING_TALLY"] = str(self.tally.resolve())

    def play(self):
        self._find_overdue()
        began, stolen, waited = time.monotonic(), witness.stolen_s(), witness.waited_s()
        os.environ["BULLRING_STANDSTILL"] = str(self.gaps.resolve())
        with witness.watching(self.gaps):
            whole = self._ctest()
            if not self._take_violations():
                self._take_failures(whole)
        self.outcome.judged = judged_in(self.tally)
        self._tell_machine(time.monotonic() - began, stolen, waited)

    def _find_overdue(self):
        today = datetime.date.today()
        late = [line for line in self.known.values() if line.days_left(today) < 0]
        self.outcome.overdue = late

    def _ctest(self):
        """Whether it ran to its end."""
        report = (self.build / "junit" / "ctest.xml").resolve()
        words = ["ctest", "--test-dir", str(self.build), "-L", self.labels, "--no-tests=error"]
        words += ["--output-on-failure", "--output-junit", str(report)]
        # A sanitizer's report may stand anywhere in what a test prints.
        words += ["--test-output-size-passed", "10000000", "--test-output-size-failed", "10000000"]
        words += self.flags
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        passing_on = threading.Thread(target=self._pass_on, args=(process.stdout,))
        passing_on.start()
        try:
            seen_within(math.inf, self._over(process), every=0.2)
        finally:
            if process.poll() is None:
                self._end(process)
            passing_on.join(10)
        return process.returncode >= 0 and report.exists()

    def _over(self, process):
        return lambda: process.poll() is not None or any((self.build / "safety").glob("*.json"))

    def _pass_on(self, lines):
        for line in lines:
            self.said.append(line.rstrip("\n"))
            print(line, end="", flush=True)

    @staticmethod
    def _end(process):
        """Ends ctest and its tests; what those have started dies with them."""
        os.killpg(process.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _take_violations(self):
        for path in sorted((self.build / "safety").glob("*.json")):
            told = json.loads(path.read_text())
            first = told["found"].strip().split("\n")[0]
            self.outcome.violations.append((told["test"], f"{first} (see {path})"))
        return self.outcome.violations

    def _take_failures(self, whole):
        if not whole:
            self.outcome.failed.append(("ctest", "did not run to its end"))
            return
        tests = results.known_tests(str(self.build))
        ended, printed = results.of_ctest(self.build / "junit" / "ctest.xml", self.said)
        if not ended:
            self.outcome.failed.append(("ctest", "no test has this label and name"))
        again = []
        for name, why in ended.items():
            cases = self._cases(tests[name], why)
            if fault := results.FAULT.search(printed[name]):
                self.outcome.failed.append((name, f"a fault of the product: {fault[0]}"))
                continue
            for case in cases:
                if case.full_name in self.known:
                    self.outcome.quarantined.append((case.full_name, case.why))
                elif case.may_be_repeated:
                    again.append(case)
                else:
                    self.outcome.failed.append((case.full_name, case.why))
        if len(again) > FAILED_MAX:
            self.outcome.failed += [(case.full_name, case.why) for case in again]
        else:
            for case in again:
                self._once_more(case)

    def _cases(self, test, why):
        """The cases of this test that have failed, with what it counts for the rest."""
        report = self.build / "junit" / f"{test.name}.xml"
        if not test.is_python or not report.exists():
            self.outcome.passed += why is None
            return [] if why is None else [results.Case(test, "", None, why)]
        passed, failed, unjudged = results.of_pytest(test, report)
        self.outcome.passed += passed
        self.outcome.unjudged += [(case.full_name, case.why) for case in unjudged]
        if why is not None and not failed:
            return [results.Case(test, "", None, why)]
        return failed

    def _once_more(self, case):
        """Alone, on what is left of the machine."""
        kept = self.build / "unsteady" / case.full_name.replace("/", "_")
        kept.mkdir(parents=True)
        print(f"\n=== once more, alone: {case.full_name} ({case.why})", flush=True)
        first = self.build / "junit" / f"{case.test.name}.xml"
        if first.exists():
            shutil.copy(first, kept / "first.xml")
        words = case.command(self.build, kept / "again.xml")
        with open(kept / "again.log", "w", encoding="utf-8") as log:
            status = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | case.test.environment,
            ).returncode
        text = (kept / "again.log").read_text(errors="replace")
        if self._take_violations():
            return
        if status != 0:
            print(text)
        if status != 0 or results.FAULT.search(text):
            self.outcome.failed.append((case.full_name, f"{case.why} (see {kept})"))
        else:
            self.outcome.unsteady.append((case.full_name, case.why))

    def _tell_machine(self, seconds, stolen, waited):
        gaps = witness.gaps_ms(self.gaps)
        told = f"{len(gaps)} times above {witness.GAP_MS} ms, at most {max(gaps, default=0):.0f} ms"
        share = (witness.stolen_s() - stolen) / seconds / (os.cpu_count() or 1)
        line = f"\nThe machine stood still {told}; {share:.1%} of its time was somebody else's"
        if waited is not None:
            share = (witness.waited_s() - waited) / seconds
            line += f"; in {share:.0%} of it some process waited for a processor"
        print(line + ".", flush=True)


def main():
    parser = argparse.ArgumentParser(
        prog="gate", description=__doc__.split("\n")[0], allow_abbrev=False
    )
    parser.add_argument("build")
    parser.add_argument("labels")
    parser.add_argument("--unsteady", default=ROOT / "tests" / "unsteady.txt")
    arguments, flags = parser.parse_known_args()
    run = Run(arguments.build, arguments.labels, flags, arguments.unsteady)
    run.play()
    run.outcome.write(run.build / "gate.json")
    for line in run.outcome.lines():
        print(line)
    return run.outcome.status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except unsteady.WrongLine as problem:
        sys.exit(f"gate: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
