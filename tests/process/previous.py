"""The program as it landed last, built once from the history of this tree."""

import fcntl
import os
import shutil
import subprocess
import time

import pytest
from harness.node import ROOT

COMMIT = ROOT / "tests" / "process" / "previous_version"
PLACE = ROOT / "build-previous"


def _git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)


def _skip_without_history():
    top = _git("rev-parse", "--show-toplevel")
    if top.returncode != 0 or top.stdout.strip() != str(ROOT):
        pytest.skip("this tree has no history, from which the version before could be built")
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        pytest.skip("the history of this tree is cut off (a shallow clone)")


def _build(commit, place):
    """The sources as they are in that commit, and nothing but the program."""
    shutil.rmtree(place, ignore_errors=True)
    sources, build = place / "source", place / "build"
    sources.mkdir(parents=True)
    archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", sources], stdin=archive.stdout, check=True)
    archive.stdout.close()
    assert archive.wait() == 0, f"git archive {commit}"
    settings = ["CMAKE_BUILD_TYPE=Release", "BULLRING_TESTS=OFF", "BULLRING_SIMULATOR=OFF"]
    chosen = [f"-D{setting}" for setting in settings]
    subprocess.run(["cmake", "-S", sources, "-B", build, *chosen], check=True)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    subprocess.run(["cmake", "--build", build, "--target", "bullring", "-j", jobs], check=True)


def previous_program():
    """Its path. Without a history the test is skipped; a commit that is missing in one fails it."""
    _skip_without_history()
    commit = COMMIT.read_text().strip()
    found = _git("cat-file", "-e", f"{commit}^{{commit}}")
    assert found.returncode == 0, f"{COMMIT.name}: no commit {commit} in the history of this tree"
    PLACE.mkdir(exist_ok=True)
    place = PLACE / commit[:12]
    program = place / "build" / "bullring"
    with open(PLACE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "whole").exists():
            begun = time.monotonic()
            _build(commit, place)
            print(f"{commit[:12]} was built in {time.monotonic() - begun:.0f} s")
            (place / "whole").touch()
    return str(program)
