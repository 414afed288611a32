"""Rounds in which a process that leads through its node is stopped: it has lost valid() before
another one is told that it leads, whatever takes the leadership from it. `scripts/soak --attached`
plays hundreds.
"""

import os
import signal

import pytest
from clusters import on_both, rounds
from harness.safety import SafetyViolation, count_judged
from harness.task import stopped
from harness.waiting import wait_until
from harness.worker import Worker, check_intervals, next_told

STALL_AFTER_S = 0.1
ROUNDS = int(os.environ.get("BULLRING_ROUNDS", 40))  # with BULLRING_TEST_ALL


@pytest.fixture
def workers():
    made = []
    yield made
    for worker in made:
        worker.close()


def by_its_silence(cluster, holder):
    """It shows no progress (H3.6)."""


def by_an_operator(cluster, holder):
    cluster.command("resign")


def by_the_end_of_its_node(cluster, holder):
    holder.node.crash()


WAYS = [by_its_silence, by_an_operator, by_the_end_of_its_node]


@pytest.mark.limit(3600)
@on_both(3)
def test_a_stopped_holder_has_lost_it_before_another_is_told(
    new_cluster, workers, draw, record_property, request, algorithm, n
):
    cluster = new_cluster(n, algorithm, flags=["--hang-after", "off"]).start()
    cluster.wait_settled()
    workers += [Worker(node, STALL_AFTER_S).start() for node in cluster]
    played = 0
    try:
        for _ in rounds(1, ROUNDS // 2):
            play(cluster, workers, draw.choice(WAYS))
            played += 1
    finally:
        record_property("rounds", played)
    logs = [worker.events_path for worker in workers]
    held = check_intervals(cluster.program, logs, cluster.environment)
    assert len(held) > played
    count_judged(f"{request.node.nodeid}, the clients", len(held))


def play(cluster, workers, way):
    holder = wait_until(lambda: next((one for one in workers if one.leads), None), "a holder")
    epoch = holder.stream.epoch
    holder.signal(signal.SIGSTOP)
    wait_until(lambda: stopped(holder.process.pid), "that it stands")
    way(cluster, holder)
    told = wait_until(lambda: next_told(workers, epoch), "the next one that is told")
    holder.signal(signal.SIGCONT)
    lost = wait_until(lambda: holder.led("deposed", epoch), "that it sees its loss")
    # It asks all the time, so also that its first answer after the pause was no.
    if lost["held_until_ns"] >= told["ts_ns"]:
        raise SafetyViolation(f"{way.__name__}: {lost} although {told}")
    if not holder.node.running:
        holder.node.start()
