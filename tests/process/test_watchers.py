# ctest-labels: long
# ctest-timeout: 900
"""200 watchers leave an election as fast as none, within 20 %."""

import statistics
import subprocess
import unittest

from process_case import ProcessCase, expanded, over

WATCHERS = 200
ROUNDS = 30


@expanded
class Watchers(ProcessCase):
    def median_ms(self, cluster):
        took = []
        for _ in range(ROUNDS):
            leader = cluster.wait_settled()
            killed_ns = leader.kill()
            took.append((cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6)
            leader.restart()
        cluster.wait_settled()
        return statistics.median(took)

    @over([("bully", 5), ("ring", 5)])
    def test_an_election_is_as_fast_as_without_them(self, algorithm, n):
        """All watch the lowest node, which is never killed here, so that they stay connected."""
        cluster = self.cluster(n, algorithm)
        cluster[1].flags = ["--priority", "never"]
        cluster.start()
        alone = self.median_ms(cluster)
        watching = [
            subprocess.Popen(
                [cluster.program, "watch", "--peers", f"1={cluster[1].address}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=cluster.environment,
            )
            for _ in range(WATCHERS)
        ]  # fmt: skip
        self.addCleanup(lambda: [(watcher.kill(), watcher.wait()) for watcher in watching])
        watched = self.median_ms(cluster)
        print(f"median {alone:.3f} ms alone, {watched:.3f} ms with {WATCHERS} watchers")
        self.assertTrue(all(watcher.poll() is None for watcher in watching))
        self.assertLessEqual(watched, alone * 1.2 + 0.05)


if __name__ == "__main__":
    unittest.main()
