#!/usr/bin/env python3
"""Prints how slow this machine is at the moment, 1 to 5: what tests wait for at most is multiplied
by it (tests/harness/waiting.py, tests/support/generous.hpp).

Measured are starts of processes and plain computing, against two cores of a calm virtual machine.
"""

import hashlib
import statistics
import subprocess
import time

STARTS, STARTS_S = 50, 0.115
MEGABYTES, MEGABYTES_S = 64, 0.043
MOST = 5.0


def seconds(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def start_processes():
    for _ in range(STARTS):
        subprocess.run(["true"], check=True)


def compute():
    digest, block = hashlib.sha256(), bytes(1 << 20)
    for _ in range(MEGABYTES):
        digest.update(block)


def slowness():
    starts = statistics.median(seconds(start_processes) for _ in range(3)) / STARTS_S
    computing = statistics.median(seconds(compute) for _ in range(3)) / MEGABYTES_S
    return min(MOST, max(1.0, starts, computing))


if __name__ == "__main__":
    print(f"{slowness():.2f}")
