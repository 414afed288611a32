# ctest-labels: sanitize-long
"""Crashes: kill -9 of leaders, followers and whole clusters."""

import unittest

from process_case import ALL, EVERY, ProcessCase, expanded, over


@expanded
class Crash(ProcessCase):
    @over(EVERY)
    def test_a_killed_leader_is_replaced_before_its_lease_ends(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        old = cluster.wait_settled()
        epoch = old.view[1]
        killed_ns = old.kill()
        elected = cluster.wait_elected(killed_ns)
        self.assertNotEqual(elected["node"], old.id)
        self.assertGreater(elected["epoch"], epoch)
        self.assertLess(elected["ts_ns"] - killed_ns, cluster.timing.lease * 1e6 / 2)
        cluster.wait_leader()

    @over()
    def test_a_followers_crash_changes_nothing(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        leader = cluster.wait_settled()
        follower = next(node for node in cluster if node is not leader)
        follower.kill()
        follower.wait_exit()
        self.assert_unchanged(
            cluster, leader, cluster.timing.promise_s * 2, f"node {follower.id} crashed"
        )

    @over()
    def test_a_restarted_follower_rejoins_the_same_epoch(self, algorithm, n):
        cluster = self.cluster(n, algorithm, flags=["--no-preempt"]).start()
        leader = cluster.wait_settled()
        before = leader.view
        follower = max((node for node in cluster if node is not leader), key=lambda node: node.id)
        follower.kill()
        follower.restart()
        cluster.wait_for(lambda: follower.view == before, "the follower knows the leader again")
        self.assertIs(cluster.wait_settled(), leader)
        self.assertEqual(leader.view, before)
        self.assertEqual(len(cluster.leaderships()), 1)

    @over(EVERY)
    def test_thirty_random_kills_and_restarts(self, algorithm, n):
        draw = self.seeded()
        cluster = self.cluster(n, algorithm).start()
        cluster.wait_settled()
        rounds = 30 if ALL or (algorithm, n) in (("bully", 5), ("ring", 3)) else 10
        for _ in range(rounds):
            running = [node for node in cluster if node.running]
            dead = [node for node in cluster if not node.running]
            if dead and (len(running) <= cluster.quorum or draw.random() < 0.5):
                draw.choice(dead).restart()
            else:
                victim = cluster.leader() if draw.random() < 0.5 else None
                victim = victim or draw.choice(running)
                victim.kill()
                victim.wait_exit()
            if draw.random() < 0.7:
                cluster.wait_leader()
        for node in cluster:
            if not node.running:
                node.restart()
        cluster.wait_settled()

    @over()
    def test_all_killed_and_restarted_five_times(self, algorithm, n):
        """Each time the epoch is above all before."""
        cluster = self.cluster(n, algorithm).start()
        highest = cluster.wait_leader().view[1]
        for _ in range(5):
            for node in cluster:
                node.kill()
            for node in cluster:
                node.restart()
            epoch = cluster.wait_leader().view[1]
            self.assertGreater(epoch, highest)
            highest = epoch

    @over()
    def test_an_epoch_outlives_the_disks_of_all(self, algorithm, n):
        """Epochs begin above the wall clock, so they rise even when every disk is lost."""
        cluster = self.cluster(n, algorithm).start()
        before = cluster.wait_settled().view[1]
        for node in cluster:
            node.kill()
            node.wait_exit()
            for file in node.data_dir.iterdir():
                file.unlink()
        cluster.start()
        self.assertGreater(cluster.wait_leader().view[1], before)

    @over()
    def test_a_new_clusters_epochs_begin_at_one_if_asked(self, algorithm, n):
        cluster = self.cluster(n, algorithm, flags=["--first-epoch", "0"]).start()
        self.assertLess(cluster.wait_leader().view[1], 100)


@expanded
class ColdStart(ProcessCase):
    @over(EVERY)
    def test_the_highest_rank_leads_after_a_cold_start(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        self.assertEqual(cluster.wait_settled().id, n)

    @over()
    def test_a_priority_goes_before_the_id(self, algorithm, n):
        cluster = self.cluster(n, algorithm)
        cluster[2].flags = ["--priority", "10"]
        cluster[n].flags = ["--priority", "never"]
        cluster.start()
        self.assertEqual(cluster.wait_settled().id, 2)

    @over()
    def test_a_witness_votes_and_never_leads(self, algorithm, n):
        cluster = self.cluster(n, algorithm)
        cluster[n].flags = ["--priority", "never"]
        cluster.start()
        cluster.wait_settled()
        doomed = [node for node in cluster if node.id != n][: n - cluster.quorum]
        for node in doomed:
            node.kill()
            node.wait_exit()
        self.assertNotEqual(cluster.wait_leader().id, n)
        survivor = cluster.leader()
        survivor.kill()
        survivor.wait_exit()
        cluster.wait_no_leader()
        cluster.never(
            lambda: cluster[n].leads, "the witness leads", cluster.timing.promise_s
        )


if __name__ == "__main__":
    unittest.main()
