"""Why the end of a killed node is told at once, and to its likely successor first: no idle thread
holds its sessions, and they have their descriptors in the order of the members.
"""

import os

from clusters import on_both


def descriptors(folder):
    """By number: what it is."""
    return {int(fd): os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)}


@on_both(3)
def test_idle_threads_hold_no_session_and_the_best_peer_has_the_highest(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    process = f"/proc/{cluster.wait_settled().current.process.pid}"
    own = descriptors(f"{process}/fd")
    dialled = sorted(fd for fd, what in own.items() if fd >= 100 and what.startswith("socket:"))
    # One that lingers may still have the first number of its member.
    assert [(fd - 100) // 8 for fd in dialled] == [0, 1]
    threads = [t for t in os.listdir(f"{process}/task") if f"/proc/{t}" != process]
    assert threads
    for thread in threads:
        held = descriptors(f"{process}/task/{thread}/fd").values()
        assert not [what for what in held if what.startswith("socket:")]
