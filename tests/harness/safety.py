"""Findings that break safety, which no second try takes back.

A SafetyViolation is no failure among others. Whoever judges raises it, at the first attempt, and
nothing repeats the test that found it: record() keeps the evidence where scripts/test looks for it.
"""

import json
import os
import pathlib
import re

from harness.events import EventError

ROOT = pathlib.Path(__file__).resolve().parents[2]


class SafetyViolation(EventError):
    """Two leaderships overlap, two commands run at once, or epochs do not rise."""


def count_judged(test, leaderships):
    """Notes that a cluster was judged, where scripts/test and scripts/soak count that."""
    if tally := os.environ.get("BULLRING_TALLY"):
        with open(tally, "a", encoding="utf-8") as out:
            out.write(json.dumps({"test": test, "leaderships": leaderships}) + "\n")


def judged_in(tally):
    """(number of clusters, number of leaderships) that were judged."""
    path = pathlib.Path(tally)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return len(lines), sum(json.loads(line)["leaderships"] for line in lines)


class ProductFault(Exception):
    """The program crashed, a sanitizer reports something, or it hangs."""


def directory():
    """Where the evidence of this build's tests is kept."""
    return pathlib.Path(os.environ.get("BULLRING_BUILD", ROOT / "build")) / "safety"


def record(test, violation):
    """Writes what a test has found as JSON; returns the path."""
    directory().mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", test).strip("_")
    path = directory() / f"{name}.json"
    path.write_text(json.dumps({"test": test, "found": str(violation)}, indent=2) + "\n")
    return path
