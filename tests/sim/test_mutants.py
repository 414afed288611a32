# ctest-labels: long
# ctest-timeout: 5400
"""Every checker can fail: each rule of the protocol is broken once, and the simulator notices."""

import subprocess
import sys
import unittest

from simulator import ROOT


class Mutants(unittest.TestCase):
    def test_each_is_caught(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "tests/mutants/run_mutants.py"])
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
