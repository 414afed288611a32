"""Reads the reports of ctest and pytest: which tests there were, and how each of them ended.

A file of Python tests is one test of ctest and many cases; a doctest case is one of each.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

# Rooms whose tests have real processes. That what else the machine does disturbs them can't be
# excluded, so a failure is tried again; so are unit tests with threads, sockets and the machine's
# clock, the suite of doctest that is called `realtime`.
REAL = {"process", "library", "packaging"}
REALTIME = "realtime"
NOT_JUDGED = "not judged: "
# No second try takes these back, wherever they are printed.
FAULT = re.compile(
    r"ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|runtime error: |ProductFault: "
)


@dataclasses.dataclass(frozen=True)
class Test:
    """One test as ctest knows it."""

    number: int
    name: str
    command: list
    environment: dict
    labels: set

    @property
    def is_python(self):
        return pathlib.Path("".join(self.command[:1])).name.startswith("pytest")

    @property
    def is_in_real_time(self):
        """Of a unit test: whether it belongs to that suite, as its label or its program says."""
        if REALTIME in self.labels or "unit" not in self.labels:
            return REALTIME in self.labels
        words = [self.command[0], f"--test-suite={REALTIME}", "--list-test-cases"]
        listed = subprocess.run(words, capture_output=True, text=True).stdout
        return self.name in listed.splitlines()

    @property
    def source(self):
        return next(word for word in self.command if word.endswith(".py"))


@dataclasses.dataclass(frozen=True)
class Case:
    """One case that did not simply pass. `node` names it to pytest."""

    test: Test
    name: str
    node: str
    why: str

    @property
    def may_be_repeated(self):
        """Not what crashed or took too long, and no file of Python tests that says of no case."""
        if self.test.is_python:
            return self.node is not None and bool(self.test.labels & REAL)
        return self.why == "Failed" and self.test.is_in_real_time

    def command(self, build, report):
        """The command that runs it once more, alone."""
        if self.test.is_python:
            return [self.test.command[0], self.node, f"--junitxml={report}"]
        only = f"{self.test.number},{self.test.number}"
        return ["ctest", "--test-dir", str(build), "-I", only, "--output-on-failure"]

    @property
    def full_name(self):
        return f"{self.test.name}::{self.name}" if self.name else self.test.name


def known_tests(build):
    """Every test of a build, by its name."""
    shown = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"],
        capture_output=True,
        text=True,
        check=True,
    )
    tests = {}
    for number, entry in enumerate(json.loads(shown.stdout)["tests"], 1):
        told = {one["name"]: one["value"] for one in entry.get("properties", [])}
        environment = dict(pair.split("=", 1) for pair in told.get("ENVIRONMENT", []))
        tests[entry["name"]] = Test(
            number,
            entry["name"],
            entry.get("command", []),
            environment,
            set(told.get("LABELS", [])),
        )
    return tests


# A line of ctest's list at its end; its JUnit file does not say why a test failed.
_ENDED = re.compile(r"^\t *\d+ - (.+) \(([^()]+)\)$")


def of_ctest(path, said):
    """({name of a test: why it failed, None if it passed}, {name: what it printed}); `said` are the
    lines that ctest has printed.
    """
    why = dict(found.groups() for line in said if (found := _ENDED.match(line)))
    ended, printed = {}, {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        passed = case.get("status") == "run"
        ended[name] = None if passed else why.get(name, "no word of it")
        printed[name] = case.findtext("system-out") or ""
    return ended, printed


def of_pytest(test, path):
    """(number of cases that passed, those that failed, those that were not judged)"""
    passed, failed, unjudged = 0, [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        found = case.find("failure")
        found = case.find("error") if found is None else found
        skipped = case.find("skipped")
        if found is not None:
            failed.append(_case(test, case, name, found.get("message")))
        elif skipped is not None and NOT_JUDGED in (skipped.get("message") or ""):
            unjudged.append(_case(test, case, name, skipped.get("message")))
        else:
            passed += skipped is None
    return passed, failed, unjudged


def _case(test, case, name, why):
    # The class names the module, and behind it a class of tests, if there is one.
    module = pathlib.Path(test.source).stem
    inner = (case.get("classname") or "").rpartition(module)[2].strip(".")
    node = "::".join(part for part in (test.source, inner, name) if part)
    return Case(test, name, node, (why or "").strip().split("\n")[0])
