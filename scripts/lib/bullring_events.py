"""The event streams of a cluster: reading them while they grow, and judging them afterwards.

Owns the rules that hold between streams (INTERFACE.md, "Event stream"): leaderships never overlap,
epochs rise with time. Starts no process and knows no network.
"""

import json
import os
import time


class EventError(Exception):
    """A stream that breaks the format, or streams that contradict each other."""


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
        self._finished = False
        self._rest = b""

    def poll(self):
        """Reads what is new and returns the new events."""
        if self._finished:
            return []
        if self._fd is None:
            try:
                self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return []
        fresh = []
        while chunk := os.read(self._fd, 1 << 16):
            lines = (self._rest + chunk).split(b"\n")
            self._rest = lines.pop()
            fresh.extend(self._parse(line) for line in lines)
        for event in fresh:
            self._apply(event)
        self.events.extend(fresh)
        return fresh

    def close(self):
        """The writer is dead and all is read."""
        self._finished = True
        if self._fd is not None:
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


class Leadership:
    """One interval [elected.ts_ns, end], and the two lines that bound it."""

    def __init__(self, elected, end_ns, ended_by):
        self.node = elected["node"]
        self.epoch = elected["epoch"]
        self.start_ns = elected["ts_ns"]
        self.end_ns = end_ns
        self.elected = elected
        self.ended_by = ended_by

    def __str__(self):
        return f"{json.dumps(self.elected)} until {self.end_ns} ({self.ended_by})"


def leaderships(events, death_ns=None):
    """The leaderships of one incarnation.

    death_ns is the last instant at which the process can have acted, for one that died without a
    `deposed` line; None for one that still runs.
    """
    found = []
    current = None
    for event in events:
        if event["event"] == "elected":
            if current is not None:
                raise EventError(f"elected twice without deposed: {current} then {event}")
            current = event
        elif event["event"] == "deposed":
            if current is None:
                raise EventError(f"deposed without elected: {event}")
            if event["epoch"] != current["epoch"]:
                raise EventError(f"deposed from another epoch: {current} then {event}")
            found.append(Leadership(current, event["held_until_ns"], json.dumps(event)))
            current = None
    if current is not None:
        if death_ns is None:
            found.append(Leadership(current, now_ns(), "still leads"))
        else:
            found.append(Leadership(current, max(death_ns, current["ts_ns"]), "its death"))
    return found


def check_intervals(all_leaderships):
    """Raises EventError with the two offending lines if two leaderships overlap or epochs fall."""
    ordered = sorted(all_leaderships, key=lambda held: held.start_ns)
    longest = None
    for held in ordered:
        if longest is not None:
            if held.start_ns < longest.end_ns:
                overlap_us = (min(longest.end_ns, held.end_ns) - held.start_ns) / 1000
                raise EventError(f"two leaders for {overlap_us:.1f} us:\n  {longest}\n  {held}")
        if longest is None or held.end_ns > longest.end_ns:
            longest = held
    for before, after in zip(ordered, ordered[1:]):
        if after.epoch <= before.epoch:
            raise EventError(f"the epoch did not rise:\n  {before}\n  {after}")
    return ordered


def describe(event, origin_ns):
    """One readable line for the timeline: when, who, what."""
    detail = {
        key: value
        for key, value in event.items()
        if key not in ("ts_ns", "time", "node", "event", "held_until_ns", "version", "pid")
    }
    words = " ".join(f"{key}={json.dumps(value)}" for key, value in detail.items())
    at_ms = (event["ts_ns"] - origin_ns) / 1e6
    return f"{at_ms:10.2f} ms  node {event['node']}  {event['event']:<16} {words}"
