#!/usr/bin/env python3
"""Measures what a newcomer waits for: how much processor time it takes to build a fresh copy of the
sources, with no object and no check remembered, and how much scripts/test takes beside that.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from bench.steady import conditions
from harness.node import ClusterError
from script_main import run_main

ROOT = pathlib.Path(os.environ["BULLRING_ROOT"])
JOBS = str(len(os.sched_getaffinity(0)))

# In seconds of processor, user and system: noise moves that little.
GOALS = {"program": 200, "compiler": 800, "scripts/test": 1500}
COMPILER = ("program", "its tests", "TSan build")


def copy_sources(to):
    """Tracked or about to be, as they are now, with a history of one commit."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    user = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for command in (["init", "-q"], ["add", "-A"], [*user, "commit", "-q", "-m", "a copy"]):
        subprocess.run(["git", "-C", to, *command], check=True)


class Copy:
    """A fresh copy of the sources, and what the commands in it have taken."""

    def __init__(self, directory):
        self.directory = directory / "copy"
        self.directory.mkdir()
        copy_sources(self.directory)
        # The checks remember below HOME what they have found good.
        self.environment = os.environ | {"CCACHE_DISABLE": "1", "HOME": str(directory)}
        for mine in ("BULLRING_ROOT", "BULLRING_PROGRAM", "PYTHONPATH"):
            self.environment.pop(mine, None)

    def run(self, *command):
        """Seconds of processor and of the clock on the wall."""

        def spent():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        before, begun = spent(), time.monotonic()
        done = subprocess.run(
            command,
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode != 0:
            raise ClusterError(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
        return {"processor_s": spent() - before, "wall_s": time.monotonic() - begun}


def tsan(copy):
    """As scripts/test builds it, to the same directory."""
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    copy.run("cmake", "--preset", "tsan", *ninja, "-DBULLRING_SIMULATOR=OFF")
    targets = ["--target", "bullring", "bullring_unit_tests"]
    return copy.run("cmake", "--build", "build-tsan", "--parallel", JOBS, *targets)


def measure(copy, whole):
    # With the flags of scripts/test from the beginning: then nothing is compiled twice.
    flags = ("--", "-DBULLRING_WERROR=ON")
    steps = {
        "program": lambda: copy.run("scripts/build", "--program", *flags),
        "its tests": lambda: copy.run("scripts/build", "--all", *flags),
        "TSan build": lambda: tsan(copy),
        "checks": lambda: copy.run("scripts/check", "--tenth"),
    }
    if whole:
        # On top of what is there: the tests, and the sanitizer whose turn it is.
        steps["tests"] = lambda: copy.run("scripts/test", "--unit", "--sim", "--process", "--tsan")
    taken = {}
    for name, step in steps.items():
        taken[name] = step()
        tell(name, taken[name]["processor_s"], taken[name]["wall_s"])
    sums = {"compiler": sum(taken[name]["processor_s"] for name in COMPILER)}
    if whole:
        sums["scripts/test"] = sum(one["processor_s"] for one in taken.values())
    for name, seconds in sums.items():
        tell(name, seconds)
    return {"steps": taken, "sums": sums}


def tell(name, processor_s, wall_s=None):
    goal = GOALS.get(name)
    line = f"{name:14} {processor_s:7.0f} s of processor"
    if wall_s is not None:
        line += f", {wall_s:6.0f} s"
    if goal is not None:
        line += f"   goal {goal} s: {'met' if processor_s <= goal else 'MISSED'}"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench build")
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    where = conditions()
    print(", ".join(f"{name} {value}" for name, value in where.items()), flush=True)
    with tempfile.TemporaryDirectory(prefix="bullring-bench-") as directory:
        results = measure(Copy(pathlib.Path(directory)), asked.test)
    if asked.json:
        asked.json.write_text(json.dumps({"conditions": where} | results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main, "bench"))
