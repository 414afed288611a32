"""Restarts: what a node asks the others, instead of waiting until its promises are over."""

import pytest
from clusters import LONG, ON_USUAL, assert_unchanged, on_both, rounds

from harness.cluster import now_ns

pytestmark = pytest.mark.sanitize_long


def restart_of_all(cluster):
    """Kills and restarts all; the election, and how long after the last start it came."""
    for node in cluster:
        node.kill()
    for node in cluster:
        node.wait_exit()
    began_ns = now_ns()
    cluster.start()
    elected = cluster.wait_elected(began_ns)
    last_ns = max(node.current.stream.of("started")[0]["ts_ns"] for node in cluster)
    return elected, (elected["ts_ns"] - last_ns) / 1e9


@on_both(3)
def test_a_voter_restarts_again_and_again_while_another_is_down(new_cluster, algorithm, n):
    """The leader keeps its epoch: the voter votes again before the lease that needs it ends."""
    cluster, leader = new_cluster(n, algorithm, flags=["--no-preempt", *LONG]).settled()
    before = leader.view
    down, voter = (node for node in cluster if node is not leader)
    down.crash()
    for _ in rounds(20, 200):
        voter.crash()
        voter.start()
        cluster.wait_settled()
        assert leader.view == before
    assert len(cluster.leaderships()) == 1


@ON_USUAL
def test_a_first_start_waits_for_nothing_when_all_are_there(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=LONG)
    began_ns = now_ns()
    cluster.start()
    elected = cluster.wait_elected(began_ns)
    assert elected["node"] == n
    last_ns = max(node.current.stream.of("started")[0]["ts_ns"] for node in cluster)
    assert elected["ts_ns"] - last_ns < 4e9


def test_a_crash_soon_after_the_restart_of_a_voter_waits_for_its_promise(new_cluster):
    """A promise of an earlier run is tied to no session: no FIN ends it."""
    cluster, leader = new_cluster(3, flags=[*LONG, "--no-preempt"]).settled()
    voter = next(node for node in cluster if node is not leader)
    voter.crash()
    back_ns = now_ns()
    voter.start()
    cluster.wait_settled()
    killed_ns = leader.kill()
    elected = cluster.wait_elected(killed_ns)
    assert killed_ns + 1e9 < elected["ts_ns"] < back_ns + 6e9


@ON_USUAL
@pytest.mark.limit(1200)
def test_all_restart_without_a_wait(new_cluster, algorithm, n):
    """1,000 times in all, with both algorithms and both sizes, if there is time for it."""
    cluster = new_cluster(n, algorithm, flags=LONG).start()
    epoch = cluster.wait_settled().view[1]
    for _ in rounds(5, 250):
        elected, took_s = restart_of_all(cluster)
        assert took_s < 4
        assert elected["epoch"] > epoch
        cluster.wait_settled()
        epoch = cluster.leader().view[1]


@on_both(3)
def test_with_a_member_missing_a_restart_waits_for_its_promises(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm, flags=["--lease", "2s"]).settled()
    for node in cluster:
        node.kill()
    for node in cluster:
        node.wait_exit()
    began_ns = now_ns()
    cluster.start([1, 2])
    elected = cluster.wait_elected(began_ns)
    first_ns = min(cluster[i].current.stream.of("started")[0]["ts_ns"] for i in (1, 2))
    assert elected["ts_ns"] - first_ns > 1.9e9


@on_both(3)
def test_a_node_with_hooks_waits_although_all_answer(new_cluster, algorithm, n):
    """A hook of before holds no lock, and may still act under its lease."""
    hooks = ["--lease", "2s", "--on-elected", "true"]
    cluster, _ = new_cluster(n, algorithm, flags=hooks).settled()
    _, took_s = restart_of_all(cluster)
    assert took_s > 1.5


@ON_USUAL
def test_a_rolling_restart_of_the_followers_costs_no_leader(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--no-preempt", "--lease", "3s"]).settled()
    before = leader.view
    for node in cluster:
        if node is leader:
            continue
        node.stop()
        node.start()
        assert cluster.wait_settled() is leader
    assert leader.view == before
    assert_unchanged(cluster, leader, cluster.timing.promise_s, "all followers have restarted")
