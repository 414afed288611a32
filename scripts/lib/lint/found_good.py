"""Runs checks side by side, and remembers what was found good, for every checkout on this machine.

A check is a command, and all that its outcome depends on as a text. When the same text was found
good before, the command does not run.
"""

import concurrent.futures
import dataclasses
import hashlib
import os
import pathlib
import re
import subprocess
import time

DAYS = 14  # what was not asked for since is forgotten


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    command: list
    inputs: str  # without the place where the checkout stands


def memory_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(
        os.environ.get("BULLRING_CACHE") or pathlib.Path(cache) / "bullring" / "good"
    )


def _open_memory():
    memory = memory_folder()
    memory.mkdir(parents=True, exist_ok=True)
    horizon = time.time() - DAYS * 86400
    for mark in memory.iterdir():
        try:
            if mark.stat().st_mtime < horizon:
                mark.unlink()
        except FileNotFoundError:
            pass  # another check forgets, too
    return memory


def _run(job, memory):
    mark = memory / hashlib.sha256(job.inputs.encode()).hexdigest()
    if mark.exists():
        mark.touch()
        return job.name, "remembered", 0.0, ""
    start = time.monotonic()
    done = subprocess.run(
        job.command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode == 0:
        mark.touch()
    outcome = "good" if done.returncode == 0 else "bad"
    return job.name, outcome, time.monotonic() - start, done.stdout


def look(kind, jobs, at_once):
    """Runs the jobs and prints what they find; returns the exit status."""
    if not jobs:
        print(f"{kind}: nothing to look at")
        return 1
    memory = _open_memory()
    counts = {"good": 0, "bad": 0, "remembered": 0}
    slowest = (0.0, "")
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in concurrent.futures.as_completed(pool.submit(_run, j, memory) for j in jobs):
            name, outcome, took, output = done.result()
            counts[outcome] += 1
            slowest = max(slowest, (took, name))
            if outcome == "bad":
                print(f"--- {kind}: {name}\n{_without_counts(output).rstrip()}", flush=True)
    line = f"{kind}: {counts['good'] + counts['remembered']} good"
    line += f" ({counts['remembered']} remembered), {counts['bad']} bad"
    if slowest[0] > 1:
        line += f"; slowest {slowest[1]}, {slowest[0]:.0f} s"
    print(line)
    return 1 if counts["bad"] else 0


def _without_counts(output):
    """Without clang's own lines about how much it said."""
    counted = r"^\d+ warnings?( and \d+ errors?)? generated\.\n"
    return re.sub(counted, "", output, flags=re.MULTILINE)
