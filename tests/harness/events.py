"""The event streams of a cluster: reading them while they grow.

Starts no process, knows no network, and judges nothing: see bullring_audit.py.
"""

import json
import os
import time


class EventError(Exception):
    """A stream that breaks the format; streams that contradict each other are a SafetyViolation."""


def now_ns():
    """The clock that the event streams' ts_ns is taken from."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class EventFile:
    """Reads one `--events` file as it grows. Only whole lines count."""

    def __init__(self, path):
        self.path = path
        self.events = []
        self.role = "follower"
        self.leader = None
        self.epoch = None
        self._fd = None
        self._offset = 0  # where it goes on when it is opened again
        self._rest = b""

    def poll(self):
        """Reads what is new and returns the new events."""
        if self._fd is None:
            try:
                self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return []
            os.lseek(self._fd, self._offset, os.SEEK_SET)
        fresh = []
        while chunk := os.read(self._fd, 1 << 16):
            lines = (self._rest + chunk).split(b"\n")
            self._rest = lines.pop()
            # An empty one ends a line that a process did not finish.
            fresh.extend(self._parse(line) for line in lines if line)
        for event in fresh:
            self._apply(event)
        self.events.extend(fresh)
        return fresh

    def close(self):
        """The writer is dead. Who outlives it may write one more line, which poll() still reads."""
        if self._fd is not None:
            self._offset = os.lseek(self._fd, 0, os.SEEK_CUR)
            os.close(self._fd)
            self._fd = None

    def _parse(self, line):
        try:
            event = json.loads(line)
        except ValueError as error:
            raise EventError(f"{self.path}: not a JSON line: {line!r}") from error
        if list(event)[:4] != ["ts_ns", "time", "node", "event"]:
            raise EventError(f"{self.path}: keys in the wrong order: {line!r}")
        return event

    def _apply(self, event):
        kind = event["event"]
        if kind == "elected":
            self.role, self.leader, self.epoch = "leader", event["node"], event["epoch"]
        elif kind == "deposed":
            # While its task was ending it may have found another to follow.
            self.role = "follower"
            if self.leader == event["node"]:
                self.leader = None
        elif kind == "leader" and not (self.role == "leader" and event["leader"] is None):
            self.leader, self.epoch = event["leader"], event["epoch"]
        elif kind == "stopped":
            self.role, self.leader = "follower", None

    def of(self, kind):
        return [event for event in self.events if event["event"] == kind]


_NOT_DESCRIBED = ["ts_ns", "time", "node", "event", "held_until_ns"]
_NOT_DESCRIBED += ["version", "pid", "boot", "cluster"]


def describe(event, origin_ns):
    """One readable line for the timeline: when, who, what."""
    detail = {key: value for key, value in event.items() if key not in _NOT_DESCRIBED}
    words = " ".join(f"{key}={json.dumps(value)}" for key, value in detail.items())
    at_ms = (event["ts_ns"] - origin_ns) / 1e6
    return f"{at_ms:10.2f} ms  node {event['node']}  {event['event']:<16} {words}"
