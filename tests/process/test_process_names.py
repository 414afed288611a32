"""How the processes of a node are named: who looks for `bullring` in ps finds all of them, and by
the exact name the nodes alone.
"""

import pathlib
import signal

from harness import netns
import pytest
from harness.address import Hosts
from harness.task import children, signal_all, wait_family
from clusters import LONG
from harness.pid_namespace import IN_NAMESPACE, needs_namespace

SPACES = netns.unavailable()
NODE, KEEPER, NOTICE = "bullring", "bullring-keeper", "bullring-notice"
GUARDED = {"bullring-guard", "bullring-shield"}


def names_below(pid):
    """The name of a process and of all that it has below itself, by their numbers."""
    found = {pid: pathlib.Path(f"/proc/{pid}/comm").read_text().strip()}
    for child in children(pid):
        found.update(names_below(child))
    return found


def settled_names(cluster, pid, expected):
    """The same once they are as expected: a process is named a moment after it was made."""

    def names():
        try:
            found = names_below(pid)
        except OSError:
            return None
        return found if sorted(found.values()) == sorted(expected) else None

    return cluster.wait_for(names, lambda: f"{expected} instead of {names_below(pid)}")


def assert_found_by_prefix(found, but=()):
    for name in found.values():
        assert name.startswith("bullring") or name in but, found
        assert len(name) <= 15  # the kernel cuts off what is longer


def test_of_a_node_with_a_command(new_cluster, secured):
    cluster = secured("key", n=3, flags=LONG).cluster
    for node in cluster:
        node.task = ["sleep", "1000"]
    leader = cluster.start().wait_settled()
    wait_family(leader)
    expected = [NODE, KEEPER, NOTICE, *GUARDED, "sleep"]
    found = settled_names(cluster, leader.current.process.pid, expected)
    assert_found_by_prefix(found, but={"sleep"})


@pytest.mark.skipif(SPACES is not None, reason=str(SPACES))
def test_of_a_node_with_an_address(new_cluster):
    hosts = Hosts(make=new_cluster)
    try:
        hosts.cluster.start()
        leader = hosts.wait_held()
        expected = [NODE, KEEPER, *GUARDED, "bullring-holder"]
        found = settled_names(hosts.cluster, leader.current.process.pid, expected)
        assert_found_by_prefix(found)
    finally:
        hosts.close()


@needs_namespace
def test_of_the_first_process_of_a_container(new_cluster):
    cluster = new_cluster(1)
    cluster[1].prefix = IN_NAMESPACE
    cluster.start().wait_leader()
    expected = ["unshare", "bullring-init", NODE, KEEPER]
    found = settled_names(cluster, cluster[1].current.process.pid, expected)
    assert_found_by_prefix(found, but={"unshare"})


def test_a_signal_to_end_that_reaches_all_of_them_does_no_harm(new_cluster, journal):
    cluster = new_cluster(3, flags=LONG)
    for node in cluster:
        node.task = journal.command()
    leader = cluster.start().wait_settled()
    cluster.wait_for(journal.begun, "its command")
    leader.current.expected_to_run = False
    found = names_below(leader.current.process.pid).items()
    named = [pid for pid, name in found if name.startswith("bullring")]
    signal_all(reversed(named), signal.SIGTERM)  # the node last
    leader.wait_exit()
    assert leader.current.stream.of("deposed")[-1]["reason"] == "stopped"
    following = cluster.wait_leader()
    assert following.id != leader.id
    cluster.wait_for(lambda: len(journal.begun()) == 2, "the next one's command")
