"""A unit test that never ends is no nameless time-out."""

import os
import pathlib
import signal
import subprocess

from harness.node import find_program
from harness.waiting import DEADLINE, wait_until

CASE = "library: random lives of three nodes never show two leaders"


def threads_of(process):
    return len(os.listdir(f"/proc/{process.pid}/task"))


def test_a_case_that_is_not_over_in_time_is_named_with_its_threads():
    program = pathlib.Path(find_program()).parent / "tests" / "bullring_unit_tests"
    process = subprocess.Popen(
        [program, f"--test-case={CASE}"],
        env={**os.environ, "BULLRING_ROUNDS": "1000000000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: threads_of(process) > 3, "the case runs")
        process.send_signal(signal.SIGALRM)  # as the clock does after four minutes
        _, told = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGABRT
    assert CASE in told
    assert told.count("\nthread ") > 3
