"""A terminal of its own for a program, on which a test types and sees what is shown."""

import fcntl
import os
import pty
import re
import select
import termios
import time

from harness.waiting import DEADLINE


def _take_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A terminal, and the program that runs in it. Use close()."""

    def __init__(self, spawn, command, **options):
        """`options`: as of subprocess.Popen, also for streams that are not to be the terminal."""
        self.ours, theirs = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        self.process = spawn(command, preexec_fn=_take_terminal, **{**streams, **options})
        os.close(theirs)
        self._shown = b""

    @property
    def text(self):
        """All that it has shown so far."""
        return self._shown.decode(errors="replace")

    def close(self):
        if self.ours is not None:
            os.close(self.ours)
        self.ours = None

    def type(self, text):
        os.write(self.ours, text.encode())

    def _read(self, seconds):
        """Whether the terminal is still somebody's; what is shown is waited for that long."""
        if select.select([self.ours], [], [], seconds)[0]:
            try:
                self._shown += os.read(self.ours, 4096)
            except OSError:  # how Linux tells that nobody has it open any more
                return False
        return True

    def wait_for(self, pattern, times=1):
        """The first, the second, … match of this expression."""
        limit = time.monotonic() + DEADLINE
        open_yet = True
        while len(found := re.findall(pattern, self.text)) < times:
            assert open_yet and time.monotonic() < limit, f"no {pattern!r} in {self.text!r}"
            open_yet = self._read(0.1)
        return found[times - 1]

    def wait_end(self):
        """The program's exit status, once all that it has shown is read."""
        limit = time.monotonic() + DEADLINE
        while self._read(0.1):
            assert time.monotonic() < limit, f"it does not end: {self.text!r}"
        return self.process.wait(DEADLINE)
