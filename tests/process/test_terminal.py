"""`bullring run` in a terminal: Ctrl-C, Ctrl-Z, and a command that reads what is typed."""

import fcntl
import os
import pathlib
import pty
import select
import signal
import subprocess
import tempfile
import termios
import time
import unittest

from process_case import DEADLINE, PortHolder, find_program

from bullring_task import alive, child_named, children


def _take_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal(unittest.TestCase):
    def start(self, script):
        place = tempfile.TemporaryDirectory(prefix="bullring-terminal-")
        self.addCleanup(place.cleanup)
        ports = PortHolder()
        self.addCleanup(ports.release)
        self.ours, theirs = pty.openpty()
        self.addCleanup(os.close, self.ours)
        self.process = subprocess.Popen(
            [find_program(), "run", "--id", "1", "--peers", f"1=127.0.0.1:{ports.take()}",
             "--data-dir", str(pathlib.Path(place.name) / "data"), "--profile", "fast",
             "--log-level", "error", "--kill-after", "500ms", "--restart-delay", "50ms",
             "--", "sh", "-c", script],
            stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=_take_terminal,
        )  # fmt: skip
        os.close(theirs)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.text = ""

    def wait_text(self, words, times=1):
        limit = time.monotonic() + DEADLINE
        while self.text.count(words) < times:
            self.assertLess(time.monotonic(), limit, f"no {words!r} in {self.text!r}")
            if select.select([self.ours], [], [], 0.1)[0]:
                self.text += os.read(self.ours, 4096).decode()

    def wait_for(self, predicate, what):
        limit = time.monotonic() + DEADLINE
        while not predicate():
            self.assertLess(time.monotonic(), limit, what)
            time.sleep(0.01)  # pause: between two looks at /proc

    def type(self, text):
        os.write(self.ours, text.encode())

    def command(self):
        guard = child_named(self.process.pid, "run-guard")
        shield = child_named(guard, "run-shield") if guard else None
        return next(iter(children(shield)), None) if shield else None

    def test_ctrl_c_ends_the_command_and_the_program(self):
        self.start("echo ready; while :; do sleep 0.05; done")
        self.wait_text("ready")
        self.type("\x03")
        self.assertEqual(self.process.wait(DEADLINE), 128 + signal.SIGTERM)

    def test_a_command_that_reads_has_the_terminal_and_its_ctrl_c(self):
        self.start("echo ready; read line; echo got-$line; read more; echo never")
        self.wait_text("ready")
        self.type("hello\n")
        self.wait_text("got-hello")
        self.wait_for(lambda: os.tcgetpgrp(self.ours) == self.command(), "the command's terminal")
        self.type("\x03")
        self.assertEqual(self.process.wait(DEADLINE), 128 + signal.SIGINT)
        self.assertNotIn("never", self.text)

    def test_ctrl_z_ends_the_command_before_the_node_stops(self):
        self.start("echo ready; while :; do sleep 0.05; done")
        self.wait_text("ready")
        command = self.command()
        self.type("\x1a")

        def stopped():
            status = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
            return status.rsplit(")", 1)[1].split()[0] == "T"

        self.wait_for(stopped, "the node stops")
        self.assertFalse(alive(command))
        self.process.send_signal(signal.SIGCONT)
        self.wait_text("ready", times=2)


if __name__ == "__main__":
    unittest.main()
