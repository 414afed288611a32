"""A process that leads through a node by the Python package (programs/attached_worker.py), and what
it has written of that.
"""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

from harness.audit import Audit
from harness.events import EventFile, now_ns
from harness.node import die_with_parent, python_environment
from harness.safety import SafetyViolation

PROGRAM = pathlib.Path(__file__).with_name("programs") / "attached_worker.py"


class Worker:
    """Of one node; all its runs write to one file. `program`: another one that does so."""

    def __init__(
        self, node, stall_after=0.0, pause=0.0, on_loss="tell", environment=(), program=None
    ):
        self.node = node
        self.events_path = pathlib.Path(f"{node.data_dir}.worker.events")
        self.stream = EventFile(self.events_path)
        self._last = pathlib.Path(f"{node.data_dir}.worker.last")
        self._program = [program] if program else [sys.executable, "-S", PROGRAM]
        told = [node.data_dir, node.id, self.events_path, self._last]
        self._words = [*told, stall_after, pause, on_loss]
        self._environment = {**python_environment(), **dict(environment)}
        self.process = None

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def start(self):
        self._last.write_bytes(bytes(16))
        self.process = subprocess.Popen(
            [str(word) for word in [*self._program, *self._words]],
            stdin=subprocess.DEVNULL,
            env=self._environment,
            preexec_fn=die_with_parent,
        )
        return self

    def shown(self):
        """(epoch, the last instant at which it led)"""
        return struct.unpack("=QQ", self._last.read_bytes())

    @property
    def leads(self):
        """By its own log; of one that was killed, until it is buried."""
        self.stream.poll()
        return self.stream.role == "leader"

    def led(self, event, epoch):
        """The line with which that leadership begins or ends; None if there is none so far."""
        self.stream.poll()
        lines = (line for line in self.stream.events if line["event"] == event)
        return next((line for line in lines if line["epoch"] == epoch), None)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def kill(self):
        """kill -9; returns the clock just before the signal."""
        at_ns = now_ns()
        self.signal(signal.SIGKILL)
        return at_ns

    def bury(self):
        """Writes in the name of one that has ended until when it led."""
        self.process.wait()
        epoch, last_ns = self.shown()
        if self.leads and self.stream.epoch == epoch:
            line = {"ts_ns": now_ns(), "time": self.stream.events[-1]["time"], "node": self.node.id}
            line |= {"event": "deposed", "epoch": epoch, "reason": "died", "held_until_ns": last_ns}
            with open(self.events_path, "a") as file:
                file.write(json.dumps(line) + "\n")

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def next_told(workers, epoch):
    """The first line of the leadership after that one; None if there is none so far."""
    for worker in workers:
        worker.stream.poll()
    lines = [line for one in workers for line in one.stream.of("elected") if line["epoch"] > epoch]
    return min(lines, key=lambda line: line["epoch"], default=None)


def check_intervals(program, paths, environment=None):
    """No two worked at one time, and epochs rose, by their own logs; returns the leaderships."""
    found = Audit(program, paths, environment)
    if found.contradictions:
        raise SafetyViolation(f"by the logs of the clients:\n{found}")
    return found.leaderships
