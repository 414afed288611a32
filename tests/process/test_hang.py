"""Hangs (SIGSTOP) and lost majorities: a silent leader that nobody kills loses, and does not act
when it is back. Leaders that are killed: test_hang_after.py.
"""


import signal

import pytest
from harness.task import alive, signal_all, wait_family
from clusters import LONG, ON_EVERY, ON_USUAL, SOON_NS, assert_unchanged


pytestmark = pytest.mark.sanitize

LEFT_ALONE = ["--hang-after", "off"]


@ON_EVERY
def test_a_hung_leader_is_replaced_when_its_lease_is_over(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm, flags=LEFT_ALONE).settled()
    hung_ns = old.hang()
    elected = cluster.wait_elected(hung_ns)
    assert elected["node"] != old.id
    cluster.wait_leader()
    _returns_as_follower(cluster, old, elected)


def _returns_as_follower(cluster, old, elected):
    """The first thing that it does is to step down, from an instant before the new leader's."""
    before = len(old.current.stream.of("deposed"))
    old.resume()
    deposed = cluster.wait_for(
        lambda: old.current.stream.of("deposed")[before:], "the old leader steps down"
    )[0]
    assert deposed["held_until_ns"] <= elected["ts_ns"]
    assert deposed["reason"] in ("lease_expired", "stalled")
    assert cluster.wait_leader() is not None


@ON_USUAL
def test_a_hung_follower_changes_nothing(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--no-preempt"]).settled()
    follower = next(node for node in cluster if node is not leader)
    follower.hang()
    assert_unchanged(cluster, leader, cluster.timing.promise_s * 2, f"node {follower.id} hangs")
    follower.resume()
    cluster.wait_for(lambda: follower.view == leader.view, "it follows again")
    assert len(cluster.leaderships()) == 1


@ON_USUAL
def test_a_leader_killed_while_it_hangs(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm, flags=[*LEFT_ALONE, *LONG]).settled()
    old.hang()
    killed_ns = old.kill()
    elected = cluster.wait_elected(killed_ns)
    assert elected["ts_ns"] - killed_ns < SOON_NS
    cluster.wait_leader()


@ON_EVERY
def test_a_minority_is_silent_and_one_more_ends_that(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    doomed = [node for node in cluster if node is not leader][: n - cluster.quorum + 1]
    for node in doomed:
        node.kill()
    for node in doomed:
        node.wait_exit()
    deposed = cluster.wait_for(
        lambda: leader.current.stream.of("deposed"), "the leader without a majority steps down"
    )[-1]
    assert deposed["reason"] == "lease_expired"
    assert cluster.command("status").returncode == 1
    cluster.wait_no_leader()
    cluster.never(
        lambda: any(node.leads for node in cluster),
        "a leader without a majority",
        cluster.timing.promise_s * 2,
    )
    doomed[0].restart()
    cluster.wait_leader()


def test_all_but_the_command_stand_still(new_cluster):
    """Then nobody is left who could end it, as the manual says: the first that goes on does."""
    cluster = new_cluster(3, flags=[*LEFT_ALONE, "--lease", "3s", "--kill-after", "300ms"])
    for node in cluster:
        node.task = ["sleep", "1000"]
    old = cluster.start().wait_settled()
    family = wait_family(old)
    ending = [family.guard, family.shield]
    signal_all(ending, signal.SIGSTOP)
    old.hang()
    cluster.wait_for(lambda: any(node.leads for node in cluster if node is not old), "another")
    assert alive(family.command)
    signal_all([family.shield], signal.SIGCONT)
    cluster.wait_for(lambda: not alive(family.command), "the command is killed")
    signal_all([family.guard], signal.SIGCONT)
    old.resume()
    cluster.wait_for(lambda: not old.leads, "the old leader follows")
