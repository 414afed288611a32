"""The last event of a leader that has died without a word: the process that outlives it writes it,
once, after the last line of the leader itself, and only if its leadership was told.
"""

import json
import os
import pathlib
import signal

import pytest
from harness.audit import Audit
from harness.events import EventFile, now_ns
from broken_listener import break_listener
from harness.task import alive, signal_all, wait_family
from clusters import LONG, ON_EVERY, on_both

KEYS = ["ts_ns", "time", "node", "event", "epoch", "reason", "held_until_ns"]


def lines_of(incarnation):
    """Read anew: the last line comes after the end of the process."""
    return [json.loads(line) for line in open(incarnation.stream.path)]


def wait_last(cluster, incarnation):
    def last():
        lines = lines_of(incarnation)
        return lines[-1] if lines[-1]["event"] == "deposed" else None

    return cluster.wait_for(last, "the last event")


def assert_told(cluster, incarnation, epoch, reason, from_ns, next_elected):
    last = wait_last(cluster, incarnation)
    assert list(last) == KEYS
    assert (last["epoch"], last["reason"]) == (epoch, reason)
    lines = lines_of(incarnation)
    elected = [line for line in lines if line["event"] == "elected"][-1]
    assert elected["epoch"] == epoch
    assert elected["ts_ns"] <= last["held_until_ns"] <= next_elected["ts_ns"]
    assert last["held_until_ns"] <= last["ts_ns"]
    assert last["ts_ns"] >= from_ns
    assert [line["ts_ns"] for line in lines if line["event"] == "deposed"] == [last["ts_ns"]]
    # The streams alone say all that there is to be said about the leadership.
    audit = cluster.audit()
    assert audit.proved, audit.unproved()
    (held,) = [held for held in audit.leaderships if held.epoch == epoch]
    assert (held.end_ns, held.reason) == (last["held_until_ns"], reason)
    return last


