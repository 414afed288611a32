"""Attacks on a leader, its guard and its command: never two commands at one time, and the epochs
that the commands see only rise. Ten rounds of each kind, forty with BULLRING_TEST_ALL.
"""

import signal

import pytest
from harness.task import alive, signal_all
from clusters import on_both

UNWATCHED = ["--hang-after", "off"]

pytestmark = [pytest.mark.limit(3600), on_both(3)]


def test_kill_the_node(play):
    play(lambda cluster, leader, family: leader.kill(), "fork", "group")


def _stop_for_good(cluster, leader, family):
    """Its keeper kills the node, or its guard when that has had to end the command."""
    at_ns = leader.hang_for_good()
    cluster.wait_elected(at_ns)
    assert not alive(family.command)


def test_stop_the_node(play):
    play(_stop_for_good, "ignore")


def test_stop_a_node_without_a_keeper(play):
    play(_stop_for_good, "ignore", flags=UNWATCHED)


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

    play(attack, "fork", "ignore", flags=UNWATCHED)


def test_kill_the_node_and_the_guard(play):
    def attack(cluster, leader, family):
        leader.current.expected_to_run = False
        signal_all([family.guard, family.node])

    play(attack, "fork", "group")


def test_terminate_the_node(play):
    play(lambda cluster, leader, family: leader.terminate(), "fork")


def test_a_command_that_ignores_sigterm(play):
    play(lambda cluster, leader, family: leader.terminate(), "ignore")


def test_a_command_that_ends(play):
    play(lambda cluster, leader, family: signal_all([family.command]), "group")
