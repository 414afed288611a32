"""What the tests of bullring-sim share: where it is, and how to run it."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("BULLRING_SIM", str(ROOT / "build" / "bullring-sim"))
ALL = os.environ.get("BULLRING_TEST_ALL") == "1"


def commit_number():
    """From the commit and nothing else: what is tried changes with every commit."""
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return zlib.crc32(head.encode())


class SimulatorCase(unittest.TestCase):
    def run_sim(self, *arguments, status=0):
        """The completed process; its exit status must be `status`."""
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)], cwd=self.folder(), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def folder(self):
        if not hasattr(self, "_folder"):
            temporary = tempfile.TemporaryDirectory()
            self.addCleanup(temporary.cleanup)
            self._folder = pathlib.Path(temporary.name)
        return self._folder

    def sweep(self, seeds, *arguments, status=0):
        """The result of a sweep."""
        path = self.folder() / f"sweep-{len(list(self.folder().iterdir()))}.json"
        self.run_sim("sweep", "--seeds", seeds, "--json", path, *arguments, status=status)
        return json.loads(path.read_text())
