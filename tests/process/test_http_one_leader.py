"""No two nodes answer /leader with 200 for one instant, whatever is done to the leader."""

import os
import pathlib
import subprocess
import sys

import pytest
from bullring_safety import SafetyViolation
from clusters import on_both, rounds
from waiting import DEADLINE

pytestmark = pytest.mark.limit(3600)

ROUNDS = 20, 1000  # kills and SIGSTOPs of the leader
PROBER = pathlib.Path(__file__).with_name("leader_prober.py")


def leaderships(prober):
    """[(first, last, epoch, count)]"""
    prober.terminate()
    out, _ = prober.communicate(timeout=DEADLINE)
    for line in out.splitlines():
        epoch, first, last, count = map(int, line.split())
        yield first, last, epoch, count


@on_both(3)
def test_no_two_nodes_say_200_for_one_instant(
    new_cluster, ports, spawn, draw, record_property, algorithm, n
):
    # Who is not killed for it comes back to where it stood.
    left_alone = ["--no-preempt", "--hang-after", "off"]
    cluster = new_cluster(n, algorithm, profile="fast", flags=left_alone)
    for node in cluster:
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
    cluster.start()
    played = 0
    for _ in rounds(*ROUNDS):
        played += 1
        leader = cluster.wait_settled()
        if draw.random() < 0.5:
            cluster.wait_elected(leader.kill())
            leader.restart()
        else:
            cluster.wait_elected(leader.hang())
            leader.resume()  # it was in the middle of whatever
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
    assert len({epoch for _, _, epoch, _, _ in led}) >= played // 2
    for one, other in zip(led, led[1:]):
        if one[1] >= other[0]:
            raise SafetyViolation(f"two nodes answered 200: {one} and {other}")
        if one[2] >= other[2]:
            raise SafetyViolation(f"the epoch falls: {one} and {other}")
