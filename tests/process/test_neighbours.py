"""Two clusters in one network, with the same IDs: an address of the one is mistaken for the
other's, or given away while its node is down, a backup of the one is restored on its machine.

Each machine has an address of its own. What each cluster does is judged by its own streams.
"""

import os
import shutil
import subprocess

from harness import netns
from harness.events import EventError
from harness.http import ask
import pytest
from clusters import assert_unchanged, on_both
from watcher import Watcher

REASON = netns.unavailable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

IDS = (1, 2, 3)
BESIDE = 10  # machine 11 is the neighbours' node 1


@pytest.fixture(scope="module")
def network():
    bridge = netns.Bridge([*IDS, *(BESIDE + i for i in IDS)])
    yield bridge
    bridge.close()


@pytest.fixture
def clusters(network, new_cluster):
    """Makes the two, each with a leader."""

    def make(algorithm, names):
        made = []
        for name, first in zip(names, (0, BESIDE)):
            hosts = {i: (network.addresses[first + i], netns.PORT) for i in IDS}
            cluster = new_cluster(3, algorithm, name=name, hosts=hosts, flags=["--lease", "2s"])
            for node in cluster:
                node.prefix = network.prefix(first + node.id)
            made.append(cluster.start())
        for cluster in made:
            cluster.wait_leader()
        return made

    return make


def ids_of(cluster):
    """The cluster's id, as each node says."""
    prefix = cluster[1].prefix
    status = cluster.status(prefix=prefix)
    return {node["cluster_id"] for node in status["nodes"] if node["reachable"]}


def wait_for_ids(clusters):
    for cluster in clusters:
        cluster.wait_its_id(prefix=cluster[1].prefix)
    ours, theirs = (ids_of(cluster) for cluster in clusters)
    assert ours != theirs


def lists(cluster):
    status = cluster.status(prefix=cluster[1].prefix)
    return {node["members_tag"] for node in status["nodes"] if node["reachable"]}


def add_by_mistake(cluster, other):
    """An operator's slip: the new member's address is that of a node of the other cluster."""
    leader = cluster.wait_leader()
    other_address = other[2].address
    done = cluster.member("add", f"4={other_address}", prefix=leader.prefix)
    assert done.returncode == 0, done.stderr


@on_both(3)
def test_a_list_of_a_cluster_of_another_name_is_not_believed(clusters, algorithm, n):
    ours, theirs = clusters(algorithm, ["alpha", "beta"])
    wait_for_ids([ours, theirs])
    before = lists(ours)
    leader = ours.leader()
    add_by_mistake(theirs, ours)
    # All of theirs dial ours by now, with the newer list.
    ours.wait_for(lambda: "cluster is 'alpha' here" in ours[2].current.log(), "it is greeted")
    assert_unchanged(ours, leader, 2, "a neighbour's list")
    assert lists(ours) == before
    # Nor by one that begins anew, beside a majority that has its disks.
    node = next(one for one in ours if not one.leads)
    node.crash()
    shutil.rmtree(node.data_dir)
    node.start()
    ours.wait_for(lambda: node.view == leader.view, "it is back")
    assert lists(ours) == before


@on_both(3)
def test_clusters_of_one_name_are_told_apart_by_their_ids(clusters, algorithm, n):
    ours, theirs = clusters(algorithm, ["twins", "twins"])
    wait_for_ids([ours, theirs])
    leader = ours.leader()
    add_by_mistake(theirs, ours)
    ours.wait_for(lambda: "cluster id is" in ours[2].current.log(), "it is refused")
    assert_unchanged(ours, leader, 2, "a cluster of the same name")
    assert len(ids_of(ours) | ids_of(theirs)) == 2


def elected(cluster):
    return {(one["node"], one["epoch"]) for one in cluster.events() if one["event"] == "elected"}


