"""A machine that stands still for a part of a lease may cost a leader its lease: that is right, and
tells nothing about what a test looks for. Such a test is played again.

A test is disturbed if it failed, a leadership of one of its clusters ended, and the machine stood
still meanwhile for a fifth of the lease, as the witness of scripts/test has seen
(scripts/lib/gate/witness.py). It is played at most four times; disturbed each time, it is not
judged. What breaks safety, and a fault of the product, count at the first attempt: nobody gets here
with them.
"""

import os

import pytest
from _pytest.runner import runtestprotocol
from harness.events import now_ns
from harness.safety import ProductFault, SafetyViolation
from gate import witness
from gate.results import NOT_JUDGED

ATTEMPTS = 4
SHARE = 5  # of the lease

# Of the item, for the present attempt:
CLUSTERS = pytest.StashKey()  # those that its test has made
FAILED = pytest.StashKey()  # whether something of it has failed
FINAL = pytest.StashKey()  # whether that is something that no other attempt takes back


def note_result(item, call, report):
    item.stash[FAILED] |= report.failed
    if call.excinfo is not None:
        item.stash[FINAL] |= isinstance(call.excinfo.value, (ProductFault, SafetyViolation))


def longest_gap_ms(since_ns):
    """As the witness saw it; 0 where there is none."""
    path = os.environ.get("BULLRING_STANDSTILL")
    return max(witness.gaps_ms(path, since_ns), default=0) if path else 0


def disturbed(item, since_ns):
    """The disturbance of the test, or None."""
    if item.stash[FINAL]:
        return None
    for cluster in item.stash[CLUSTERS]:
        gap_ms = longest_gap_ms(since_ns)
        ended = [event for event in cluster.events() if event["event"] == "deposed"]
        lease_ms = cluster.shortest_lease_ms
        if ended and gap_ms >= lease_ms / SHARE:
            return f"stood still for {gap_ms:.0f} ms, the lease is {lease_ms:.0f} ms"
    return None


def play(item, nextitem):
    """Plays a test until it is undisturbed, and reports the last attempt."""
    for attempt in range(1, ATTEMPTS + 1):
        began_ns = now_ns()
        item.stash[CLUSTERS] = []
        item.stash[FAILED] = item.stash[FINAL] = False
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = [report for report in reports if report.failed]
        why = disturbed(item, began_ns) if failed else None
        if why is None:
            break
        print(f"{item.nodeid}: attempt {attempt}: this machine {why}")
    else:
        for report in failed:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), None, f"{NOT_JUDGED}this machine {why}")
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
