"""A mutant that no longer applies to the sources tests nothing."""

import subprocess
import sys

from harness.node import ROOT


def test_each_applies_and_is_taken_back():
    done = subprocess.run(
        [sys.executable, "-B", ROOT / "tests/mutants/run_mutants.py", "--apply-only"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    count = len(list((ROOT / "tests" / "mutants").glob("*.patch")))
    assert f"{count} of {count} mutants apply" in done.stdout
