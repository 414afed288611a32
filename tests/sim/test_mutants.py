"""Every checker can fail: rules of the protocol are broken one by one, and the simulator notices.

All of them with BULLRING_TEST_ALL=1, else a part that changes with the commit."""

import subprocess
import sys

import pytest
from harness.node import ROOT
from simulator import ALL, commit_number

pytestmark = [pytest.mark.alone, pytest.mark.limit(5400)]

PARTS = 30


def test_each_is_caught():
    part = "1/1" if ALL else f"{commit_number() % PARTS + 1}/{PARTS}"
    print(f"mutants {part}: python3 tests/mutants/run_mutants.py --part {part}", flush=True)
    done = subprocess.run(
        [sys.executable, "-B", ROOT / "tests/mutants/run_mutants.py", "--part", part]
    )
    assert done.returncode == 0