def test_who_looks_on_by_a_mistaken_address_is_told_of_one_cluster(clusters, spawn):
    ours, theirs = clusters("bully", ["twins", "twins"])
    wait_for_ids([ours, theirs])
    mistaken = ours.peers.replace(f"2={ours[2].address}", f"2={theirs[2].address}")
    prefix = ours[1].prefix
    # Some of them begin with theirs.
    watchers = [
        Watcher(spawn, ours, mistaken, stderr=subprocess.PIPE, prefix=prefix) for _ in range(24)
    ]
    for watcher in watchers:
        watcher.until(lambda line: line["leader"] is not None)
    epoch = ours.wait_leader().view[1]
    done = ours.command("resign", prefix=prefix)
    assert done.returncode == 0, done.stderr
    for watcher in watchers:
        watcher.until(lambda line: line["leader"] is not None and line["epoch"] > epoch)
    told = {
        (one["leader"], one["epoch"])
        for watcher in watchers
        for one in list(watcher.seen)
        if one["leader"]
    }
    # An event stream is written a little later than the frames are sent.
    ours.wait_for(lambda: told <= elected(ours), f"{told} have been elected here")
    for watcher in watchers:
        watcher.process.terminate()
    refused = [watcher.process.communicate()[1] for watcher in watchers]
    assert any("of another cluster of this name, with the id" in text for text in refused), refused
    # Node 2 is reached by the list, or not at all: what its neighbour says counts for nothing.
    listed = ours.command("member", "list", peers=mistaken, prefix=prefix).stdout.splitlines()
    assert [line.split()[3] for line in (listed[1], listed[3])] == ["yes", "yes"], listed


def test_who_looks_on_stays_with_its_cluster_while_that_is_away(clusters, spawn):
    ours, theirs = clusters("bully", ["twins", "twins"])
    wait_for_ids([ours, theirs])
    mistaken = ours.peers.replace(f"2={ours[2].address}", f"2={theirs[2].address}")
    watcher = Watcher(spawn, ours, mistaken, prefix=ours[1].prefix)
    watcher.until(lambda line: line["leader"] is not None)
    # Their node 2 alone answers now.
    ours.kill_all()
    theirs_led = {e["epoch"] for e in theirs.events() if e["event"] == "elected"}
    seen = watcher.until(lambda line: line["leader"] is None or line["epoch"] in theirs_led)
    assert seen["leader"] is None, watcher.seen
    ours.start()
    epoch = ours.wait_leader().view[1]
    seen = watcher.until(lambda line: line["leader"] is not None)
    assert seen["epoch"] == epoch, watcher.seen


def test_a_node_shows_its_own_cluster_whatever_its_addresses_are_of(clusters, tmp_path):
    ours, theirs = clusters("bully", ["twins", "twins"])
    wait_for_ids([ours, theirs])
    (own_id,) = ids_of(ours)
    node = next(one for one in ours if not one.leads)
    node.crash()
    node.peers = theirs.peers.replace(theirs[node.id].address, node.address)
    socket = tmp_path / "http.sock"
    node.start(["--http", f"unix:{socket}"])
    others = [one for one in theirs if one.id != node.id]
    ours.wait_for(lambda: "cluster id is" in others[0].current.log(), "it is refused there")
    told = ask(socket, "/cluster").json
    assert told["leader"] is None, told
    assert [one["cluster_id"] for one in told["nodes"] if one["reachable"]] == [own_id], told
    problems = [one["problem"] for one in told["nodes"] if not one["reachable"]]
    assert all("of another cluster of this name" in one for one in problems), told


def test_an_address_that_is_given_away_meanwhile(network, clusters):
    ours, theirs = clusters("bully", ["twins", "twins"])
    wait_for_ids([ours, theirs])
    before = ids_of(theirs)
    # One of ours is started anew with an address of theirs in its peer list.
    mine = next(node for node in ours if not node.leads)
    mine.crash()
    another = next(i for i in IDS if i != mine.id)
    mine.peers = ours.peers.replace(
        f"{another}={ours[another].address}", f"{another}={theirs[another].address}"
    )
    mine.start()
    ours.wait_for(lambda: "cluster id is" in theirs[another].current.log(), "it is refused there")
    ours.wait_leader(among=[i for i in IDS if i != another])
    assert ids_of(theirs) == before


