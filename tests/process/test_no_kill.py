"""--hang-after kills nobody who is well: half an hour idle, and half an hour beside a load of
processors, disk and memory. A host that makes its processes wait may cost leases, never a process.

BULLRING_MINUTES=5 shortens it.
"""

import collections
import contextlib
import os
import signal
import subprocess

import pytest
from harness.events import now_ns
from harness.profiles import PROFILES
from harness.waiting import seen_within

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.limit(7200)]

MINUTES = float(os.environ.get("BULLRING_MINUTES", 30))
LOAD = ["stress-ng", "--quiet", "--cpu", "4", "--io", "2", "--vm", "2", "--vm-bytes", "512M"]
# Its lease is 20 ms, and hosts stand still for longer: what happens there is told, not judged.
MAY_KILL = {"realtime"}
KILLED = "killed by its keeper"


@contextlib.contextmanager
def load(arguments):
    if not arguments:
        yield
        return
    process = subprocess.Popen(arguments)
    try:
        yield
        assert process.poll() is None, "the load has ended by itself"
    finally:
        process.terminate()
        process.wait()


def kept_running(clusters, seconds):
    """Polls them all; one that is killed is started again. How many, for each profile."""
    killed = collections.Counter()

    def look():
        for profile, cluster in clusters.items():
            cluster.poll()
            for node in cluster:
                status = node.current.process.poll()
                if status is not None:
                    killed[profile] += 1
                    print(profile, status, node.current.log()[-300:])
                    assert status == -signal.SIGKILL and KILLED in node.current.log()
                    node.current.expected_to_run = False
                    node.start()

    seen_within(seconds, look, every=0.05)
    return killed


@pytest.mark.parametrize("arguments", [[], LOAD], ids=["idle", "loaded"])
def test_nobody_who_is_well_is_killed(new_cluster, arguments):
    clusters = {profile: new_cluster(3, profile=profile) for profile in PROFILES}
    for cluster in clusters.values():
        cluster.start().wait_settled()
    with load(arguments):
        begun_ns = now_ns()
        killed = kept_running(clusters, 60 * MINUTES)
    for profile, cluster in clusters.items():
        elected = [e for e in cluster.events() if e["event"] == "elected" and e["ts_ns"] > begun_ns]
        print(f"{profile}: {killed[profile]} killed, {len(elected)} elections in {MINUTES:g} min")
    assert not set(killed) - MAY_KILL
