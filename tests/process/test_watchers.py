"""200 watchers leave an election as fast as none, within 20 %."""

import statistics
import subprocess

import pytest
from bench.cases import at_random_phase, crash_ns
from clusters import on_both


pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.limit(900)]

WATCHERS = 200
ROUNDS = 15


def elections_ms(cluster):
    took = []
    for _ in range(ROUNDS):
        leader = cluster.wait_settled()
        at_random_phase()  # when the watchers have told the change before
        took.append(crash_ns(leader) / 1e6)
        leader.restart()
    cluster.wait_settled()
    return took


def start_watchers(spawn, cluster):
    watchers = [
        spawn(
            [cluster.program, "watch", "--peers", f"1={cluster[1].address}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=cluster.environment,
        )
        for _ in range(WATCHERS)
    ]
    for watcher in watchers:
        assert b"leader" in watcher.stdout.readline()
    return watchers


@on_both(5)
def test_an_election_is_as_fast_as_without_them(new_cluster, spawn, algorithm, n):
    """All watch the lowest node, which is never killed here, so that they stay connected. The
    rounds with and without them alternate, because a shared machine has its moods."""
    cluster = new_cluster(n, algorithm)
    cluster[1].flags = ["--priority", "never"]
    cluster.start()
    alone, watched = [], []
    for _ in range(6):
        alone += elections_ms(cluster)
        watchers = start_watchers(spawn, cluster)
        watched += elections_ms(cluster)
        assert all(watcher.poll() is None for watcher in watchers)
        end_all(watchers)
    without, beside = statistics.median(alone), statistics.median(watched)
    print(
        f"{algorithm}, {n} nodes: median {without:.3f} ms alone, {beside:.3f} ms with "
        f"{WATCHERS} watchers, {beside / without:.2f} times; {len(alone)} elections each"
    )
    assert beside <= without * 1.2


def end_all(watchers):
    for watcher in watchers:
        watcher.kill()
    for watcher in watchers:
        watcher.communicate()
