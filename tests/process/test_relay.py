"""Partitions through a relay that can be cut, so that no privilege is needed."""

import contextlib

import pytest
from harness.net import Relay
from clusters import ON_USUAL, TEXTBOOK


@pytest.fixture
def relayed(new_cluster):
    """Each node dials the others through a relay, which ends sessions of its own accord."""
    with contextlib.ExitStack() as made:

        def make(n, algorithm, flags=(), unjudged=None):
            cluster = new_cluster(n, algorithm, unjudged, flags=["--fast-release", "off", *flags])
            relay = Relay()
            made.callback(relay.close)
            relay.put_between(cluster)
            return cluster.start(), relay

        yield make


def between(one_side, other_side):
    return [(a, b) for a in one_side for b in other_side] + [
        (b, a) for a in one_side for b in other_side
    ]


@ON_USUAL
def test_the_side_without_a_majority_is_silent(relayed, algorithm, n):
    cluster, relay = relayed(n, algorithm, ["--no-preempt"])
    old = cluster.wait_settled()
    few = [old.id] + [i for i in cluster.nodes if i != old.id][: n - cluster.quorum - 1]
    many = [i for i in cluster.nodes if i not in few]
    relay.cut(between(few, many))
    cluster.wait_for(lambda: [i for i in many if cluster[i].leads], "the majority has a leader")
    new = cluster.wait_leader(among=many)
    # Its lease was over before, which the audit judges; a busy machine lets it tell that later.
    cluster.wait_for(lambda: not any(cluster[i].leads for i in few), "the old leader says so")
    cluster.never(
        lambda: any(cluster[i].leads for i in few),
        "the minority leads",
        cluster.timing.promise_s * 2,
    )
    relay.heal()
    cluster.wait_for(lambda: all(node.view == new.view for node in cluster), "all follow it")


@ON_USUAL
def test_a_proxy_that_ends_sessions_costs_no_leadership(relayed, algorithm, n):
    """Sessions that end by FIN or RST while the leader lives release nothing."""
    cluster, relay = relayed(n, algorithm, ["--no-preempt"])
    leader = cluster.wait_settled()
    for _ in range(3):
        relay.drop_all()
        assert_unchanged_epoch(cluster, leader)
    assert len(cluster.leaderships()) == 1


def assert_unchanged_epoch(cluster, leader):
    before = leader.view
    cluster.never(
        lambda: leader.view != before or not leader.leads,
        "the leader loses its epoch",
        cluster.timing.promise_s,
    )


@ON_USUAL
def test_a_leader_on_each_side_and_the_higher_stays(relayed, algorithm, n):
    cluster, relay = relayed(n, algorithm, ["--quorum", "none"], unjudged=TEXTBOOK)
    cluster.wait_leader()  # in a ring whoever was there first
    few, many = [n], list(range(1, n))
    relay.cut(between(few, many))

    def on_each_side():
        others = [cluster[i] for i in many if cluster[i].leads]
        return others[0] if cluster[n].leads and others else None

    lower = cluster.wait_for(on_each_side, "a leader on each side")
    relay.heal()
    cluster.wait_for(lambda: cluster.agreed_leader() is cluster[n], "the higher one leads alone")
    assert lower.current.stream.of("deposed")[-1]["reason"] == "higher_rank"


@ON_USUAL
def test_a_crash_and_a_return(new_cluster, algorithm, n):
    """A node that comes back with the highest ID takes over in Bully; in Ring it joins."""
    cluster = new_cluster(n, algorithm, unjudged=TEXTBOOK, flags=["--quorum", "none"]).start()
    cluster.wait_leader()
    highest = cluster[n]
    highest.crash()
    assert cluster.wait_leader().id == n - 1
    highest.start()
    cluster.wait_for(lambda: highest.view[0] is not None, "it knows a leader")
    assert cluster.wait_leader().id == (n if algorithm == "bully" else n - 1)


@ON_USUAL
def test_nobody_needs_a_majority(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, unjudged=TEXTBOOK, flags=["--quorum", "none"]).start()
    cluster.wait_leader()
    for node in list(cluster)[1:]:
        node.crash()
    assert cluster.wait_leader().id == 1
