"""A cluster is upgraded and downgraded node by node: what --wire holds back speaks as the version
before, and no leadership ends but that of a leader which is restarted.
"""

import random

from harness import wire
import pytest
from harness.http import ask
from clusters import on_both
from rolling import FLAGS, Clients, Rolling
from harness.waiting import wait_until

NEWEST = 6


def highest(node):
    return 1 if "--wire" in node.flags else NEWEST


@on_both(3)
def test_up_and_down_node_by_node(new_cluster, ports, spawn, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS)
    rolling = Rolling(cluster, ports, highest)
    held_back = {node: [*node.flags, "--wire", "1"] for node in cluster}
    free = {node: node.flags for node in cluster}
    for node in cluster:
        node.flags = held_back[node]
    cluster.start().wait_settled()
    rolling.check_versions()
    with Clients(cluster, spawn, [cluster.program]):
        for flags in (free, held_back):
            rolling.restart_all(lambda node, flags=flags: setattr(node, "flags", flags[node]))
    rolling.check_leaderships()


def test_which_version_is_spoken_with_whom_is_said_everywhere(new_cluster, ports):
    cluster = new_cluster(3, flags=FLAGS)
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
    free = cluster[1].flags
    cluster[1].flags = [*free, "--wire", "1"]
    cluster.start().wait_settled()
    told = {node["id"]: (node["wire"], node["wire_with"]) for node in cluster.status()["nodes"]}
    assert told == {
        1: (1, {"2": 1, "3": 1}),
        2: (NEWEST, {"1": 1, "3": NEWEST}),
        3: (NEWEST, {"1": 1, "2": NEWEST}),
    }
    table = cluster.command("status").stdout
    assert table.count("; wire 1 with 1\n") == 2
    metrics = ask(cluster[2].http, "/metrics").body.splitlines()
    assert f"bullring_wire_version {NEWEST}" in metrics
    assert 'bullring_peer_wire_version{peer="1"} 1' in metrics
    assert f'bullring_peer_wire_version{{peer="3"}} {NEWEST}' in metrics
    older = f"peer 1 speaks version 1 of the wire format at most, this node {NEWEST}"
    again = f"version {NEWEST} of the wire format is spoken with all peers again"
    assert cluster[2].current.log().count(older) == 1
    assert again not in cluster[2].current.log()
    assert "wire format" not in cluster[1].current.log()
    cluster[1].stop()
    cluster[1].flags = free
    cluster[1].start()
    cluster.wait_settled()
    cluster.wait_for(lambda: again in cluster[2].current.log(), "it is said to be over")
    assert "; wire" not in cluster.command("status").stdout


@pytest.fixture
def alone(new_cluster):
    """The only one of three that is there: others may be played."""
    cluster = new_cluster(3, name="blue")
    cluster.start([1])
    cluster.wait_for(lambda: cluster[1].current.stream.of("started"), "it is there")
    return cluster[1]


def answer(node, **hello):
    """To a HELLO of member 2."""
    with wire.connected(node) as connection:
        connection.sendall(wire.hello(b"blue", [1, 2, 3], 2, random.getrandbits(63), **hello))
        (first, *more) = wire.frames(connection.recv(65536))
        assert not more
        return wire.parse(first)


@pytest.mark.parametrize(
    ("versions", "spoken"), [((1, 1), 1), ((1, 2), 2), ((1, 9), NEWEST), ((2, 9), NEWEST)]
)
def test_the_highest_common_version_is_answered(alone, versions, spoken):
    kind, body = answer(alone, versions=versions)
    assert kind == wire.HELLO_ACK
    assert wire.spoken(body) == spoken


def test_what_a_later_version_has_added_to_hello_is_left_out(alone):
    neither_id_nor_address = bytes(8) + bytes(8) + bytes(2)
    more = neither_id_nor_address + b"more than is known"
    kind, body = answer(alone, versions=(1, NEWEST + 1), more=more)
    assert (kind, wire.spoken(body)) == (wire.HELLO_ACK, NEWEST)


def test_who_speaks_no_common_version_is_told_both_ranges(alone):
    later = (NEWEST + 1, NEWEST + 2)
    ours, theirs = f"1-{NEWEST}", f"{NEWEST + 1}-{NEWEST + 2}"
    kind, body = answer(alone, versions=later)
    assert (kind, wire.texts(body)) == (wire.REFUSED, ["version", ours, theirs])
    said = f"version is '{ours}' here and '{theirs}' there"
    wait_until(lambda: said in alone.current.log(), "it is logged")


def test_what_a_changed_list_has_no_messages_for_is_not_started(new_cluster):
    cluster, _ = new_cluster(1, flags=FLAGS).settled()
    assert '"wire_lowest":1' in cluster.command("status", "--json").stdout
    assert cluster.member("add", "2=127.0.0.1:9").returncode == 0
    assert '"wire_lowest":3' in cluster.command("status", "--json").stdout
    cluster[1].stop()
    cluster[1].start(["--wire", "2"]).current.expected_to_run = False
    assert cluster[1].wait_exit() == 2
    said = "--wire 2 has no messages for the list of members "
    assert said in cluster[1].current.log()
    assert "expected 3 or more, or no --wire" in cluster[1].current.log()
    cluster[1].start()
    cluster.wait_settled()
