"""Leadership that is handed over: stops, resignations, preemption, rolling restarts."""

import concurrent.futures
import unittest

from process_case import EVERY, ProcessCase, expanded, now_ns, over

# A handover takes one round trip; this leaves room for a busy machine and none for a lost lease.
HANDOVER_MS_MAX = 150


@expanded
class Handover(ProcessCase):
    def gaps_ms(self, cluster):
        held = cluster.check_intervals()
        return [(b.start_ns - a.end_ns) / 1e6 for a, b in zip(held, held[1:])]

    @over(EVERY)
    def test_a_stopped_leader_hands_over(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        old = cluster.wait_settled()
        old.terminate()
        self.assertEqual(old.wait_exit(), 0)
        cluster.wait_leader()
        self.assertEqual(old.current.stream.of("deposed")[-1]["reason"], "stopped")
        self.assertEqual(len(old.current.stream.of("stopped")), 1)
        self.assertLess(max(self.gaps_ms(cluster)), HANDOVER_MS_MAX)

    @over()
    def test_a_rolling_restart_loses_the_leadership_for_no_longer_than_a_handover(
        self, algorithm, n
    ):
        cluster = self.cluster(n, algorithm, flags=["--no-preempt"]).start()
        cluster.wait_settled()
        for node in cluster:
            node.terminate()
            self.assertEqual(node.wait_exit(), 0)
            node.start()
            cluster.wait_settled()
        self.assertLess(max(self.gaps_ms(cluster)), HANDOVER_MS_MAX)
        for held in cluster.leaderships()[:-1]:
            self.assertNotIn("lease_expired", held.ended_by)

    @over(EVERY)
    def test_resign_to_a_chosen_successor(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        cluster.wait_settled()
        for successor in (1, 2, 1):
            done = cluster.resign("--to", str(successor))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(cluster.wait_leader().id, successor)
        self.assertLess(max(self.gaps_ms(cluster)), HANDOVER_MS_MAX)
        reasons = [event["reason"] for event in cluster.events() if event["event"] == "deposed"]
        self.assertEqual(reasons, ["resigned"] * 3)

    @over()
    def test_resign_without_a_name_chooses_the_highest_other(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        cluster.wait_settled()
        self.assertEqual(cluster.resign().returncode, 0)
        self.assertEqual(cluster.wait_leader().id, n - 1)

    @over()
    def test_resign_to_one_that_cannot_lead_is_refused(self, algorithm, n):
        cluster = self.cluster(n, algorithm)
        cluster[1].flags = ["--priority", "never"]
        cluster.start()
        leader = cluster.wait_settled()
        before = leader.view
        cluster[2].kill()
        cluster[2].wait_exit()
        for successor in ("1", "2"):
            refused = cluster.resign("--to", successor, "--timeout", "2s")
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn(successor, refused.stderr)
        self.assertEqual(leader.view, before)
        self.assertTrue(leader.leads)

    @over([("bully", 3), ("ring", 3)])
    def test_resign_waits_for_a_successor_as_long_as_it_was_told(self, algorithm, n):
        cluster = self.cluster(n, algorithm)
        cluster[1].flags = ["--priority", "never"]
        cluster.start()
        leader = cluster.wait_settled()
        successor = next(node for node in cluster if node not in (cluster[1], leader))
        successor.kill()
        successor.wait_exit()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            resign = pool.submit(cluster.command, "resign", "--timeout", "20s")
            cluster.never(resign.done, "it has given up, or found somebody", 0.5)
            successor.start()
            done = resign.result()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"node {successor.id} leads", done.stdout)

    @over()
    def test_resign_to_a_stranger_is_a_usage_error(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        cluster.wait_leader()
        refused = cluster.resign("--to", "99")
        self.assertIn(refused.returncode, (1, 2))
        self.assertIn("99", refused.stderr)

    @over()
    def test_a_resigned_leader_does_not_take_over_at_once(self, algorithm, n):
        """Preemption does not undo what a user asked for."""
        cluster = self.cluster(n, algorithm, flags=["--preempt", "--preempt-delay", "200ms"])
        cluster.start()
        old = cluster.wait_settled()
        self.assertEqual(cluster.resign("--to", "1").returncode, 0)
        # Two streams: the line of the one that leads may be read before that of the one that left.
        cluster.wait_for(lambda: cluster[1].leads and not old.leads, "the successor leads alone")
        cluster.never(lambda: old.leads, "the one that resigned leads again", 2.0)


@expanded
class Preemption(ProcessCase):
    @over()
    def test_a_better_node_takes_over_by_handover_where_it_may(self, algorithm, n):
        flags = ["--preempt", "--preempt-delay", "300ms"]
        cluster = self.cluster(n, algorithm, flags=flags).start()
        highest = cluster.wait_settled()
        highest.kill()
        highest.wait_exit()
        lower = cluster.wait_leader()
        asked_ns = now_ns()
        highest.start()
        elected = cluster.wait_elected(asked_ns)
        cluster.wait_leader()
        self.assertEqual(elected["node"], highest.id)
        deposed = lower.current.stream.of("deposed")[-1]
        self.assertEqual(deposed["reason"], "preempted")
        self.assertLess((elected["ts_ns"] - deposed["held_until_ns"]) / 1e6, HANDOVER_MS_MAX)

    @over()
    def test_a_better_node_waits_for_its_turn_where_it_may_not(self, algorithm, n):
        flags = ["--no-preempt", "--preempt-delay", "100ms"]
        cluster = self.cluster(n, algorithm, flags=flags).start()
        highest = cluster.wait_settled()
        highest.kill()
        highest.wait_exit()
        lower = cluster.wait_leader()
        highest.start()
        cluster.wait_settled()
        cluster.never(lambda: not lower.leads, "the lower leader is deposed", 1.0)


if __name__ == "__main__":
    unittest.main()
