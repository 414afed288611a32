"""A test that this machine has disturbed is played again; what breaks safety is not."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from harness.events import now_ns
from harness.node import ROOT

HERE = pathlib.Path(__file__).parent
CONFTEST = f"""
import importlib.util, sys
sys.path[:0] = ["{HERE}", "{ROOT / 'scripts' / 'lib'}", "{ROOT / 'tests'}"]
spec = importlib.util.spec_from_file_location("fixtures", "{HERE / 'conftest.py'}")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
globals().update({{name: value for name, value in vars(module).items() if name[:2] != "__"}})
"""

TEST = """
import pathlib
from harness.safety import ProductFault, SafetyViolation
def test_case(new_cluster):
    played = pathlib.Path(__file__).with_name("played")
    played.write_text((played.read_text() if played.exists() else "") + "x")
    cluster = new_cluster(1).start()
    cluster.wait_leader()
    if {loses}:
        cluster[1].stop()
    if len(played.read_text()) <= {failures}:
        raise {error}("as it is told to")
"""


@pytest.fixture
def played(tmp_path):
    """Plays a test of its own; returns (how often it was played, what pytest printed)."""

    def play(failures, gap_ms, error="AssertionError", loses=True):
        (tmp_path / "conftest.py").write_text(CONFTEST)
        text = TEST.format(failures=failures, error=error, loses=loses)
        (tmp_path / "test_it.py").write_text(text)
        from_ns = now_ns() + 3_600_000_000_000
        gap = {"from_ns": from_ns, "to_ns": from_ns + int(gap_ms * 1e6)}
        (tmp_path / "gaps").write_text(json.dumps(gap) + "\n")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rs", "--rootdir", tmp_path, tmp_path],
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ
            | {"BULLRING_STANDSTILL": str(tmp_path / "gaps"), "BULLRING_BUILD": str(tmp_path)},
        )
        print(done.stdout, done.stderr)
        return len((tmp_path / "played").read_text()), done.stdout

    return play


def test_one_that_was_disturbed_is_played_again(played):
    times, printed = played(failures=1, gap_ms=300)
    assert times == 2
    assert "1 passed" in printed


def test_one_that_is_always_disturbed_is_not_judged(played):
    times, printed = played(failures=9, gap_ms=300)
    assert times == 4
    assert "not judged: this machine stood still for 300 ms" in printed
    assert "1 skipped" in printed


def test_where_the_machine_stood_still_for_a_moment_it_fails(played):
    assert played(failures=1, gap_ms=90)[0] == 1  # a fifth of the lease is 100 ms


def test_where_no_leadership_ended_it_fails(played):
    assert played(failures=1, gap_ms=300, loses=False)[0] == 1


@pytest.mark.parametrize("error", ["SafetyViolation", "ProductFault"])
def test_what_no_second_attempt_takes_back_fails(played, error):
    assert played(failures=1, gap_ms=300, error=error)[0] == 1
