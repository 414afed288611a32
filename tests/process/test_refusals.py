"""Peers that do not belong together refuse each other, and do not go on saying so."""

import shutil

from clusters import ON_USUAL, TEXTBOOK, assert_unchanged


def refusals(cluster):
    """The lines of each node on handshakes; it may log other things meanwhile."""
    return {
        node.id: [line for line in node.current.log().splitlines() if "handshake" in line]
        for node in cluster
    }


def odd_one(cluster, odd, flags=(), peers=None):
    """Brings `odd` back as another: it and the others refuse each other, and say so but once."""
    cluster.start().wait_settled()
    odd.crash()
    shutil.rmtree(odd.data_dir)
    leader = cluster.wait_leader()
    before = refusals(cluster) | {odd.id: []}
    odd.peers = peers
    odd.start(flags)
    cluster.wait_for(
        lambda: all(lines != before[node] for node, lines in refusals(cluster).items()),
        "both sides say something",
    )
    rest = cluster_without(cluster, odd)
    assert_unchanged(rest, leader, 1.0, "an odd node is there")
    said = refusals(cluster)
    assert_unchanged(rest, leader, 1.0, "an odd node is there still")
    assert refusals(cluster) == said
    assert not odd.current.stream.of("peer_up")
    assert odd.running


@ON_USUAL
def test_the_other_algorithm(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    odd = cluster[n]
    other = {"bully": "ring", "ring": "bully"}[algorithm]
    odd_one(cluster, odd, ["--algorithm", other])
    assert not odd.current.stream.of("elected")


@ON_USUAL
def test_another_quorum_mode(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, unjudged=TEXTBOOK)
    # It elects itself, as the textbook's algorithms do where they are alone.
    odd_one(cluster, cluster[n], ["--quorum", "none"])


@ON_USUAL
def test_a_second_process_with_the_same_id(new_cluster, algorithm, n):
    """It cannot vote and cannot lead; the first goes on as before."""
    cluster, leader = new_cluster(n, algorithm).settled()
    for twin_of in (leader.id, 1):
        hosts = {node.id: (node.host, node.port) for node in cluster if node.id != twin_of}
        twins = new_cluster(n, algorithm, hosts=hosts)
        twin = twins[twin_of].start()
        twins.wait_for(lambda twin=twin: twin.current.stream.of("started"), "the twin's start")
        assert_unchanged(cluster, leader, 1.5, f"a second node {twin_of} is there")
        twins.poll()
        assert not twin.current.stream.of("elected")
        twin.kill()


def cluster_without(cluster, odd):
    """The cluster as assert_unchanged sees it, without what the odd node says."""

    class Rest:
        never = cluster.never

        @property
        def acting(self):
            return [node for node in cluster.acting if node is not odd]

    return Rest()
