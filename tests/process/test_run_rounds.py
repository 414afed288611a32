"""Whatever is done to a leader, its guard and its command: never two commands at one time, and the
epochs that the commands see only rise. Ten rounds of each kind, forty with BULLRING_TEST_ALL.
"""
# ctest-timeout: 3600

import os
import signal
import unittest

from process_case import ALL, ProcessCase, expanded, over

from bullring_task import Family, Journal, alive, signal_all

FLAGS = ["--kill-after", "100ms", "--restart-delay", "20ms"]
COMBINATIONS = [("bully", 3), ("ring", 3)]


class Rounds(ProcessCase):
    """One cluster for all rounds of a kind; who was killed is started again."""

    rounds = 10

    def cluster_of(self, n, algorithm, *words):
        cluster = self.cluster(n, algorithm, profile="fast", judged=False)
        self.journal = Journal(cluster.directory)
        for node in cluster:
            node.flags = FLAGS
            node.task = self.journal.command(*words)
        # Two that run the command and a witness are the commonest small cluster.
        if algorithm == "bully":
            cluster[1].task, cluster[1].flags = None, ["--priority", "never"]
        cluster.start()
        cluster.wait_settled()
        return cluster

    def family(self, cluster):
        """The leader's processes, once its command is there."""

        def found():
            leader = cluster.agreed_leader()
            if leader is None or leader.task is None:
                return None
            family = Family(leader)
            began = [line[2] for line in self.journal.begun()]
            return (leader, family) if family.complete and family.command in began else None

        return cluster.wait_for(found, "a leader with its command")

    def judge(self):
        self.assertEqual([], self.journal.problems())

    def play(self, algorithm, n, attack, *words):
        """`attack` gets the leader and its family, and returns when its round is over."""
        cluster = self.cluster_of(n, algorithm, *words)
        for _ in range(self.rounds):
            leader, family = self.family(cluster)
            before = len(self.journal.begun())
            attack(cluster, leader, family)
            cluster.wait_for(lambda before=before: len(self.journal.begun()) > before, "the next")
            self.judge()
            for node in cluster:
                # One that has been asked to end may still be about to.
                if not node.current.expected_to_run:
                    node.wait_exit()
                    node.start()
        self.assertGreater(len(self.journal.begun()), self.rounds)


@expanded
class Attacks(Rounds):
    rounds = 20 if ALL else 5  # for each of two algorithms

    @over(COMBINATIONS)
    def test_kill_the_node(self, algorithm, n):
        self.play(algorithm, n, lambda cluster, leader, family: leader.kill(), "fork", "group")

    @over(COMBINATIONS)
    def test_stop_the_node(self, algorithm, n):
        def attack(cluster, leader, family):
            at_ns = leader.hang()
            cluster.wait_elected(at_ns)
            self.assertFalse(alive(family.command))
            leader.resume()

        self.play(algorithm, n, attack, "ignore")

    @over(COMBINATIONS)
    def test_kill_the_guard(self, algorithm, n):
        self.play(algorithm, n, lambda cluster, leader, family: signal_all([family.guard]), "fork")

    @over(COMBINATIONS)
    def test_kill_the_shield(self, algorithm, n):
        self.play(algorithm, n, lambda cluster, leader, family: signal_all([family.shield]), "fork")

    @over(COMBINATIONS)
    def test_stop_the_guard_and_hand_over(self, algorithm, n):
        def attack(cluster, leader, family):
            signal_all([family.guard], signal.SIGSTOP)
            self.assertEqual(cluster.resign("--timeout", "10s").returncode, 0)

        self.play(algorithm, n, attack, "fork")

    @over(COMBINATIONS)
    def test_stop_the_node_and_the_guard(self, algorithm, n):
        def attack(cluster, leader, family):
            signal_all([family.guard], signal.SIGSTOP)
            at_ns = leader.hang()
            cluster.wait_elected(at_ns)
            self.assertFalse(alive(family.command))
            leader.resume()

        self.play(algorithm, n, attack, "fork", "ignore")

    @over(COMBINATIONS)
    def test_kill_the_node_and_the_guard(self, algorithm, n):
        def attack(cluster, leader, family):
            leader.current.expected_to_run = False
            signal_all([family.node, family.guard])

        self.play(algorithm, n, attack, "fork", "group")

    @over(COMBINATIONS)
    def test_terminate_the_node(self, algorithm, n):
        self.play(algorithm, n, lambda cluster, leader, family: leader.terminate(), "fork")

    @over(COMBINATIONS)
    def test_a_command_that_ignores_sigterm(self, algorithm, n):
        self.play(algorithm, n, lambda cluster, leader, family: leader.terminate(), "ignore")

    @over(COMBINATIONS)
    def test_a_command_that_ends(self, algorithm, n):
        self.play(
            algorithm, n, lambda cluster, leader, family: signal_all([family.command]), "group"
        )


if __name__ == "__main__":
    unittest.main()
