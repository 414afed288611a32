# ctest-processors: 1
"""A mutant that no longer applies to the sources tests nothing."""

import subprocess
import sys
import unittest

from simulator import ROOT


class Mutants(unittest.TestCase):
    def test_each_applies_and_is_taken_back(self):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "tests/mutants/run_mutants.py", "--apply-only"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)
        count = len(list((ROOT / "tests" / "mutants").glob("*.patch")))
        self.assertGreater(count, 40)
        self.assertIn(f"{count} of {count} mutants apply", done.stdout)


if __name__ == "__main__":
    unittest.main()
