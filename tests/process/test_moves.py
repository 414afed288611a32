"""Members that come back at other addresses, with their directories, when nobody can change the
list: an address says only where a member is sought first (PROTOCOL C13)."""

import pytest
from clusters import on, on_both

FLAGS = ["--lease-max", "1s", "--no-preempt"]


def end(*nodes):
    for node in nodes:
        node.terminate()
    for node in nodes:
        assert node.wait_exit() == 0


def at_their_addresses(cluster):
    told = cluster.member("list").stdout.splitlines()
    found = {int(line.split()[0]): line.split()[1:4] for line in told if line[:1].isdigit()}
    return found == {node.id: [node.address, "yes", "yes"] for node in cluster}


def joined(new_cluster, algorithm, n):
    """Of n voters, which look for each other at the address of the first one from then on."""
    cluster, _ = new_cluster(n, algorithm, flags=FLAGS).settled()
    for node in cluster:
        node.join = [cluster[1].address]
        node.flags = ["--voter"]
    return cluster


def exchange(one, other):
    one.port, other.port = other.port, one.port


@pytest.mark.parametrize("as_well", [[], [1]], ids=["two", "all-restart"])
@on_both(3)
def test_two_of_three_come_back_at_new_addresses(new_cluster, algorithm, n, as_well):
    cluster = joined(new_cluster, algorithm, n)
    end(cluster[2], cluster[3], *(cluster[i] for i in as_well))
    for node in (cluster[2], cluster[3]):
        node.port = cluster.ports.take()
    cluster.start([2, 3, *as_well])
    cluster.wait_leader()
    cluster.wait_for(lambda: at_their_addresses(cluster), "the list has the new addresses")
    cluster.wait_settled()


@on_both(3)
def test_two_of_three_come_back_at_each_others_address(new_cluster, algorithm, n):
    cluster = joined(new_cluster, algorithm, n)
    end(cluster[2], cluster[3])
    exchange(cluster[2], cluster[3])
    cluster.start([2, 3])
    cluster.wait_leader()
    cluster.wait_for(lambda: at_their_addresses(cluster), "the list has exchanged them")
    cluster.wait_settled()


@on(("bully", 3))
def test_members_without_a_vote_exchange_their_addresses(new_cluster, algorithm, n):
    cluster = joined(new_cluster, algorithm, n)
    for i in (4, 5):
        node = cluster.new_node(i)
        node.join = [cluster[1].address]
        node.start()
    cluster.wait_settled()
    end(cluster[4], cluster[5])
    exchange(cluster[4], cluster[5])
    # As an instance that has no volume.
    cluster[5].data_dir = cluster.directory / "node-5-again"
    cluster.start([4, 5])
    cluster.wait_settled()
    lines = [line for line in cluster[1].current.log().splitlines() if "peer 4" in line]
    assert len(lines) < 12, lines


@on(("bully", 3))
def test_where_all_have_moved_peers_says_where_they_are(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm, flags=FLAGS).settled()
    end(*cluster)
    for node in cluster:
        node.port = cluster.ports.take()
    cluster.start().wait_settled()


@on(("bully", 3))
def test_another_machine_with_the_id_of_a_voter_does_not_vote(new_cluster, algorithm, n):
    cluster = joined(new_cluster, algorithm, n)
    end(cluster[2], cluster[3])
    stranger = cluster[3]
    stranger.port = cluster.ports.take()
    stranger.data_dir = cluster.directory / "node-3-on-another-machine"
    stranger.start()
    cluster.never(lambda: cluster.leader() is not None, "it makes a majority", 4)
    end(stranger)
    stranger.data_dir = cluster.directory / "node-3"
    stranger.start()
    assert cluster.wait_leader(among=[1, 3])
