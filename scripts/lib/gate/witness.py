#!/usr/bin/env python3
"""Notes when this machine stood still: a process that wakes up every 5 ms and writes down each time
that it was woken more than 20 ms late.

A machine that stands still for a part of a lease may lose it: that is right, and no fault of the
product. What a test makes of such a gap: tests/process/standstill.py.

Usage: witness.py FILE     appends a JSON line for each gap, with the clock of the event streams;
                           ends with its stdin
"""

import contextlib
import json
import pathlib
import select
import subprocess
import sys
import time

TICK_MS = 5
GAP_MS = 20


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def watch(path):
    with open(path, "a", buffering=1, encoding="utf-8") as out:
        before = now_ns()
        while not select.select([sys.stdin], [], [], TICK_MS / 1000)[0]:
            now = now_ns()
            if now - before > (TICK_MS + GAP_MS) * 1_000_000:
                out.write(json.dumps({"from_ns": before, "to_ns": now}) + "\n")
            before = now


@contextlib.contextmanager
def watching(path):
    """A witness looks on meanwhile, and writes to a file that is there from the beginning."""
    pathlib.Path(path).touch()
    words = [sys.executable, "-S", "-B", __file__, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        try:
            yield
        finally:
            process.stdin.close()


def gaps_ms(path, from_ns=0, to_ns=1 << 63):
    """How long the machine stood still each time, within that interval, in milliseconds."""
    with open(path, encoding="utf-8") as file:
        gaps = [json.loads(line) for line in file if line.endswith("\n")]
    return [
        (gap["to_ns"] - gap["from_ns"]) / 1e6
        for gap in gaps
        if gap["to_ns"] > from_ns and gap["from_ns"] < to_ns
    ]


def stolen_s():
    """How long the processors of this machine were with somebody else since it was started."""
    with open("/proc/stat", encoding="utf-8") as file:
        return int(file.readline().split()[8]) / 100


def waited_s():
    """How long some process waited for a processor since the start; None if it is not counted."""
    try:
        with open("/proc/pressure/cpu", encoding="utf-8") as file:
            return int(file.readline().rsplit("total=", 1)[1]) / 1e6
    except OSError:
        return None


if __name__ == "__main__":
    watch(sys.argv[1])
