"""Whatever is done to a leader, its guard and its command: never two commands at one time, and the
epochs that the commands see only rise. Ten rounds of each kind, forty with BULLRING_TEST_ALL.
"""

import signal

import pytest
from bullring_task import alive, signal_all
from clusters import on_both

pytestmark = [pytest.mark.limit(3600), on_both(3)]


def test_kill_the_node(play):
    play(lambda cluster, leader, family: leader.kill(), "fork", "group")


def test_stop_the_node(play):
    def attack(cluster, leader, family):
        at_ns = leader.hang()
        cluster.wait_elected(at_ns)
        assert not alive(family.command)
        leader.resume()

    play(attack, "ignore")


def test_kill_the_guard(play):
    play(lambda cluster, leader, family: signal_all([family.guard]), "fork")


def test_kill_the_shield(play):
    play(lambda cluster, leader, family: signal_all([family.shield]), "fork")


def test_stop_the_guard_and_hand_over(play):
    def attack(cluster, leader, family):
        signal_all([family.guard], signal.SIGSTOP)
        assert cluster.resign("--timeout", "10s").returncode == 0

    play(attack, "fork")


def test_stop_the_node_and_the_guard(play):
    def attack(cluster, leader, family):
        signal_all([family.guard], signal.SIGSTOP)
        at_ns = leader.hang()
        cluster.wait_elected(at_ns)
        assert not alive(family.command)
        leader.resume()

    play(attack, "fork", "ignore")


def test_kill_the_node_and_the_guard(play):
    def attack(cluster, leader, family):
        leader.current.expected_to_run = False
        signal_all([family.node, family.guard])

    play(attack, "fork", "group")


def test_terminate_the_node(play):
    play(lambda cluster, leader, family: leader.terminate(), "fork")


def test_a_command_that_ignores_sigterm(play):
    play(lambda cluster, leader, family: leader.terminate(), "ignore")


def test_a_command_that_ends(play):
    play(lambda cluster, leader, family: signal_all([family.command]), "group")
