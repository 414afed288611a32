"""The scheduler of examples/python: the commands of its table, on one machine at a time."""

import sys

import pytest
from attached import settled
from harness.node import ROOT, python_environment
from harness.waiting import DEADLINE, wait_until

__all__ = ["settled"]  # a fixture


@pytest.fixture
def schedulers(settled, spawn, tmp_path):
    cluster, _ = settled()
    table, journal = tmp_path / "table", tmp_path / "journal"
    table.write_text(f"0.1 echo $PPID $BULLRING_EPOCH >>{journal}\n\n3600 exit 1\n")
    program = ROOT / "examples" / "python" / "scheduler.py"

    def start(node):
        words = [sys.executable, str(program), str(table), str(node.data_dir)]
        return spawn(words, env=python_environment())

    processes = {process.pid: process for process in map(start, cluster)}

    def lines():
        text = journal.read_text() if journal.exists() else ""
        return [tuple(map(int, line.split())) for line in text.splitlines()]

    return cluster, processes, lines


def test_the_commands_run_on_one_machine_and_then_on_another(schedulers):
    cluster, processes, lines = schedulers
    wait_until(lambda: len(lines()) >= 2, "two runs of the command")
    killed = lines()[-1][0]
    processes[killed].kill()
    wait_until(lambda: lines()[-1][0] != killed, "another one that runs it")
    processes.pop(killed)
    handed = lines()[-1][0]
    # A handover ends no program, and nobody's epoch falls.
    cluster.resign()
    wait_until(lambda: lines()[-1][0] != handed, "the third")
    assert processes[handed].poll() is None
    epochs = [epoch for _, epoch in lines()]
    assert epochs == sorted(epochs) and len(set(epochs)) >= 3
    for process in processes.values():
        process.send_signal(2)
        assert process.wait(DEADLINE) != 0
