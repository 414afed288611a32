"""Where the simulator is, and what the tests of it share beside their fixtures."""

import json
import os
import pathlib
import subprocess
import zlib

from harness.node import ROOT

PROGRAM = pathlib.Path(os.environ.get("BULLRING_SIM", ROOT / "build" / "bullring-sim"))
SCENARIOS = ROOT / "tests" / "scenarios"
ALL = os.environ.get("BULLRING_TEST_ALL", "") not in ("", "0")


def commit_number():
    """From the commit and nothing else: what is tried changes with every commit."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return zlib.crc32(head.stdout.strip().encode())


class Simulator:
    """Runs a simulator in a folder."""

    def __init__(self, folder, program=PROGRAM):
        self.folder = folder
        self.program = program

    def __call__(self, *arguments, status=0, stdout=subprocess.PIPE):
        """The completed process; its exit status must be `status`."""
        done = subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=self.folder,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert done.returncode == status, f"{arguments}\n{done.stdout}{done.stderr}"
        return done

    def sweep(self, seeds, *arguments):
        """The result of a sweep."""
        path = self.folder / "sweep.json"
        self("sweep", "--seeds", seeds, "--json", path, *arguments)
        return json.loads(path.read_text())
