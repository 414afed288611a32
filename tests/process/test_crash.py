"""Crashes: kill -9 of leaders, followers and whole clusters."""


import pytest
from clusters import LONG, ON_EVERY, ON_USUAL, SOON_NS, assert_unchanged, rounds


pytestmark = pytest.mark.sanitize_long


@ON_EVERY
def test_a_killed_leader_is_replaced_before_its_lease_ends(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm, flags=LONG).settled()
    epoch = old.view[1]
    killed_ns = old.kill()
    elected = cluster.wait_elected(killed_ns)
    assert elected["node"] != old.id
    assert elected["epoch"] > epoch
    assert elected["ts_ns"] - killed_ns < SOON_NS
    cluster.wait_leader()


@pytest.mark.parametrize("flags", [["--fast-release", "off"], ["--on-elected", "true"]])
def test_where_nothing_is_released_early_a_crash_costs_the_lease(new_cluster, flags):
    cluster, old = new_cluster(3, flags=["--lease", "2s", *flags]).settled()
    killed_ns = old.kill()
    elected = cluster.wait_elected(killed_ns)
    # The last renewal was a heartbeat ago at most.
    assert elected["ts_ns"] - killed_ns > 1.5e9


@ON_USUAL
def test_a_followers_crash_changes_nothing(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    follower = next(node for node in cluster if node is not leader)
    follower.crash()
    assert_unchanged(cluster, leader, cluster.timing.promise_s * 2, f"node {follower.id} crashed")


@ON_USUAL
def test_a_restarted_follower_rejoins_the_same_epoch(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--no-preempt"]).settled()
    before = leader.view
    follower = max((node for node in cluster if node is not leader), key=lambda node: node.id)
    follower.kill()
    follower.restart()
    cluster.wait_for(lambda: follower.view == before, "the follower knows the leader again")
    assert cluster.wait_settled() is leader
    assert leader.view == before
    assert len(cluster.leaderships()) == 1


@ON_EVERY
def test_thirty_random_kills_and_restarts(new_cluster, draw, algorithm, n):
    cluster, _ = new_cluster(n, algorithm).settled()
    for _ in rounds(30 if (algorithm, n) in (("bully", 5), ("ring", 3)) else 10, 30):
        running = [node for node in cluster if node.running]
        dead = [node for node in cluster if not node.running]
        if dead and (len(running) <= cluster.quorum or draw.random() < 0.5):
            draw.choice(dead).restart()
        else:
            victim = cluster.leader() if draw.random() < 0.5 else None
            victim = victim or draw.choice(running)
            victim.crash()
        if draw.random() < 0.7:
            cluster.wait_leader()
    for node in cluster:
        if not node.running:
            node.restart()
    cluster.wait_settled()


@ON_USUAL
def test_all_killed_and_restarted_five_times(new_cluster, algorithm, n):
    """Each time the epoch is above all before."""
    cluster = new_cluster(n, algorithm).start()
    highest = cluster.wait_leader().view[1]
    for _ in range(5):
        for node in cluster:
            node.kill()
        for node in cluster:
            node.restart()
        epoch = cluster.wait_leader().view[1]
        assert epoch > highest
        highest = epoch


@ON_USUAL
def test_an_epoch_outlives_the_disks_of_all(new_cluster, algorithm, n):
    """Epochs begin above the wall clock, so they rise even when every disk is lost."""
    cluster = new_cluster(n, algorithm).start()
    before = cluster.wait_settled().view[1]
    for node in cluster:
        node.crash()
        for file in node.data_dir.iterdir():
            file.unlink()
    cluster.start()
    assert cluster.wait_leader().view[1] > before


@ON_USUAL
def test_a_witness_votes_and_never_leads(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    cluster[n].flags = ["--priority", "never"]
    cluster.start().wait_settled()
    doomed = [node for node in cluster if node.id != n][: n - cluster.quorum]
    for node in doomed:
        node.crash()
    assert cluster.wait_leader().id != n
    survivor = cluster.leader()
    survivor.crash()
    cluster.wait_no_leader()
    cluster.never(lambda: cluster[n].leads, "the witness leads", cluster.timing.promise_s)
