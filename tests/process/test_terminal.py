"""`bullring run` in a terminal: Ctrl-C, Ctrl-Z, and a command that reads what is typed."""

import contextlib
import fcntl
import os
import pathlib
import pty
import select
import signal
import termios
import time

import pytest
from bullring_node import DEADLINE, find_program
from bullring_task import alive, child_named, children


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

    def wait_text(self, words, times=1):
        limit = time.monotonic() + DEADLINE
        while self.text.count(words) < times:
            assert time.monotonic() < limit, f"no {words!r} in {self.text!r}"
            if select.select([self.ours], [], [], 0.1)[0]:
                self.text += os.read(self.ours, 4096).decode()

    @property
    def command(self):
        """The process of the leader's command."""
        guard = child_named(self.process.pid, "run-guard")
        shield = child_named(guard, "run-shield") if guard else None
        return next(iter(children(shield)), None) if shield else None

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


def wait_for(predicate, what):
    limit = time.monotonic() + DEADLINE
    while not predicate():
        assert time.monotonic() < limit, what
        time.sleep(0.01)  # pause: between two looks at /proc


def test_ctrl_c_ends_the_command_and_the_program(terminal):
    shown = terminal("echo ready; while :; do sleep 0.05; done")
    shown.wait_text("ready")
    shown.type("\x03")
    assert shown.process.wait(DEADLINE) == 128 + signal.SIGTERM


def test_a_command_that_reads_has_the_terminal_and_its_ctrl_c(terminal):
    shown = terminal("echo ready; read line; echo got-$line; read more; echo never")
    shown.wait_text("ready")
    shown.type("hello\n")
    shown.wait_text("got-hello")
    wait_for(lambda: os.tcgetpgrp(shown.ours) == shown.command, "the command's terminal")
    shown.type("\x03")
    assert shown.process.wait(DEADLINE) == 128 + signal.SIGINT
    assert "never" not in shown.text


def test_ctrl_z_ends_the_command_before_the_node_stops(terminal):
    shown = terminal("echo ready; while :; do sleep 0.05; done")
    shown.wait_text("ready")
    command = shown.command
    shown.type("\x1a")
    wait_for(lambda: shown.stopped, "the node stops")
    assert not alive(command)
    shown.process.send_signal(signal.SIGCONT)
    shown.wait_text("ready", times=2)
