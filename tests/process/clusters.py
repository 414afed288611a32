"""The tests of real processes share this beside their fixtures: which clusters are tried, and what
must not change.
"""

import os
import time

import pytest

ALL = os.environ.get("BULLRING_TEST_ALL", "") not in ("", "0")
_EVERY = [("bully", 3), ("bully", 5), ("ring", 3), ("ring", 5)]
_USUAL = _EVERY if ALL else [("bully", 5), ("ring", 3)]


# For tests that tell one mechanism from another by time: what waits for the end of a lease takes
# twice as long as what is quick may take, however busy the machine is.
LONG = ["--lease", "5s"]
SOON_NS = 2.5e9


def replaced_soon(cluster, since_ns):
    """Whether the next leader did not wait for the end of a lease that is LONG."""
    return cluster.wait_elected(since_ns)["ts_ns"] - since_ns < SOON_NS


# Why a cluster is not judged by the audit (new_cluster):
TEXTBOOK = "some of its nodes do without a majority, which promises nothing"


def rounds(usual, many):
    """Counts the rounds of an attack: so many in the gate, many more with BULLRING_TEST_ALL. The
    rest is left out when the time is up that scripts/soak has (CLOCK_MONOTONIC, in seconds).
    """
    until = float(os.environ.get("BULLRING_ROUNDS_UNTIL", "inf"))
    for number in range(many if ALL else usual):
        if number > 0 and time.monotonic() > until:
            return
        yield number


def on(*clusters):
    """Runs a test once for each (algorithm, n)."""
    return pytest.mark.parametrize(("algorithm", "n"), clusters)


ON_EVERY = on(*_EVERY)
ON_USUAL = on(*_USUAL)


def on_both(n):
    """Runs a test for both algorithms with n nodes."""
    return on(("bully", n), ("ring", n))


def assert_unchanged(cluster, leader, during, what):
    """The leader leads on in its epoch, and every acting node says so all the time."""
    before = leader.view
    cluster.never(
        lambda: any(node.view != before for node in cluster.acting) or not leader.leads,
        f"{what}: node {leader.id} loses epoch {before[1]}",
        during,
    )
