"""The pages by which the preloaded clock_shim.c is told what to do, and the way back from the times
that a node shows to true ones.

How leaderships are judged by true time: the shim shows a node a clock that is a straight line of
the true one, piece by piece, and the script, which draws the pieces, keeps them all. A time that
stands in an event stream is one that the node was shown, so the inverse of that line is the true
instant, to the nanosecond; a line arrives here a millisecond later, and more.
What bullring-keeper and a guard write in a dead node's name has a `ts_ns` of the kernel's own, by a
system call that no shim sees, beside a `held_until_ns` of the node's clock: only that is turned.
"""

import bisect
import ctypes
import errno
import json
import mmap
import pathlib
import subprocess
import time

SOURCE = pathlib.Path(__file__).with_name("clock_shim.c")
BOOTTIME, RAW = 0, 1
_CLOCKS = (time.CLOCK_BOOTTIME, time.CLOCK_MONOTONIC_RAW)
_DISK_ERROR, _READINGS, _DISK_ERRORS, _FULL, _NO_DESCRIPTOR, _DATE_AHEAD, _WORDS = range(12, 19)
_AHEAD_NS = 3_000_000  # when a new rate begins: no process may have read a later instant by then
_FAR = (1 << 63) - 1
MILLION = 1_000_000


def build(directory):
    """The library to be preloaded."""
    library = pathlib.Path(directory) / "clock_shim.so"
    words = ["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"]
    subprocess.run([str(word) for word in words], check=True)
    return library


class Line:
    """The readings of a clock, from the beginning on: pieces of (true, shown, ppm)."""

    def __init__(self, true_ns):
        self.pieces = [(true_ns, true_ns, 0)]

    def shown(self, true_ns):
        begin, shown, ppm = self.pieces[-1]
        since = true_ns - begin
        return shown + since + _toward_zero(since * ppm, MILLION)

    def bend(self, true_ns, ppm):
        self.pieces.append((true_ns, self.shown(true_ns), ppm))

    def true(self, shown_ns):
        at = bisect.bisect_right([piece[1] for piece in self.pieces], shown_ns) - 1
        begin, shown, ppm = self.pieces[max(at, 0)]
        return begin + (shown_ns - shown) * MILLION // (MILLION + ppm)


def _toward_zero(number, by):
    """As C divides."""
    return number // by if number >= 0 else -(-number // by)


class Page:
    """One node's: its clocks, its disk, and what was counted."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.write_bytes(bytes(mmap.PAGESIZE))
        with open(self.path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self._words = (ctypes.c_int64 * _WORDS).from_buffer(self._map)
        self.lines = [Line(time.clock_gettime_ns(clock)) for clock in _CLOCKS]
        for clock, line in enumerate(self.lines):
            self._put(clock, 0, line.pieces[0])
            self._put(clock, 1, (_FAR, 0, 0))
        self._older = [1, 1]

    def _put(self, clock, which, piece):
        at = clock * 6 + which * 3
        self._words[at] = _FAR  # not to be read
        self._words[at + 1], self._words[at + 2] = piece[1:]
        self._words[at] = piece[0]

    def offset_ns(self):
        """How far BOOTTIME is ahead of what it is."""
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return self.lines[BOOTTIME].shown(now) - now

    def rate(self, clock, ppm):
        """That clock runs faster by so much from now on."""
        true_ns = time.clock_gettime_ns(_CLOCKS[clock])
        line = self.lines[clock]
        while true_ns < line.pieces[-1][0]:  # the one before has not begun yet
            true_ns = time.clock_gettime_ns(_CLOCKS[clock])
        line.bend(true_ns + _AHEAD_NS, ppm)
        self._put(clock, self._older[clock], line.pieces[-1])
        self._older[clock] = 1 - self._older[clock]

    def move_date(self, ahead_s):
        """The date, by which certificates are judged, is so many seconds ahead."""
        self._words[_DATE_AHEAD] = ahead_s

    def fail_disk(self, fails):
        self._words[_DISK_ERROR] = errno.EIO if fails else 0

    @property
    def readings(self):
        return self._words[_READINGS]

    @property
    def disk_errors(self):
        return self._words[_DISK_ERRORS]

    @property
    def full(self):
        return self._words[_FULL]

    @property
    def no_descriptor(self):
        return self._words[_NO_DESCRIPTOR]

    def environment(self, library):
        return {"LD_PRELOAD": str(library), "CHAOS_PAGE": str(self.path)}

    def true_event(self, event):
        """The event as a host with a true clock would have told it."""
        line = self.lines[BOOTTIME]
        told_by_another = event.get("reason") in ("died", "hung")
        if not told_by_another:
            event["ts_ns"] = line.true(event["ts_ns"])
        if "held_until_ns" in event:
            event["held_until_ns"] = line.true(event["held_until_ns"])
        return event

    def true_stream(self, source, target):
        """A copy of an event stream in true time; a line that was torn stays as it is."""
        with open(source, "rb") as lines, open(target, "wb") as out:
            for text in lines:
                try:
                    event = self.true_event(json.loads(text))
                except ValueError:
                    out.write(text)
                    continue
                out.write(json.dumps(event, separators=(",", ":")).encode() + b"\n")
