"""When a majority is lost for ever: one that is left is made the only member, and nobody else makes
anybody lead.
"""

import os
import shutil
import subprocess

import pytest
from clusters import on_both
from harness.node import clean_environment, find_program
from harness.waiting import DEADLINE

ALONE = "--others-are-lost"


def refound(directory, node_id, *flags, environment=None):
    return subprocess.run(
        [find_program(), "member", "refound", str(node_id), "--data-dir", str(directory), *flags],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=clean_environment() | (environment or {}),
    )


def of_node(node, *flags):
    return refound(node.data_dir, node.id, *flags)


def killed(*nodes):
    for node in nodes:
        node.kill()
    for node in nodes:
        node.wait_exit()


def why(cluster):
    return {node["id"]: node["why"] or "" for node in cluster.status()["nodes"]}


@on_both(3)
def test_one_that_is_left_leads_alone_and_whoever_comes_back_is_out(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    one, two, three = cluster
    before = cluster.wait_settled().view[1]
    cluster.wait_its_id()
    killed(one, two)
    assert three.stop() == 0
    done = of_node(three, ALONE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "node 3 is the only member of cluster bullring, in place of 1,2,3 (list 0.0); "
        "start it, and add the others anew\n"
    )
    three.start()
    cluster.wait_settled()
    assert three.view[0] == 3
    assert three.view[1] > before
    (told,) = three.current.stream.of("asked")
    assert (told["what"], told["answer"]) == ("member refound 3 --others-are-lost", "done")
    assert told["by"] == f"user {os.getuid()}"
    assert told["from"].startswith("this machine, 20")
    assert "member refound 3 --others-are-lost was asked for by user " in three.current.log()
    assert not (three.data_dir / "refounded").exists()
    # The lost ones have their disks after all.
    leads = three.view
    one.start()
    two.start()
    cluster.wait_for(
        lambda: all(why(cluster)[node].startswith("removed: ") for node in (1, 2)),
        "both are told that they are out",
    )
    for node in (one, two):
        added = cluster.member("add", f"{node.id}={node.address}", "--voter")
        assert added.returncode == 0, added.stderr
    assert cluster.member_list()[1] == {1: True, 2: True, 3: True}
    cluster.wait_settled()
    assert three.view == leads


@on_both(3)
def test_of_two_that_were_both_made_the_only_one_one_is_emptied_and_added(
    new_cluster, algorithm, n
):
    cluster, _ = new_cluster(n, algorithm, flags=["--lease-max", "1s"]).settled()
    one, two, three = cluster
    killed(*cluster)
    assert of_node(three, ALONE).returncode == 0
    assert of_node(two, ALONE).returncode == 0
    # The mistake is seen before the second one is started, or two would lead.
    three.start()
    cluster.wait_for(lambda: three.leads, "node 3 leads alone")
    shutil.rmtree(two.data_dir)
    added = cluster.member("add", f"2={two.address}", peers=f"3={three.address}")
    assert added.returncode == 0, added.stderr
    two.start()
    assert cluster.member("promote", "2", peers=f"3={three.address}").returncode == 0
    assert cluster.member_list()[1] == {2: True, 3: True}
    cluster.wait_settled()


@on_both(3)
def test_where_the_list_was_never_changed_new_nodes_take_the_lost_ones_places(
    new_cluster, algorithm, n
):
    flags = ["--lease-max", "1s", "--bootstrap-wait", "1s"]
    cluster = new_cluster(n, algorithm, flags=flags).start()
    before = cluster.wait_settled().view[1]
    one, two, three = cluster
    killed(one, two)
    for node in (one, two):
        shutil.rmtree(node.data_dir)
        node.start()
    assert cluster.wait_settled().view[1] > before
    assert cluster.member_list()[0] == "0.0"


def test_it_is_silent_for_what_it_has_promised_before(new_cluster):
    cluster, leader = new_cluster(3, flags=["--lease", "3s", "--no-preempt"]).settled()
    left = next(node for node in cluster if node is not leader)
    killed(left)
    assert of_node(left, ALONE).returncode == 0
    # Its promise to that leader counts, also when it is the only member.
    began_ns = left.start().current.started_ns
    killed(leader)
    assert cluster.wait_elected(began_ns)["ts_ns"] - began_ns >= 3e9
    assert left.leads


def test_nothing_is_changed_before_it_is_said_that_the_others_are_lost(new_cluster):
    cluster, _ = new_cluster(3).settled()
    node = cluster[1]
    running = of_node(node, ALONE)
    assert (running.returncode, running.stdout) == (1, "")
    assert f"the data directory {node.data_dir} is in use by process" in running.stderr
    killed(*cluster)
    state = node.data_dir / "state"
    before = state.read_bytes()
    asked = of_node(node)
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "Give --others-are-lost if it never will; nothing has been changed" in asked.stderr
    assert state.read_bytes() == before
    # Neither in a file nor in the environment, which would say so of every loss to come.
    lost = {"BULLRING_OTHERS_ARE_LOST": "true"}
    said = refound(node.data_dir, 1, environment=lost)
    assert said.returncode == 2
    assert "it can only be given on the command line" in said.stderr
    assert state.read_bytes() == before
    assert of_node(node, ALONE).returncode == 0
    after = state.read_bytes()
    again = of_node(node, ALONE)
    assert again.stdout == "node 1 is the only member of cluster bullring already\n"
    assert state.read_bytes() == after


def test_it_says_which_directory_it_wants(new_cluster, tmp_path):
    cluster, _ = new_cluster(3).settled()
    killed(*cluster)
    directory = cluster[1].data_dir
    for arguments, complaint in (
        ((tmp_path / "none", 1), "No such file or directory"),
        ((tmp_path, 1), f"there is no state file in {tmp_path}"),
        ((directory, 2), "node 1"),
        ((directory, 1, "--cluster", "red"), "red"),
    ):
        refused = refound(*arguments, ALONE)
        assert (refused.returncode, refused.stdout) == (1, ""), arguments
        assert complaint in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["refound"], "no ID; expected bullring member refound ID"),
        (["refound", "x"], 'ID "x" is not a number'),
        (["refound", "1", "--peers", "1=a:1"], "--peers: it means nothing to member refound"),
        (["refound", "1", "--local"], "--local: it means nothing to member refound"),
        (["refound", "1", "--voter"], "--voter: it means nothing to member refound"),
        (
            ["remove", "1", "--peers", "1=127.0.0.1:7100", ALONE],
            "--others-are-lost: it means nothing to member remove; it goes with member refound",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(words, complaint):
    answer = subprocess.run(
        [find_program(), "member", *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=clean_environment(),
    )
    assert answer.returncode == 2, words
    assert complaint in answer.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write for another user")
def test_what_root_writes_belongs_to_the_directorys_owner(new_cluster):
    cluster, _ = new_cluster(3).settled()
    killed(*cluster)
    directory = cluster[1].data_dir
    owner = (65534, 65534)
    for path in (directory, *directory.iterdir()):
        os.chown(path, *owner)
    # It has to get there.
    cluster.directory.chmod(0o755)
    assert of_node(cluster[1], ALONE).returncode == 0
    there = [path.stat() for path in (directory, *directory.iterdir())]
    assert {(stat.st_uid, stat.st_gid) for stat in there} == {owner}


@on_both(3)
def test_a_majority_of_old_members_elects_nobody(new_cluster, algorithm, n):
    """They are started together again, and none of those of today is there."""
    cluster, _ = new_cluster(n, algorithm, flags=["--no-preempt", "--lease-max", "1s"]).settled()
    for node_id in (4, 5):
        node = cluster.new_node(node_id).start()
        assert cluster.member("add", f"{node_id}={node.address}", "--voter").returncode == 0
    # Each of the old ones misses its own removal.
    for node_id in (1, 2, 3):
        killed(cluster[node_id])
        cluster.wait_leader()
        assert cluster.member("remove", str(node_id)).returncode == 0
    last = cluster.wait_settled().view[1]
    killed(cluster[4], cluster[5])
    for node_id in (1, 2, 3):
        cluster[node_id].start()
    old = [cluster[node_id] for node_id in (1, 2, 3)]
    cluster.wait_for(
        lambda: why(cluster)[1].startswith("removed: "), "who lacks more is told by the others"
    )
    cluster.never(lambda: any(node.leads for node in old), "old members elect a leader", 3)
    cluster[4].start()
    cluster[5].start()
    cluster.wait_for(
        lambda: all(why(cluster)[node.id].startswith("removed: ") for node in old), "all are out"
    )
    assert cluster.wait_leader(among=(4, 5)).view[1] > last
