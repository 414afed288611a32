"""What the tests of real processes share: clusters that are judged and cleaned up, and seeds.

Every cluster that a test makes is checked at the end of the test: no two leaderships overlap, and
epochs rise with time.
"""

import os
import pathlib
import random
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

from bullring_cluster import DEADLINE, Cluster, ClusterError, find_program, now_ns  # noqa: E402
from bullring_net import PortHolder, Relay  # noqa: E402

__all__ = [
    "ALL", "DEADLINE", "Cluster", "ClusterError", "PortHolder", "ProcessCase", "Relay", "expanded",
    "find_program", "now_ns", "over",
]  # fmt: skip

ALL = os.environ.get("BULLRING_TEST_ALL", "") not in ("", "0")
EVERY = [("bully", 3), ("bully", 5), ("ring", 3), ("ring", 5)]
USUAL = EVERY if ALL else [("bully", 5), ("ring", 3)]


def over(combinations=None):
    """Marks a test method that takes (algorithm, n): one test for each combination."""

    def mark(method):
        method.combinations = combinations or USUAL
        return method

    return mark


def expanded(case):
    """Replaces each marked method of a class by one test for each of its combinations."""
    for name, method in list(vars(case).items()):
        if not hasattr(method, "combinations"):
            continue
        delattr(case, name)
        for algorithm, n in method.combinations:

            def test(self, method=method, algorithm=algorithm, n=n):
                method(self, algorithm, n)

            test.__doc__ = method.__doc__
            setattr(case, f"{name}_{algorithm}_{n}", test)
    return case


class ProcessCase(unittest.TestCase):
    def run(self, result=None):
        self._result = result
        self._failed_before = self._failures()
        return super().run(result)

    def _failures(self):
        if self._result is None:
            return 0
        return len(self._result.failures) + len(self._result.errors)

    def cluster(self, n, algorithm="bully", judged=True, **options):
        """A cluster that is checked and closed when the test ends; its files stay if it failed."""
        made = Cluster(n, algorithm, label=f"{algorithm}-{n}", **options)
        self.addCleanup(self._finish, made, judged)
        return made

    def _finish(self, cluster, judged):
        try:
            if judged and self._failures() == self._failed_before:
                cluster.check_intervals()
        except BaseException:
            self._close(cluster, failed=True)
            raise
        self._close(cluster, failed=self._failures() > self._failed_before)

    @staticmethod
    def _close(cluster, failed):
        cluster.close(keep_files=failed)
        if failed:
            print(f"\nlogs and event streams are kept in {cluster.directory}", file=sys.stderr)

    def seeded(self):
        """A generator whose seed is printed, with the command that runs this test again."""
        seed = int(os.environ.get("BULLRING_SEED", random.SystemRandom().randrange(1 << 32)))
        module = pathlib.Path(sys.modules[type(self).__module__].__file__).stem
        name = f"{module}.{type(self).__name__}.{self._testMethodName}"
        print(
            f"\nseed {seed}; again: (cd tests/process && BULLRING_SEED={seed}"
            f" python3 -m unittest {name})",
            file=sys.stderr,
        )
        return random.Random(seed)

    def assert_unchanged(self, cluster, leader, during, what):
        """The leader leads on in its epoch, and every acting node says so all the time."""
        before = leader.view
        cluster.never(
            lambda: any(node.view != before for node in cluster.acting) or not leader.leads,
            f"{what}: node {leader.id} loses epoch {before[1]}", during,
        )  # fmt: skip
