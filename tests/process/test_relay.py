"""Partitions through a relay that can be cut, so that no privilege is needed."""

import unittest

from process_case import ProcessCase, Relay, expanded, over


class Relayed(ProcessCase):
    def relayed(self, n, algorithm, flags=(), judged=True):
        """Each node dials the others through the relay, which ends sessions of its own accord."""
        cluster = self.cluster(n, algorithm, judged, flags=["--fast-release", "off", *flags])
        relay = Relay()
        self.addCleanup(relay.close)
        for node in cluster:
            node.peers = ",".join(
                f"{peer.id}=127.0.0.1:"
                + str(peer.port if peer is node else relay.add((node.id, peer.id), peer.port))
                for peer in cluster
            )
        return cluster.start(), relay

    @staticmethod
    def between(one_side, other_side):
        return [(a, b) for a in one_side for b in other_side] + [
            (b, a) for a in one_side for b in other_side
        ]


@expanded
class Majority(Relayed):
    @over()
    def test_the_side_without_a_majority_is_silent(self, algorithm, n):
        cluster, relay = self.relayed(n, algorithm, ["--no-preempt"])
        old = cluster.wait_settled()
        few = [old.id] + [i for i in cluster.nodes if i != old.id][: n - cluster.quorum - 1]
        many = [i for i in cluster.nodes if i not in few]
        relay.cut(self.between(few, many))
        cluster.wait_for(
            lambda: [i for i in many if cluster[i].leads], "the majority has a leader"
        )
        new = cluster.wait_leader(among=many)
        cluster.never(
            lambda: any(cluster[i].leads for i in few), "the minority leads",
            cluster.timing.promise_s * 2,
        )  # fmt: skip
        relay.heal()
        cluster.wait_for(lambda: all(node.view == new.view for node in cluster), "all follow it")

    @over()
    def test_a_proxy_that_ends_sessions_costs_no_leadership(self, algorithm, n):
        """Sessions that end by FIN or RST while the leader lives release nothing."""
        cluster, relay = self.relayed(n, algorithm, ["--no-preempt"])
        leader = cluster.wait_settled()
        for _ in range(3):
            relay.drop_all()
            self.assert_unchanged_epoch(cluster, leader)
        self.assertEqual(len(cluster.leaderships()), 1)

    def assert_unchanged_epoch(self, cluster, leader):
        before = leader.view
        cluster.never(
            lambda: leader.view != before or not leader.leads, "the leader loses its epoch",
            cluster.timing.promise_s,
        )  # fmt: skip


@expanded
class Textbook(Relayed):
    @over()
    def test_a_leader_on_each_side_and_the_higher_stays(self, algorithm, n):
        cluster, relay = self.relayed(n, algorithm, ["--quorum", "none"], judged=False)
        cluster.wait_leader()
        self.assertEqual(cluster.leader().id, n)
        few, many = [n], list(range(1, n))
        relay.cut(self.between(few, many))
        cluster.wait_for(lambda: cluster[n].leads and cluster[n - 1].leads, "a leader on each side")
        relay.heal()
        self.assertEqual(cluster.wait_leader().id, n)
        deposed = cluster[n - 1].current.stream.of("deposed")[-1]
        self.assertEqual(deposed["reason"], "higher_rank")

    @over()
    def test_a_crash_and_a_return(self, algorithm, n):
        """A node that comes back with the highest ID takes over in Bully; in Ring it joins."""
        cluster = self.cluster(n, algorithm, judged=False, flags=["--quorum", "none"]).start()
        cluster.wait_leader()
        highest = cluster[n]
        highest.kill()
        highest.wait_exit()
        self.assertEqual(cluster.wait_leader().id, n - 1)
        highest.start()
        cluster.wait_for(lambda: highest.view[0] is not None, "it knows a leader")
        self.assertEqual(cluster.wait_leader().id, n if algorithm == "bully" else n - 1)

    @over()
    def test_nobody_needs_a_majority(self, algorithm, n):
        cluster = self.cluster(n, algorithm, judged=False, flags=["--quorum", "none"]).start()
        cluster.wait_leader()
        for node in list(cluster)[1:]:
            node.kill()
            node.wait_exit()
        self.assertEqual(cluster.wait_leader().id, 1)


if __name__ == "__main__":
    unittest.main()
