"""How a leader went is told by how its end was known: in one word, wherever it is told, and with
each security. A table of ways to end.
"""

import contextlib
import dataclasses
import json
import typing

import pytest
from harness import netns
from harness.http import ask
from harness.net import Relay
from secured import KEY, TLS, Secured

pytestmark = [pytest.mark.beside, pytest.mark.limit(120)]

NAMESPACES = netns.unavailable()
# Of the log: what a node says when it loses its leader.
SENTENCES = {
    "it has died": "died",
    "it has resigned": "resigned",
    "nothing is heard of it": "lease_expired",
}


class Scene:
    """A settled cluster, with what its way to end needs between its nodes or in them."""

    def __init__(self, new_cluster, directory, mode, way, stack):
        self.relay = self.spaces = None
        options = {"flags": ["--no-preempt", "--log-format", "json", *way.flags]}
        if way.end is unplug:
            self.spaces = netns.Namespaces([1, 2, 3])
            stack.callback(self.spaces.close)
            addresses = self.spaces.addresses.items()
            options["hosts"] = {i: (address, netns.PORT) for i, address in addresses}
        secured = None if mode == "none" else Secured(new_cluster, directory, mode, **options)
        self.cluster = secured.cluster if secured else new_cluster(3, **options)
        self.admin = secured.admin if secured else []
        for node in self.cluster:
            node.http = self.cluster.directory / f"{node.id}.http"
            node.flags = [*node.flags, "--http", f"unix:{node.http}"]
            node.task = way.task
            if self.spaces:
                node.prefix = self.spaces.prefix(node.id)
        if way.end is reset:
            self.relay = Relay()
            stack.callback(self.relay.close)
            self.relay.put_between(self.cluster)
        self.cluster.start()
        self.leader = self.cluster.wait_leader()
        self.others = [node for node in self.cluster if node is not self.leader]
        self.cluster.wait_for(
            lambda: all(ask(node.http, "/readyz").status == 200 for node in self.cluster),
            "all are ready",
        )

    def heal(self):
        for between in (self.relay, self.spaces):
            if between:
                between.heal()


def kill(scene):
    scene.leader.kill()


def terminate(scene):
    scene.leader.terminate()


def resign(scene):
    assert scene.cluster.resign(*scene.admin).returncode == 0


def stop(scene):
    scene.leader.hang_for_good()


def stop_and_kill(scene):
    """The others suspect it, and learn of its end before its lease is over."""
    scene.leader.hang()
    scene.cluster.wait_for(
        lambda: all(node.current.stream.of("peer_down") for node in scene.others), "suspicion"
    )
    scene.leader.kill()


def unplug(scene):
    scene.spaces.isolate(scene.leader.id)


def reset(scene):
    """The connections of the leader, by RST; and there are no others."""
    leader = scene.leader.id
    ids = [node.id for node in scene.others]
    scene.relay.reset([*((leader, i) for i in ids), *((i, leader) for i in ids)])


@dataclasses.dataclass
class Way:
    end: typing.Callable
    reason: str
    flags: list = dataclasses.field(default_factory=list)
    task: list = None
    # Without security the guard of the command says it in the place of the node: R4.4.
    unsecured: str = None


WAYS = {
    "killed": Way(kill, "died"),
    "killed-nothing-released": Way(kill, "died", ["--fast-release", "off"]),
    "killed-run": Way(kill, "died", task=["sleep", "1000"], unsecured="resigned"),
    "terminated": Way(terminate, "resigned"),
    "resigned": Way(resign, "resigned"),
    # Its keeper kills it.
    "stopped": Way(stop, "died"),
    "stopped-and-killed": Way(stop_and_kill, "died", ["--hang-after", "off", "--lease", "2s"]),
    "stopped-for-good": Way(stop, "lease_expired", ["--hang-after", "off"]),
    "unplugged": Way(unplug, "lease_expired"),
    "reset": Way(reset, "lease_expired"),
}


def counted(node):
    """The reasons of which there has been one."""
    lines = ask(node.http, "/metrics").body.splitlines()
    counts = [line for line in lines if line.startswith("bullring_leader_changes_total{")]
    return [line.split('"')[1] for line in counts if not line.endswith(" 0")]


def told(node):
    """The reason of the last change of leader, by each that tells it."""
    changes = [event for event in node.current.stream.of("leader") if event["before"] is not None]
    return {
        "events": changes[-1]["before"],
        "/history": ask(node.http, "/history").json["changes"][0]["reason"],
        "/failovers": ask(node.http, "/failovers").json[0]["reason"],
        "metrics": next(reason for reason in counted(node) if reason != "first"),
    }


def logged(node):
    """How it lost its leader; nothing where it does not say, as who stands itself does not."""
    lines = [json.loads(line) for line in node.current.log().splitlines()]
    reasons = [line["reason"] for line in lines if line.get("leader", "") is None]
    return {SENTENCES[reason] for reason in reasons if reason in SENTENCES}


def test_a_leader_that_one_node_has_lost_from_sight_has_not_changed(new_cluster):
    cluster = new_cluster(3, flags=["--no-preempt"])
    for node in cluster:
        node.http = cluster.directory / f"{node.id}.http"
        node.flags = ["--http", f"unix:{node.http}"]
    with contextlib.closing(Relay()) as relay:
        relay.put_between(cluster)
        leader = cluster.start().wait_settled()
        view = leader.view
        blind = next(node for node in cluster if node is not leader)
        ids = [node.id for node in cluster if node is not blind]
        relay.cut([*((blind.id, i) for i in ids), *((i, blind.id) for i in ids)])
        cluster.wait_for(lambda: blind.view[0] is None, "it has lost its leader")
        relay.heal()
        cluster.wait_for(lambda: blind.view[0] is not None, "it follows again")
        if leader.view != view:
            return  # a busy machine: it was another leadership
        assert [event["before"] for event in blind.current.stream.of("leader")][-2:] == [None] * 2
        history = ask(blind.http, "/history").json
        assert len(history["changes"]) == len(ask(blind.http, "/failovers").json) == 1
        assert history["changes"][0]["reason"] == "first"
        assert history["leaderless_ms"] > 0
        assert counted(blind) == ["first"]


@pytest.mark.parametrize("mode", ["none", KEY, TLS])
@pytest.mark.parametrize("name", WAYS)
def test_how_a_leader_went(new_cluster, tmp_path, mode, name):
    way = WAYS[name]
    if way.end is unplug and NAMESPACES is not None:
        pytest.skip(NAMESPACES)
    reason = way.unsecured if way.unsecured and mode == "none" else way.reason
    with contextlib.ExitStack() as stack:
        scene = Scene(new_cluster, tmp_path, mode, way, stack)
        old, epoch = scene.leader.view
        way.end(scene)

        def has_changed(node):
            failovers = ask(node.http, "/failovers").json
            followed = node.view[0] is not None and node.view[1] > epoch
            return followed and failovers and failovers[0]["from"] == old

        def wait_until_told(node):
            scene.cluster.wait_for(lambda: has_changed(node), f"node {node.id} tells of a change")
            words = told(node)
            # A node that hears the successor before its leader's own word knows of no end.
            known = reason != "resigned" or words["events"] != "replaced"
            assert set(words.values()) == {reason if known else "replaced"}, words

        for node in scene.others:
            wait_until_told(node)
            # Some time before.
            if way.end not in (stop, stop_and_kill):
                assert logged(node) <= {reason}
        scene.heal()
        if scene.leader.acting and scene.leader.running:
            wait_until_told(scene.leader)
