# ctest-processors: 1
"""Peers that do not belong together refuse each other, and say so once on both sides."""

import shutil
import unittest

from process_case import Cluster, ProcessCase, expanded, over


@expanded
class Refusals(ProcessCase):
    def odd_one(self, cluster, odd, words, flags=(), peers=None):
        """Brings `odd` back as another; it and the others must refuse each other, in words."""
        others = [node for node in cluster if node is not odd]
        cluster.start()
        cluster.wait_settled()
        odd.kill()
        odd.wait_exit()
        shutil.rmtree(odd.data_dir)
        leader = cluster.wait_leader()
        odd.peers = peers
        odd.start(flags)

        def told():
            return all(self._lines(node, words) for node in cluster)

        cluster.wait_for(told, f"all say that {words} differ")
        self.assert_unchanged(cluster_without(cluster, odd), leader, 2.0, "an odd node is there")
        for node in others:
            self.assertEqual(len(self._lines(node, words)), 1, node.current.log())
        self.assertEqual(len(self._lines(odd, words)), len(others), odd.current.log())
        if "none" not in words:  # The textbook's algorithm elects itself where it is alone.
            self.assertFalse(odd.current.stream.of("elected"))
        self.assertFalse(odd.current.stream.of("peer_up"))
        self.assertTrue(odd.running)

    @staticmethod
    def _lines(node, words):
        lines = node.current.log().lower().splitlines()
        return [line for line in lines if "refused" in line and all(w in line for w in words)]

    @over()
    def test_the_other_algorithm(self, algorithm, n):
        cluster = self.cluster(n, algorithm)
        odd = cluster[n]
        other = {"bully": "ring", "ring": "bully"}[algorithm]
        self.odd_one(cluster, odd, ["algorithm", "bully", "ring"], ["--algorithm", other])

    @over()
    def test_another_cluster_name(self, algorithm, n):
        cluster = self.cluster(n, algorithm, name="accounts")
        self.odd_one(cluster, cluster[n], ["accounts", "billing"], ["--cluster", "billing"])

    @over()
    def test_another_quorum_mode(self, algorithm, n):
        cluster = self.cluster(n, algorithm, judged=False)
        self.odd_one(cluster, cluster[n], ["quorum", "majority", "none"], ["--quorum", "none"])

    @over()
    def test_another_member_set(self, algorithm, n):
        cluster = self.cluster(n, algorithm)
        more = cluster.peers + f",77=127.0.0.1:{cluster.ports.take()}"
        self.odd_one(cluster, cluster[n], ["77"], peers=more)

    @over()
    def test_a_second_process_with_the_same_id(self, algorithm, n):
        """It cannot vote and cannot lead; the first goes on as before."""
        cluster = self.cluster(n, algorithm).start()
        leader = cluster.wait_settled()
        for twin_of in (leader.id, 1):
            twin = self._twin(cluster, twin_of)
            cluster.wait_for(
                lambda twin=twin: len(twin[twin_of].current.log().splitlines()) > 0,
                "the twin says something",
            )
            self.assert_unchanged(cluster, leader, 1.5, f"a second node {twin_of} is there")
            twin.poll()
            self.assertFalse(twin[twin_of].current.stream.of("elected"))
            twin.close()

    def _twin(self, cluster, node_id):
        twin = Cluster(
            cluster.size, cluster.algorithm, name=cluster.name, label="twin",
            hosts={node.id: (node.host, node.port) for node in cluster if node.id != node_id},
        )  # fmt: skip
        self.addCleanup(twin.close)
        twin[node_id].start()
        return twin


def cluster_without(cluster, odd):
    """The cluster as assert_unchanged sees it, without what the odd node says."""

    class Rest:
        never = cluster.never

        @property
        def acting(self):
            return [node for node in cluster.acting if node is not odd]

    return Rest()


if __name__ == "__main__":
    unittest.main()
