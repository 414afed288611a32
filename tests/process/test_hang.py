# ctest-labels: sanitize
"""Hangs (SIGSTOP) and lost majorities: who is silent must lose, and must not act when it is back."""

import unittest

from process_case import EVERY, ProcessCase, expanded, over


@expanded
class Hang(ProcessCase):
    @over(EVERY)
    def test_a_hung_leader_is_replaced_when_its_lease_is_over(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        old = cluster.wait_settled()
        hung_ns = old.hang()
        elected = cluster.wait_elected(hung_ns)
        self.assertNotEqual(elected["node"], old.id)
        cluster.wait_leader()
        self._returns_as_follower(cluster, old, elected)

    def _returns_as_follower(self, cluster, old, elected):
        """The first thing that it does is to step down, from an instant before the new leader's."""
        before = len(old.current.stream.of("deposed"))
        old.resume()
        deposed = cluster.wait_for(
            lambda: old.current.stream.of("deposed")[before:], "the old leader steps down"
        )[0]
        self.assertLessEqual(deposed["held_until_ns"], elected["ts_ns"])
        self.assertIn(deposed["reason"], ("lease_expired", "stalled"))
        self.assertIsNotNone(cluster.wait_leader())

    @over()
    def test_hung_again_and_again(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        for _ in range(3):
            old = cluster.wait_settled()
            elected = cluster.wait_elected(old.hang())
            cluster.wait_leader()
            self._returns_as_follower(cluster, old, elected)

    @over()
    def test_a_hung_follower_changes_nothing(self, algorithm, n):
        cluster = self.cluster(n, algorithm, flags=["--no-preempt"]).start()
        leader = cluster.wait_settled()
        follower = next(node for node in cluster if node is not leader)
        follower.hang()
        self.assert_unchanged(
            cluster, leader, cluster.timing.promise_s * 2, f"node {follower.id} hangs"
        )
        follower.resume()
        cluster.wait_for(lambda: follower.view == leader.view, "it follows again")
        self.assertEqual(len(cluster.leaderships()), 1)

    @over()
    def test_a_leader_killed_while_it_hangs(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        old = cluster.wait_settled()
        old.hang()
        killed_ns = old.kill()
        elected = cluster.wait_elected(killed_ns)
        self.assertLess(elected["ts_ns"] - killed_ns, cluster.timing.lease * 1e6 / 2)
        cluster.wait_leader()


@expanded
class NoMajority(ProcessCase):
    @over(EVERY)
    def test_a_minority_is_silent_and_one_more_ends_that(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        leader = cluster.wait_settled()
        doomed = [node for node in cluster if node is not leader][: n - cluster.quorum + 1]
        for node in doomed:
            node.kill()
        for node in doomed:
            node.wait_exit()
        deposed = cluster.wait_for(
            lambda: leader.current.stream.of("deposed"), "the leader without a majority steps down"
        )[-1]
        self.assertEqual(deposed["reason"], "lease_expired")
        self.assertEqual(cluster.command("status").returncode, 1)
        cluster.wait_no_leader()
        cluster.never(
            lambda: any(node.leads for node in cluster), "a leader without a majority",
            cluster.timing.promise_s * 2,
        )  # fmt: skip
        doomed[0].restart()
        cluster.wait_leader()


if __name__ == "__main__":
    unittest.main()