@ON_EVERY
def test_a_leader_that_was_killed_has_died(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    for _ in range(3):
        old = cluster.wait_settled()
        epoch, incarnation = old.view[1], old.current
        killed_ns = old.kill()
        elected = cluster.wait_elected(killed_ns)
        old.wait_exit()
        last = assert_told(cluster, incarnation, epoch, "died", killed_ns, elected)
        assert last["held_until_ns"] > killed_ns - cluster.timing.heartbeat * 2e6
        old.start()
        cluster.wait_leader()


@on_both(3)
def test_a_leader_that_was_killed_for_standing_still_has_hung(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm, flags=LONG).settled()
    epoch, incarnation = old.view[1], old.current
    hung_ns = old.hang_for_good()
    stopped_ns = now_ns()  # the host may have stood still before the signal
    elected = cluster.wait_elected(hung_ns)
    old.wait_exit()
    last = assert_told(cluster, incarnation, epoch, "hung", hung_ns, elected)
    # The time after its last step was nobody's.
    assert last["held_until_ns"] <= stopped_ns + 1e6


@on_both(3)
def test_nothing_is_told_of_a_follower_or_of_one_that_has_said_it_itself(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--no-preempt"]).settled()
    follower = next(node for node in cluster if node is not leader)
    follower.crash()
    stopped = leader.current
    assert leader.stop() == 0
    follower.start()
    # The one that was waited for last was there long after the others had ended.
    cluster.wait_leader()
    assert [line["event"] for line in lines_of(follower.incarnations[0])].count("deposed") == 0
    lines = lines_of(stopped)
    assert [line["event"] for line in lines].count("deposed") == 1
    assert lines[-1]["event"] == "stopped"


def test_one_that_has_resigned_before_it_dies_is_not_told_of_again(new_cluster):
    cluster, old = new_cluster(3, flags=["--no-preempt"]).settled()
    assert cluster.resign().returncode == 0
    cluster.wait_for(lambda: old.current.stream.of("deposed"), "it has said so")
    incarnation = old.current
    old.crash()
    old.start()
    cluster.wait_leader()
    assert [line["event"] for line in lines_of(incarnation)].count("deposed") == 1


def test_on_stdout(new_cluster):
    cluster = new_cluster(1)
    node = cluster[1]
    node.start(["--events", "-"])

    def events():
        return [json.loads(line) for line in node.current.out_path.read_text().splitlines()]

    cluster.wait_for(lambda: [e for e in events() if e["event"] == "elected"], "it leads")
    node.crash()
    cluster.wait_for(lambda: events()[-1]["event"] == "deposed", "the last event")
    assert events()[-1]["reason"] == "died"


@pytest.mark.parametrize(
    ("attack", "hang_after", "reason"),
    [
        ("kill", "100ms", "died"),
        ("hang_for_good", "100ms", "hung"),
        ("hang_for_good", "off", "hung"),
    ],
)
def test_under_run_it_held_until_its_command_was_dead(new_cluster, attack, hang_after, reason):
    cluster = new_cluster(3, flags=["--hang-after", hang_after, "--kill-after", "1s"])
    for node in cluster:
        # It takes its time to end.
        node.task = ["sh", "-c", 'trap "sleep 0.2; exit 0" TERM; while :; do sleep 0.01; done']
    old = cluster.start().wait_settled()
    command = wait_family(old).command
    epoch, incarnation = old.view[1], old.current
    at_ns = getattr(old, attack)()
    seen_ns = looked_ns = now_ns()
    while alive(command):
        seen_ns, looked_ns = looked_ns, now_ns()
    elected = cluster.wait_elected(at_ns)
    assert old.wait_exit() == -signal.SIGKILL
    last = assert_told(cluster, incarnation, epoch, reason, at_ns, elected)
    assert last["held_until_ns"] >= seen_ns
    assert last["held_until_ns"] - at_ns >= 0.2e9


def test_when_nobody_outlives_it_nothing_is_told(new_cluster):
    cluster = new_cluster(3)
    for node in cluster:
        node.task = ["sleep", "1000"]
    old = cluster.start().wait_settled()
    family = wait_family(old)
    incarnation = old.current
    killed_ns = now_ns()
    incarnation.expected_to_run = False
    signal_all([family.guard, family.node])
    cluster.wait_elected(killed_ns)
    assert [line["event"] for line in lines_of(incarnation)].count("deposed") == 0


@on_both(3)
def test_a_kill_around_the_end_of_the_lease_leaves_one_end(new_cluster, algorithm, n):
    """Its own line is a millisecond late: who of the two writes the end is left to chance."""
    flags = ["--no-preempt", "--hang-after", "off"]
    cluster = new_cluster(n, algorithm, profile="fast", flags=flags).start()
    for offset_ms in (-2, -0.5, 0, 0.3, 0.6, 0.9, 1.2, 2, 4):
        old = cluster.wait_settled()
        epoch, incarnation = old.view[1], old.current
        others = [node for node in cluster if node is not old]
        hung_ns = [node.hang() for node in others]
        # It renews at every heartbeat, so its lease is counted from about now.
        lapse_ns = hung_ns[-1] + cluster.timing.lease * 1e6
        cluster.wait_for(lambda at=lapse_ns + offset_ms * 1e6: now_ns() > at, "its moment")
        killed_ns = old.kill()
        old.wait_exit()
        for node in others:
            node.resume()
        last = wait_last(cluster, incarnation)
        assert last["epoch"] == epoch
        assert last["reason"] in ("died", "lease_expired")
        assert last["held_until_ns"] <= min(killed_ns + 50e6, lapse_ns + 50e6)
        kinds = [line["event"] for line in lines_of(incarnation)]
        assert kinds.count("deposed") == kinds.count("elected")
        old.start()
        cluster.wait_leader()
    audit = cluster.audit()
    assert audit.proved, audit.unproved()


def test_it_follows_the_file_that_is_rotated(new_cluster):
    cluster = new_cluster(1).start()
    node = cluster[1]
    cluster.wait_settled()
    path = pathlib.Path(node.current.stream.path)
    moved = path.rename(f"{path}.1")
    node.current.process.send_signal(signal.SIGHUP)
    cluster.wait_for(path.exists, "the file is opened again")
    node.crash()
    cluster.wait_for(lambda: path.read_text().endswith("\n"), "the last event")
    assert [json.loads(line)["reason"] for line in path.open()] == ["died"]
    audit = Audit(cluster.program, [path, moved])
    assert audit.proved
    assert [held.reason for held in audit.leaderships] == ["died"]


def test_it_begins_a_line_of_its_own(new_cluster):
    cluster = new_cluster(1).start()
    node = cluster[1]
    cluster.wait_settled()
    path = pathlib.Path(node.current.stream.path)
    node.current.stream = EventFile(os.devnull)  # what is in it is not for everybody
    with path.open("a") as stream:
        stream.write('{"ts_ns":17,"ti')
    node.crash()
    cluster.wait_for(lambda: path.read_text().endswith("}\n"), "the last event")
    *_, torn, last = path.read_text().splitlines()
    assert torn == '{"ts_ns":17,"ti'
    assert json.loads(last)["reason"] == "died"
    audit = Audit(cluster.program, [path])
    assert list(audit.gaps) == ["torn_line"]
    assert [held.reason for held in audit.leaderships] == ["died"]


@pytest.mark.parametrize("task", [None, ["sleep", "1000"]], ids=["node", "run"])
def test_a_leader_that_cannot_go_on_has_died(new_cluster, task):
    cluster = new_cluster(3, flags=["--no-preempt"])
    for node in cluster:
        node.task = task
    old = cluster.start().wait_settled()
    epoch, incarnation = old.view[1], old.current
    if task:
        wait_family(old)
    incarnation.expected_to_run = False
    at_ns = now_ns()
    break_listener(incarnation.process.pid)
    elected = cluster.wait_elected(at_ns)
    assert old.wait_exit() == 1
    assert_told(cluster, incarnation, epoch, "died", at_ns, elected)
    kinds = [line["event"] for line in lines_of(incarnation)]
    assert kinds[-2:] == ["stopped", "deposed"]
