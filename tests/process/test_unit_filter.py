"""A node under the filter of system calls of bullring@.service, where what is not allowed kills it:
the filter refuses nothing that a node does. Likewise an address, under that of its own unit.
"""

import os
import shutil
import signal
import stat
import subprocess
import sys

from harness import netns
import pytest
from harness.address import Hosts
from harness.node import ROOT
from clusters import LONG
from harness.packaging_files import BUILD

pytest.importorskip("seccomp")

FILTER = [sys.executable, "-B", str(ROOT / "tests" / "harness" / "programs" / "under_filter.py")]
FILTERED = [*FILTER, str(BUILD / "packaging" / "bullring@.service")]
FOR_ADDRESSES = [*FILTER, str(BUILD / "packaging" / "bullring-address@.service")]
SPACES = netns.unavailable()


def under_filter(cluster):
    for node in cluster:
        node.prefix = FILTERED
    return cluster


@pytest.mark.parametrize("algorithm", ["bully", "ring"])
def test_a_node_calls_nothing_that_its_unit_forbids(new_cluster, tmp_path, algorithm):
    told = tmp_path / "told"
    flags = ["--on-elected", f"echo $BULLRING_EPOCH >>{told}", "--health-cmd", "true"]
    cluster = under_filter(
        new_cluster(3, algorithm, flags=[*flags, "--trace", "/dev/null"])
    ).start()
    leader = cluster.wait_settled()
    cluster.wait_for(
        lambda: told.exists() and told.read_text().count("\n") == 1, "the hook has run"
    )
    leader.current.process.send_signal(signal.SIGHUP)
    assert cluster.resign().returncode == 0
    leader = cluster.wait_settled()
    leader.kill()
    cluster.wait_leader()
    leader.restart()
    leader = cluster.wait_settled()
    for node in cluster:
        node.terminate()
    assert [node.wait_exit() for node in cluster] == [0, 0, 0]


def test_the_keeper_kills_a_leader_that_hangs_under_the_filter(new_cluster):
    cluster, leader = under_filter(new_cluster(3, flags=LONG)).settled()
    leader.hang_for_good()
    assert leader.wait_exit() == -signal.SIGKILL
    cluster.wait_leader()


NOBODY, DAEMON, BIN = 65534, 1, 2
# As PrivateUsers= has it: of users and groups those of the process alone.
IN_ITS_OWN_SPACE = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={DAEMON}", f"--groups={BIN}"),
    *("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={DAEMON}"),
]


def alone_in_its_space(new_cluster, group, more):
    if subprocess.run([*IN_ITS_OWN_SPACE, "true"]).returncode != 0:
        pytest.skip("this machine makes no user namespaces")
    cluster = new_cluster(1, flags=["--attach-group", group])
    os.chown(cluster.directory, NOBODY, DAEMON)
    node = cluster[1]
    node.program = shutil.copy(cluster.program, cluster.directory)  # which it may execute
    node.prefix = [*IN_ITS_OWN_SPACE, *more]
    cluster.settled()
    return node


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user")
def test_the_group_of_the_unit_may_attach(new_cluster):
    """Which needs no call that gives a file to anybody."""
    node = alone_in_its_space(new_cluster, "daemon", FILTERED)
    about = os.stat(node.data_dir / "attach.sock")
    assert (stat.S_IMODE(about.st_mode), about.st_gid) == (0o660, DAEMON)
    assert stat.S_IMODE(os.stat(node.data_dir).st_mode) == 0o710


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user")
def test_another_group_of_its_user_is_refused_by_name(new_cluster):
    node = alone_in_its_space(new_cluster, "bin", [])
    refused = f"--attach-group bin: cannot give it {node.data_dir}/attach.sock: Invalid argument"
    assert refused in node.current.log()
    assert not (node.data_dir / "attach.sock").exists()


@pytest.mark.skipif(SPACES is not None, reason=str(SPACES))
def test_an_address_calls_nothing_that_its_unit_forbids(new_cluster):
    hosts = Hosts(make=new_cluster)
    try:
        for node in hosts.cluster:
            node.prefix = [*node.prefix, *FOR_ADDRESSES]
        hosts.cluster.start()
        leader = hosts.wait_held()
        killed_ns = leader.kill()
        hosts.wait_taken_over(leader, killed_ns)
        leader.restart()
        leader = hosts.wait_held()
        for node in hosts.cluster:
            node.terminate()
        assert [node.wait_exit() for node in hosts.cluster] == [0, 0, 0]
    finally:
        hosts.close()


def test_the_filter_kills_what_the_unit_forbids(new_cluster):
    cluster = under_filter(new_cluster(1, flags=["--realtime", "on"])).start()
    node = cluster[1]
    node.current.expected_to_run = False
    assert node.wait_exit() == -signal.SIGSYS
