# ctest-labels: long
# ctest-timeout: 900
"""200 watchers leave an election as fast as none, within 20 %."""

import random
import statistics
import subprocess
import time
import unittest

from process_case import ProcessCase, expanded, over

WATCHERS = 200
ROUNDS = 15
# An election is over by then; nothing reads a file before, for on two cores that would be measured.
UNDISTURBED_S = 0.004


@expanded
class Watchers(ProcessCase):
    def elections_ms(self, cluster):
        took = []
        for _ in range(ROUNDS):
            leader = cluster.wait_settled()
            # At a random phase of the heartbeats, when the watchers have told the change before.
            time.sleep(random.uniform(0.05, 0.15))  # pause: the phase is part of what is measured
            killed_ns = leader.kill()
            time.sleep(UNDISTURBED_S)  # pause: nothing may run beside the election
            took.append((cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6)
            leader.restart()
        cluster.wait_settled()
        return took

    def start_watchers(self, cluster):
        watchers = [
            subprocess.Popen(
                [cluster.program, "watch", "--peers", f"1={cluster[1].address}"],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=cluster.environment,
            )
            for _ in range(WATCHERS)
        ]  # fmt: skip
        self.addCleanup(end_all, watchers)
        for watcher in watchers:
            self.assertIn(b"leader", watcher.stdout.readline())
        return watchers

    @over([("bully", 5), ("ring", 5)])
    def test_an_election_is_as_fast_as_without_them(self, algorithm, n):
        """All watch the lowest node, which is never killed here, so that they stay connected. The
        rounds with and without them alternate, because a shared machine has its moods."""
        cluster = self.cluster(n, algorithm)
        cluster[1].flags = ["--priority", "never"]
        cluster.start()
        alone, watched = [], []
        for _ in range(6):
            alone += self.elections_ms(cluster)
            watchers = self.start_watchers(cluster)
            watched += self.elections_ms(cluster)
            self.assertTrue(all(watcher.poll() is None for watcher in watchers))
            end_all(watchers)
        without, beside = statistics.median(alone), statistics.median(watched)
        print(
            f"{algorithm}, {n} nodes: median {without:.3f} ms alone, {beside:.3f} ms with "
            f"{WATCHERS} watchers, {beside / without:.2f} times; {len(alone)} elections each"
        )
        self.assertLessEqual(beside, without * 1.2)


def end_all(watchers):
    for watcher in watchers:
        watcher.kill()
        watcher.wait()
        watcher.stdout.close()


if __name__ == "__main__":
    unittest.main()
