"""Why the end of a killed node is told at once, and first to those that elect: no idle thread holds
its sessions, and they have their descriptors in the order of the members, with a vote above all.
"""

import contextlib
import os

from clusters import on_both

VOTERS_FROM = 64


def descriptors(folder):
    """By number: what it is, but those that are closed meanwhile."""
    found = {}
    for fd in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            found[int(fd)] = os.readlink(f"{folder}/{fd}")
    return found


def closing_orders(process):
    """Of the sessions that it has dialled; one that lingers may have the first of its order."""
    own = descriptors(f"{process}/fd")
    dialled = sorted(fd for fd, what in own.items() if fd >= 100 and what.startswith("socket:"))
    return [(fd - 100) // 8 for fd in dialled]


@on_both(3)
def test_idle_threads_hold_no_session_and_the_best_peer_has_the_highest(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    process = f"/proc/{cluster.wait_settled().current.process.pid}"
    assert closing_orders(process) == [VOTERS_FROM, VOTERS_FROM + 1]
    threads = [t for t in os.listdir(f"{process}/task") if f"/proc/{t}" != process]
    assert threads
    for thread in threads:
        held = descriptors(f"{process}/task/{thread}/fd").values()
        assert not [what for what in held if what.startswith("socket:")]


@on_both(3)
def test_those_that_elect_learn_of_the_end_before_members_without_a_vote(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=["--no-preempt"]).settled()
    founders = [node.address for node in cluster]
    others = [VOTERS_FROM + i for i in range(n) if i + 1 != leader.id]
    process = f"/proc/{leader.current.process.pid}"
    # One after the other: a session keeps the place that its member had in the list at its start.
    for node_id, joined in ((4, [3]), (5, [3, 4])):
        node = cluster.new_node(node_id)
        node.join = founders
        node.start()
        wanted = joined + others
        cluster.wait_for(lambda w=wanted: closing_orders(process) == w, f"{node_id} is dialled")
