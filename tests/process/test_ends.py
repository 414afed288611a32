"""How a leader went: the table of bullring-troubleshooting(7), row by row, with each security. One
word and one time without a leader, by whoever tells it.
"""

import contextlib
import dataclasses
import json
import re
import typing

import pytest
from harness import netns
from harness.events import now_ns
from harness.http import ask
from harness.net import Relay
from harness.node import ROOT
from secured import KEY, TLS, Secured

pytestmark = [pytest.mark.beside, pytest.mark.limit(120)]

NAMESPACES = netns.unavailable()
# From a leader's last message to its end, and to when somebody has read of it.
SLACK_NS = 150_000_000
PAGE = (ROOT / "src/manual/bullring-troubleshooting.7.md").read_text()


@dataclasses.dataclass
class Row:
    sentence: str  # of the log
    reason: str
    since: str


ROWS = {
    way: Row(*cells)
    for way, *cells in re.findall(r"(?m)^\| (.*) \| `(.*)` \| `(.*)` \| (.*) \|$", PAGE)
}
SENTENCES = {row.sentence for row in ROWS.values()}
# The life of the leader is cut off from outside, at an instant that the test knows.
CUT = {"its end", "its last message", "the reset"}


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


def stop_until_killed(scene):
    """By its keeper."""
    scene.leader.hang_for_good()
    scene.leader.wait_exit()


def stop_and_kill(scene):
    """The others suspect it, and learn of its end before its lease is over."""
    stopped_ns = scene.leader.hang()
    scene.cluster.wait_for(
        lambda: all(node.current.stream.of("peer_down") for node in scene.others), "suspicion"
    )
    scene.leader.kill()
    return stopped_ns


def unplug(scene):
    scene.spaces.isolate(scene.leader.id)


def reset(scene):
    """The connections of the leader, by RST; and there are no others."""
    leader = scene.leader.id
    ids = [node.id for node in scene.others]
    scene.relay.reset([*((leader, i) for i in ids), *((i, leader) for i in ids)])


@dataclasses.dataclass
class Way:
    row: str
    end: typing.Callable  # returns when the leader was cut off, if that was not the last it did
    flags: list = dataclasses.field(default_factory=list)
    task: list = None
    unsecured: str = None  # its row without security, if that is another


LASTING = ["sleep", "1000"]
WAYS = {
    "killed": Way("its process dies", kill),
    "killed-nothing-released": Way(
        "its process dies, with `--fast-release off`", kill, ["--fast-release", "off"]
    ),
    "killed-run": Way(
        "with `run` and security, its process dies",
        kill,
        task=LASTING,
        unsecured="with `run` and without security, its process dies",
    ),
    "terminated": Way("it is stopped by SIGTERM, or asked to resign", terminate),
    "resigned": Way("it is stopped by SIGTERM, or asked to resign", resign),
    "resigned-run": Way(
        "with `run`, it is asked to resign, and its command takes time to end",
        resign,
        task=["sh", "-c", "exec 2>&-; trap 'sleep 0.3; exit' TERM; while :; do sleep 0.1; done"],
    ),
    "stopped": Way("it stands still, and its keeper kills it", stop_until_killed),
    "stopped-and-killed": Way(
        "it stands still, and dies before its lease is over",
        stop_and_kill,
        ["--hang-after", "off", "--lease", "2s"],
    ),
    "stopped-for-good": Way(
        "it stands still, with `--hang-after off`", stop, ["--hang-after", "off"]
    ),
    "unplugged": Way("its machine loses its network", unplug),
    "reset": Way("its connections are reset on the way", reset),
}


def counted(node):
    """The reasons of which there has been one."""
    lines = ask(node.http, "/metrics").body.splitlines()
    counts = [line for line in lines if line.startswith("bullring_leader_changes_total{")]
    return [line.split('"')[1] for line in counts if not line.endswith(" 0")]


def changes(node):
    """Not those by which a leader comes into sight again."""
    return [event for event in node.current.stream.of("leader") if event["before"] is not None]


def told(node):
    """The reason of the last change of leader, by each that tells it."""
    return {
        "events": changes(node)[-1]["before"],
        "/history": ask(node.http, "/history").json["changes"][0]["reason"],
        "/failovers": ask(node.http, "/failovers").json[0]["reason"],
        "metrics": next(reason for reason in counted(node) if reason != "first"),
    }


def gaps_told(node):
    """How long nobody had led before that, in milliseconds, by each that tells it."""
    metrics = ask(node.http, "/metrics").body.splitlines()
    sum_s = next(line for line in metrics if line.startswith("bullring_failover_seconds_sum"))
    change = changes(node)[-1]
    lines = [line for line in logged(node) if line["leader"] and line["epoch"] == change["epoch"]]
    return {
        "log": lines[0]["gap_ms"],
        "events": change["gap_ms"],
        "/history": ask(node.http, "/history").json["changes"][0]["gap_ms"],
        "/failovers": ask(node.http, "/failovers").json[0]["gap_ms"],
        "metrics": float(sum_s.split()[-1]) * 1000,
    }


def logged(node):
    """Its lines on who leads."""
    lines = [json.loads(line) for line in node.current.log().splitlines()]
    return [line for line in lines if "old_leader" in line]


def assert_since(node, since, began_ns, cut_ns):
    """It was cut off between these two instants; or it said itself that it led no more."""
    events = node.current.stream.of("leader")
    found = changes(node)[-1]
    before = events[events.index(found) - 1]
    unled_ns = found["ts_ns"] - found["gap_ms"] * 1e6
    assert unled_ns > began_ns - SLACK_NS
    if since in CUT:
        assert unled_ns < cut_ns + SLACK_NS
    elif before["leader"] is None:
        assert before["gap_ms"] == 0


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


def test_each_row_of_the_page_is_tried():
    assert {row for way in WAYS.values() for row in (way.row, way.unsecured) if row} == set(ROWS)


@pytest.mark.parametrize("mode", ["none", KEY, TLS])
@pytest.mark.parametrize("name", WAYS)
def test_how_a_leader_went(new_cluster, tmp_path, mode, name):
    way = WAYS[name]
    if way.end is unplug and NAMESPACES is not None:
        pytest.skip(NAMESPACES)
    row = ROWS[way.unsecured if way.unsecured and mode == "none" else way.row]
    with contextlib.ExitStack() as stack:
        scene = Scene(new_cluster, tmp_path, mode, way, stack)
        old, epoch = scene.leader.view
        began_ns = now_ns()
        cut_ns = way.end(scene) or now_ns()

        def has_changed(node):
            failovers = ask(node.http, "/failovers").json
            followed = node.view[0] is not None and node.view[1] > epoch
            return followed and failovers and failovers[0]["from"] == old

        def wait_until_told(node):
            scene.cluster.wait_for(lambda: has_changed(node), f"node {node.id} tells of a change")
            words = told(node)
            # A node that hears the successor before its leader's own word knows of no end.
            known = row.reason != "resigned" or words["events"] != "replaced"
            assert set(words.values()) == {row.reason if known else "replaced"}, words
            gaps = gaps_told(node)
            assert max(gaps.values()) - min(gaps.values()) < 0.01, gaps

        for node in scene.others:
            wait_until_told(node)
            assert_since(node, row.since, began_ns, cut_ns)
            # How it lost its leader is not said by one that stands itself.
            losses = {line["reason"] for line in logged(node) if line["leader"] is None}
            assert losses & SENTENCES <= {row.sentence}
        scene.heal()
        if scene.leader.acting and scene.leader.running:
            wait_until_told(scene.leader)