def test_a_backup_restored_on_a_machine_of_another_cluster(network, clusters):
    ours, theirs = clusters("bully", ["twins", "twins"])
    wait_for_ids([ours, theirs])
    node = next(one for one in ours if not one.leads)
    leader = ours.leader()
    node.stop()
    own = node.data_dir.with_name("own")
    node.data_dir.rename(own)
    shutil.copytree(
        theirs[node.id].data_dir, node.data_dir, ignore=shutil.ignore_patterns("*.sock")
    )
    node.start()
    ours.wait_for(lambda: "cluster id is" in node.current.log(), "ours refuse it")
    before = leader.view
    ours.never(
        lambda: any(one.view != before for one in ours if one is not node) or node.view[0],
        "a backup of another cluster: somebody notices it, or it follows somebody",
        2,
    )
    node.stop()
    with pytest.raises(EventError, match="expected the streams of one cluster"):
        ours.audit()
    os.unlink(node.current.stream.path)
    shutil.rmtree(node.data_dir)
    own.rename(node.data_dir)
    node.start()
    ours.wait_for(lambda: node.view == leader.view, "it is back with its own disk")


@on_both(3)
def test_a_directory_of_before_the_cluster_had_an_id_is_not_believed(new_cluster, algorithm, n):
    """Of a cluster of this name that is no more: by its list node 3 would lead alone."""
    cluster = new_cluster(n, algorithm, flags=["--wire", "3"]).start()
    cluster.wait_leader()
    if not cluster[3].leads:
        assert cluster.resign("--to", "3").returncode == 0
        cluster.wait_for(lambda: cluster[3].leads, "node 3 leads")
    for change in (["remove", "1"], ["demote", "2"]):
        done = cluster.member(*change)
        assert done.returncode == 0, done.stderr

    def stop_all():
        for node in cluster:
            node.terminate()
        for node in cluster:
            node.wait_exit()

    stop_all()
    old = cluster[2].data_dir.with_name("old")
    cluster[2].data_dir.rename(old)
    for one in (1, 3):
        shutil.rmtree(cluster[one].data_dir)
    cluster.flags = []
    cluster.start().wait_leader()
    cluster.wait_its_id()
    stop_all()
    shutil.rmtree(cluster[2].data_dir)
    old.rename(cluster[2].data_dir)
    cluster[2].start()
    cluster[3].start()
    cluster.wait_for(lambda: "it is not taken" in cluster[3].current.log(), "3 is shown the list")
    cluster.never(lambda: cluster[3].leads, "it would be the only one with a vote", 2)
    cluster[1].start()
    cluster.wait_leader(among=[1, 3])
    assert set(cluster.member_list()[1]) == set(IDS)


def test_a_backup_of_a_cluster_of_another_name_does_not_start(clusters):
    ours, theirs = clusters("bully", ["alpha", "beta"])
    node = next(one for one in ours if not one.leads)
    node.stop()
    shutil.rmtree(node.data_dir)
    shutil.copytree(
        theirs[node.id].data_dir, node.data_dir, ignore=shutil.ignore_patterns("*.sock")
    )
    node.start()
    node.current.expected_to_run = False
    assert node.wait_exit() == 1
    assert "belongs to cluster 'beta', not to 'alpha'" in node.current.log()


def test_a_cluster_that_is_cloned_with_its_disks(network, clusters, new_cluster):
    """A copy has the same id: it is the same cluster, whose members each are twice there (A1)."""
    ours, theirs = clusters("bully", ["twins", "other"])
    wait_for_ids([ours, theirs])
    leader = ours.leader()
    for node in theirs:
        node.crash()
    clone = new_cluster(
        3,
        "bully",
        name="twins",
        hosts={i: (theirs[i].host, netns.PORT) for i in IDS},
        flags=["--lease", "2s"],
        unjudged="a copy leads beside the original: nothing tells them apart",
    )
    for node in clone:
        node.prefix = theirs[node.id].prefix
        shutil.copytree(
            ours[node.id].data_dir, node.data_dir, ignore=shutil.ignore_patterns("*.sock")
        )
    clone.start()
    # With addresses of its own it does not reach the original, nor is it reached.
    clone.wait_leader()
    assert_unchanged(ours, leader, 2, "a clone beside it")
    assert ids_of(clone) == ids_of(ours)
    # And a member of it that does reach the original is one too many there.
    lost = next(node for node in clone if not node.leads)
    lost.crash()
    lost.peers = ",".join(f"{i}={lost.address if i == lost.id else ours[i].address}" for i in IDS)
    lost.start()
    twin = f"another process with id {lost.id} is connected"
    ours.wait_for(lambda: twin in lost.current.log(), "it is told of the original")
    assert_unchanged(ours, leader, 2, "a clone's member among them")
