# ctest-timeout: 5400
"""Every checker can fail: rules of the protocol are broken one by one, and the simulator notices.

All of them with BULLRING_TEST_ALL=1, else a part that changes with the commit."""

import subprocess
import sys
import unittest

from simulator import ALL, ROOT, commit_number

PARTS = 3


class Mutants(unittest.TestCase):
    def test_each_is_caught(self):
        part = "1/1" if ALL else f"{commit_number() % PARTS + 1}/{PARTS}"
        print(f"mutants {part}: python3 tests/mutants/run_mutants.py --part {part}", flush=True)
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "tests/mutants/run_mutants.py", "--part", part]
        )
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
