"""`bullring run` in a terminal: Ctrl-C, Ctrl-Z, and a command that reads what is typed."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import termios
import time

import pytest
from bullring_node import find_program
from bullring_task import alive
from waiting import DEADLINE, wait_until


READY = "echo ready $$"


def _take_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A terminal, and the program that runs in it."""

    def __init__(self, spawn, command):
        self.ours, theirs = pty.openpty()
        self.process = spawn(
            command, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=_take_terminal
        )
        os.close(theirs)
        self.text = ""

    def close(self):
        os.close(self.ours)

    def type(self, text):
        os.write(self.ours, text.encode())

    def wait_for(self, pattern, times=1):
        """What this expression finds, the first, the second, … time."""
        limit = time.monotonic() + DEADLINE
        while len(found := re.findall(pattern, self.text)) < times:
            assert time.monotonic() < limit, f"no {pattern!r} in {self.text!r}"
            if select.select([self.ours], [], [], 0.1)[0]:
                self.text += os.read(self.ours, 4096).decode()
        return found[times - 1]

    def wait_command(self, times=1):
        """The process of the leader's command, the first, the second, …, as READY says."""
        return int(self.wait_for(r"ready (\d+)\r\n", times))

    @property
    def stopped(self):
        """Whether the program is stopped, as Ctrl-Z does."""
        status = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        return status.rsplit(")", 1)[1].split()[0] == "T"


@pytest.fixture
def terminal(spawn, ports, tmp_path):
    """Starts `bullring run` with a shell script in a terminal."""
    with contextlib.ExitStack() as made:

        def start(script):
            flags = ["--id", "1", "--peers", f"1=127.0.0.1:{ports.take()}", "--profile", "fast"]
            flags += ["--data-dir", str(tmp_path / "data"), "--log-level", "error"]
            flags += ["--kill-after", "500ms", "--restart-delay", "50ms"]
            started = Terminal(spawn, [find_program(), "run", *flags, "--", "sh", "-c", script])
            made.callback(started.close)
            return started

        yield start


def test_ctrl_c_ends_the_command_and_the_program(terminal):
    shown = terminal(f"{READY}; while :; do sleep 0.05; done")
    shown.wait_command()
    shown.type("\x03")
    assert shown.process.wait(DEADLINE) == 128 + signal.SIGTERM


def test_a_command_that_reads_has_the_terminal_and_its_ctrl_c(terminal):
    shown = terminal(f"{READY}; read line; echo got-$line; read more; echo never")
    command = shown.wait_command()
    shown.type("hello\n")
    shown.wait_for("got-hello")
    wait_until(lambda: os.tcgetpgrp(shown.ours) == command, "the command's terminal")
    shown.type("\x03")
    assert shown.process.wait(DEADLINE) == 128 + signal.SIGINT
    assert "never" not in shown.text


def test_ctrl_z_ends_the_command_before_the_node_stops(terminal):
    shown = terminal(f"{READY}; while :; do sleep 0.05; done")
    command = shown.wait_command()
    shown.type("\x1a")
    wait_until(lambda: shown.stopped, "the node stops")
    assert not alive(command)
    shown.process.send_signal(signal.SIGCONT)
    shown.wait_command(times=2)
