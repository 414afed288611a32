"""`bullring run` in a terminal: Ctrl-C, Ctrl-Z, and a command that reads what is typed."""

import os
import signal
import subprocess

import pytest
from harness.node import find_program
from harness.task import alive, stopped
from harness.waiting import DEADLINE, wait_until

READY = "echo ready $$"


def wait_command(shown, times=1):
    """The process of the leader's command, the first, the second, …, as READY says."""
    return int(shown.wait_for(r"ready (\d+)\r\n", times))


@pytest.fixture
def terminal(in_terminal, ports, tmp_path):
    """Starts `bullring run` with a shell script in a terminal."""

    def start(script):
        flags = ["--id", "1", "--peers", f"1=127.0.0.1:{ports.take()}", "--profile", "fast"]
        flags += ["--data-dir", str(tmp_path / "data"), "--log-level", "error"]
        flags += ["--kill-after", "500ms", "--restart-delay", "50ms"]
        return in_terminal([find_program(), "run", *flags, "--", "sh", "-c", script])

    return start


def test_ctrl_c_ends_the_command_and_the_program(terminal):
    shown = terminal(f"{READY}; while :; do sleep 0.05; done")
    wait_command(shown)
    shown.type("\x03")
    assert shown.process.wait(DEADLINE) == 128 + signal.SIGTERM


def test_a_command_that_reads_has_the_terminal_and_its_ctrl_c(terminal):
    shown = terminal(f"{READY}; read line; echo got-$line; read more; echo never")
    command = wait_command(shown)
    shown.type("hello\n")
    shown.wait_for("got-hello")
    wait_until(lambda: os.tcgetpgrp(shown.ours) == command, "the command's terminal")
    shown.type("\x03")
    assert shown.process.wait(DEADLINE) == 128 + signal.SIGINT
    assert "never" not in shown.text


def test_ctrl_z_ends_the_command_before_the_node_stops(terminal):
    shown = terminal(f"{READY}; while :; do sleep 0.05; done")
    command = wait_command(shown)
    shown.type("\x1a")
    wait_until(lambda: stopped(shown.process.pid), "the node stops")
    assert not alive(command)
    shown.process.send_signal(signal.SIGCONT)
    wait_command(shown, times=2)


def test_a_terminal_that_is_closed_ends_nothing(terminal):
    shown = terminal(f"{READY}; while :; do sleep 0.05; done")
    command = wait_command(shown)
    shown.close()
    with pytest.raises(subprocess.TimeoutExpired):
        shown.process.wait(1)
    assert alive(command)
