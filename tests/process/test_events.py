"""The event stream, the log, signals and hooks of a node."""

import json
import os
import shutil
import signal
import subprocess

import pytest
from clusters import ON_USUAL, assert_unchanged
from harness.http import ask
from harness.node import find_program
from harness.waiting import DEADLINE, wait_until


FURTHER_KEYS = {
    "started": ["algorithm", "quorum", "peers", "version", "pid", "boot", "cluster"]
    + ["cluster_id"],
    "cluster": ["cluster_id"],
    "peer_up": ["peer"],
    "peer_down": ["peer", "reason"],
    "election_started": ["epoch", "reason"],
    "leader": ["leader", "epoch", "advertised", "before", "gap_ms"],
    "elected": ["epoch", "grants"],
    "deposed": ["epoch", "reason", "held_until_ns"],
    "stopped": ["reason"],
}
REASONS_DOWN = {"eof", "reset", "timeout", "refused", "protocol"}


@ON_USUAL
def test_every_kind_has_its_keys_in_order(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--advertise", "here"]).settled()
    cluster.wait_its_id()
    leader.kill()
    leader.restart()
    cluster.wait_settled()
    status = cluster.status()
    for node in cluster:
        node.terminate()
    for node in cluster:
        assert node.wait_exit() == 0
    seen = set()
    for event in cluster.events():
        seen.add(event["event"])
        assert list(event)[4:] == FURTHER_KEYS[event["event"]], event
        if event["event"] == "peer_down":
            assert event["reason"] in REASONS_DOWN
        if event["event"] == "elected":
            assert len(set(event["grants"])) >= cluster.quorum
            assert event["node"] in event["grants"]
        if event["event"] == "started":
            assert (event["algorithm"], event["quorum"]) == (algorithm, "majority")
            assert event["peers"] == list(cluster.nodes)
    ids = {event["cluster_id"] for event in cluster.events() if "cluster_id" in event} - {None}
    assert ids == {one["cluster_id"] for one in status["nodes"]} and len(ids) == 1
    assert cluster[leader.id].current.stream.of("started")[0]["cluster_id"] in ids
    assert seen == set(FURTHER_KEYS)


@ON_USUAL
def test_a_streams_clock_never_goes_back_and_brackets_what_happened(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm).settled()
    for node in cluster:
        stamps = [event["ts_ns"] for event in node.current.stream.events]
        assert stamps == sorted(stamps)
        assert stamps[0] >= node.current.started_ns


@ON_USUAL
def test_each_follower_tells_the_loss_and_the_new_leader(new_cluster, algorithm, n):
    """The new leader's word may come before the end of the old one's sessions."""
    cluster, old = new_cluster(n, algorithm).settled()
    killed_ns = old.kill()
    elected = cluster.wait_elected(killed_ns)
    cluster.wait_leader()

    def told(node):
        events = node.current.stream.of("leader")
        return [event["leader"] for event in events if event["ts_ns"] > killed_ns]

    for node in cluster.acting:
        # `elected` has a line of its own, before that of the new leader.
        cluster.wait_for(lambda n=node: told(n)[-1:] == [elected["node"]], "it tells the new one")
        assert told(node) in ([None, elected["node"]], [elected["node"]])


def test_the_stream_on_stdout(new_cluster, spawn):
    cluster = new_cluster(1)
    process = spawn(
        cluster[1].command(["--events", "-"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=cluster.environment,
    )
    kinds = []
    while "elected" not in kinds:
        kinds.append(json.loads(process.stdout.readline())["event"])
    process.send_signal(signal.SIGINT)
    rest = [json.loads(line)["event"] for line in process.stdout]
    assert kinds[0] == "started"
    assert rest[-1] == "stopped"
    assert process.wait(DEADLINE) == 0


@pytest.mark.parametrize("directory_too", [False, True])
def test_streams_that_somebody_removes_are_made_again(new_cluster, spawn, tmp_path, directory_too):
    """As what cleans up does, which asks nobody."""
    cluster = new_cluster(1)
    place = tmp_path / "streams"
    place.mkdir()
    names = [place / "events", place / "trace"]
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        flags = ["--events", str(names[0]), "--trace", str(names[1])]
        process = spawn(cluster[1].command(flags), stderr=stderr, env=cluster.environment)
    wait_until(lambda: names[0].exists() and "elected" in names[0].read_text(), "it leads")

    def told(words):
        wait_until(lambda: log.read_text().count(words) == 2, "it is told of")

    if directory_too:
        shutil.rmtree(place)
        told("cannot be made again")
        place.mkdir()
    else:
        for name in names:
            name.unlink()
    told("it is there again")
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE) == 0
    assert '"event":"stopped"' in names[0].read_text()
    assert names[1].read_text()


def test_a_stream_goes_on_by_itself_once_there_is_room(new_cluster, spawn, tmp_path, ports):
    """And all that looks at the node tells of it meanwhile."""
    cluster = new_cluster(1)
    events = tmp_path / "events"
    events.symlink_to("/dev/full")
    http = ports.take()
    process = spawn(
        cluster[1].command(["--events", str(events), "--http", f"127.0.0.1:{http}"]),
        stderr=subprocess.DEVNULL,
        env=cluster.environment,
    )

    def lost():
        lines = ask(http, "/metrics").body.splitlines()
        return [int(line.split()[1]) for line in lines if line.startswith("bullring_events_lost_")]

    def status():
        return cluster.status()["nodes"][0]

    interrupted = "; its event stream is interrupted: No space left on device"
    wait_until(lambda: status()["leader"] == 1, "it leads all the same")
    wait_until(lambda: status()["why"].endswith(interrupted), "status tells of it")
    wait_until(lambda: lost() != [0], "a metric counts it")
    assert status()["events_lost"] > 0
    events.unlink()
    wait_until(lambda: not status()["why"].endswith(interrupted), "it goes on by itself")
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE) == 0
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    assert (lines[0]["event"], lines[-1]["event"]) == ("lost", "stopped")
    assert list(lines[0]) == ["ts_ns", "time", "node", "event", "count"]
    assert lines[0]["count"] > 0
    audited = subprocess.run(
        [find_program(), "audit", "--json", str(events)], capture_output=True, check=False
    )
    assert "lost_events" in [gap["kind"] for gap in json.loads(audited.stdout)["gaps"]]


def test_hangup_opens_the_file_again(new_cluster):
    cluster, _ = new_cluster(1).settled()
    path = cluster[1].current.stream.path
    os.rename(path, path + ".1")
    cluster[1].current.process.send_signal(signal.SIGHUP)
    cluster.wait_for(lambda: os.path.exists(path), "the file is there again")
    assert cluster[1].stop() == 0
    with open(path, encoding="utf-8") as file:
        later = [json.loads(line)["event"] for line in file]
    with open(path + ".1", encoding="utf-8") as file:
        earlier = [json.loads(line)["event"] for line in file]
    assert later[-1] == "stopped"
    assert earlier[0] == "started"
    assert "stopped" not in earlier


@pytest.fixture
def full_pipe(tmp_path):
    """The path of a pipe that nobody reads and that holds no further byte."""
    path = tmp_path / "stuck"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        while True:
            os.write(pipe, b"x" * 4096)
    except BlockingIOError:
        pass
    yield path
    os.close(pipe)


@ON_USUAL
def test_a_reader_that_does_not_read_slows_no_election(new_cluster, full_pipe, algorithm, n):
    """Its stream is interrupted with an error line; the node goes on."""
    cluster = new_cluster(n, algorithm)
    stuck = cluster[n]
    stuck.flags = ["--events", str(full_pipe)]
    cluster.start()
    cluster.wait_for(lambda: cluster.status()["leader"] == n, "the node leads")
    stuck.kill()
    cluster.wait_for(lambda: cluster.status()["leader"] == n - 1, "another leads")


@ON_USUAL
def test_changes_are_logged_and_heartbeats_are_not(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--log-format", "json"]).settled()
    before = {node.id: node.current.log() for node in cluster}
    assert_unchanged(cluster, leader, 2.0, "nothing")
    for node in cluster:
        assert node.current.log() == before[node.id]
        for line in before[node.id].splitlines():
            assert {"time", "level", "node"} <= set(json.loads(line))


def test_a_change_has_its_parts_as_fields_of_json(new_cluster):
    cluster = new_cluster(1, flags=["--log-format", "json"]).start()
    epoch = cluster.wait_settled().view[1]
    assert cluster[1].stop() == 0
    lines = [json.loads(line) for line in cluster[1].current.log().splitlines()]
    changes = [line for line in lines if "role" in line]
    keys = ["role", "old_role", "epoch", "leader", "old_leader"]
    assert [[change[key] for key in keys] for change in changes[-2:]] == [
        ["leader", "follower", epoch, 1, None],
        ["follower", "leader", epoch, None, 1],
    ]
    assert all(change["reason"] for change in changes)


def test_a_hook_for_each_change(new_cluster):
    cluster = new_cluster(1)
    said = cluster.directory / "said"
    cluster[1].flags = [
        "--on-elected",
        f"echo elected >> {said}",
        "--on-deposed",
        f"echo deposed >> {said}",
    ]
    cluster.start().wait_settled()

    def words():
        return said.read_text().split() if said.exists() else []

    cluster.wait_for(lambda: words() == ["elected"], "the hook for the election")
    assert cluster[1].stop() == 0
    assert words() == ["elected", "deposed"]
