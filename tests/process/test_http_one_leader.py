"""No two nodes answer /leader with 200 for one instant, whatever is done to the leader."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from broken_listener import break_listener
from harness.events import now_ns
from harness.safety import SafetyViolation
from clusters import on_both, rounds
from harness.waiting import DEADLINE

pytestmark = pytest.mark.limit(3600)

ROUNDS = 24, 1000  # what is done to the leader, in turn
PROBER = pathlib.Path(__file__).with_name("leader_prober.py")


def leaderships(prober):
    """[(first, last, epoch, count)]"""
    prober.terminate()
    out, _ = prober.communicate(timeout=DEADLINE)
    for line in out.splitlines():
        epoch, first, last, count = map(int, line.split())
        yield first, last, epoch, count


@pytest.mark.parametrize("task", [None, ["sleep", "1000"]], ids=["node", "run"])
@on_both(3)
def test_no_two_nodes_say_200_for_one_instant(
    new_cluster, ports, spawn, draw, record_property, algorithm, n, task
):
    # A leader that is not killed for it comes back to where it stood.
    left_alone = ["--no-preempt", "--hang-after", "off"]
    cluster = new_cluster(n, algorithm, profile="fast", flags=left_alone)
    for node in cluster:
        node.task = task
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
    path = os.pathsep.join(path for path in sys.path if path)
    probers = {
        node: spawn(
            [sys.executable, "-B", PROBER, str(node.http)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        for node in cluster
    }
    # One that stands still with a command is killed by its guard.
    attacks = ["kill", "abort", "stop", "stop twice", "failure"] + ([] if task else ["hang"])
    cluster.start()
    played = 0
    for _ in rounds(*ROUNDS):
        played += 1
        leader = cluster.wait_settled()
        attack = draw.choice(attacks)
        if attack == "kill":
            cluster.wait_elected(leader.kill())
            leader.restart()
        elif attack == "hang":
            cluster.wait_elected(leader.hang())
            leader.resume()  # it was in the middle of whatever
        elif attack == "abort":
            cluster.wait_elected(leader.end_by(signal.SIGABRT))
            leader.restart()
        elif attack.startswith("stop"):
            at_ns = leader.end_by(signal.SIGTERM)
            if attack == "stop twice":
                leader.end_by(signal.SIGTERM)
            cluster.wait_elected(at_ns)
            leader.wait_exit()
            leader.start()
        else:
            leader.current.expected_to_run = False
            at_ns = now_ns()
            break_listener(leader.current.process.pid)
            cluster.wait_elected(at_ns)
            assert leader.wait_exit() == 1
            leader.start()
    cluster.wait_settled()
    led = sorted(
        (first, last, epoch, node.id, count)
        for node, prober in probers.items()
        for first, last, epoch, count in leaderships(prober)
        if last >= first
    )
    answers = sum(count for *_, count in led)
    record_property("answers", answers)
    print(f"{len(led)} leaderships were seen in {answers} answers")
    ends = {
        (node.id, event["epoch"]): event["held_until_ns"]
        for node in cluster
        for incarnation in node.incarnations
        for event in incarnation.stream.of("deposed")
    }
    for _, last, epoch, node, _ in led:
        if ends.get((node, epoch), last) < last:
            raise SafetyViolation(f"node {node} said 200 after the end of epoch {epoch} was told")
    assert len({epoch for _, _, epoch, _, _ in led}) >= played // 2
    for one, other in zip(led, led[1:]):
        if one[1] >= other[0]:
            raise SafetyViolation(f"two nodes answered 200: {one} and {other}")
        if one[2] >= other[2]:
            raise SafetyViolation(f"the epoch falls: {one} and {other}")
