"""A node that is the first process of a container: of a PID namespace of its own."""

import os
import signal

import pytest
from harness.events import now_ns
from harness.task import alive, child_named, children
from clusters import LONG, replaced_soon
from harness.pid_namespace import IN_NAMESPACE, needs_namespace
from secured import KEY

pytestmark = [pytest.mark.beside, needs_namespace]


class Inside:
    """The processes of a node's container, by their numbers out here."""

    def __init__(self, node):
        self.first = child_named(node.current.process.pid, "bullring-init")
        self.node = child_named(self.first, "bullring") if self.first else None


@pytest.fixture
def contained(secured):
    """Where notices count, each node in a container."""

    def make(n=3, flags=()):
        cluster = secured(KEY, n=n, flags=[*LONG, *flags]).cluster
        for node in cluster:
            node.prefix = IN_NAMESPACE
        return cluster

    return make


def strike(node, number, pid):
    """A signal to one process in there; the clock just before it."""
    node.current.expected_to_run = False
    at_ns = now_ns()
    os.kill(pid, number)
    return at_ns


def test_a_killed_node_is_replaced_before_its_lease_ends(contained):
    cluster, leader = contained().settled()
    killed_ns = strike(leader, signal.SIGKILL, Inside(leader).node)
    assert replaced_soon(cluster, killed_ns)
    assert leader.wait_exit() == 128 + signal.SIGKILL


def test_it_hands_over_when_the_container_is_stopped(contained):
    cluster, leader = contained().settled()
    stopped_ns = strike(leader, signal.SIGTERM, Inside(leader).first)
    assert replaced_soon(cluster, stopped_ns)
    assert leader.wait_exit() == 0
    assert leader.current.stream.of("deposed")[-1]["reason"] == "stopped"


def test_the_container_ends_when_nothing_of_the_command_is_left(contained, journal):
    cluster = contained()
    for node in cluster:
        node.task = journal.command("fork", "ignore")
        node.flags = ["--kill-after", "100ms"]
    leader = cluster.start().wait_settled()
    cluster.wait_for(journal.begun, "its command")
    killed_ns = strike(leader, signal.SIGKILL, Inside(leader).node)
    assert replaced_soon(cluster, killed_ns)
    assert leader.wait_exit() == 128 + signal.SIGKILL
    cluster.wait_for(lambda: len(journal.begun()) > 1, "the next one's command")


def test_who_asks_it_to_end_does_not_wait_for_what_is_left(contained):
    """A process that a hook has left running has ten seconds at most."""
    cluster, leader = contained(flags=["--on-elected", "sleep 600 &"]).settled()
    inside = Inside(leader)
    left = cluster.wait_for(
        lambda: child_named(inside.first, "sleep"), "what its hook has left is the first's child"
    )
    strike(leader, signal.SIGKILL, inside.node)
    cluster.wait_for(lambda: not alive(inside.node), "the node has ended")
    assert alive(inside.first) and alive(left)
    os.kill(inside.first, signal.SIGTERM)
    assert leader.wait_exit(5) == 128 + signal.SIGKILL


def test_it_collects_orphans(contained):
    cluster, leader = contained(flags=["--on-change", "sleep 0.05 & sleep 0.05 &"]).settled()
    first = Inside(leader).first
    cluster.wait_for(
        lambda: not [pid for pid in _all_children(first) if not alive(pid)], "no zombie is left"
    )
    assert leader.leads


def _all_children(pid):
    """Zombies, too."""
    listed = open(f"/proc/{pid}/task/{pid}/children").read().split()
    return [int(child) for child in listed]


def test_outside_of_a_container_there_is_no_more_than_the_node(contained):
    cluster = contained()
    for node in cluster:
        node.prefix = []
    leader = cluster.start().wait_settled()
    assert set(children(leader.current.process.pid).values()) == {
        "bullring-notice",
        "bullring-keeper",
    }
