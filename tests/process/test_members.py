"""Members that are added, promoted, demoted, moved, removed and replaced while the cluster runs."""

import concurrent.futures
import json
import os
import re
import subprocess
import time

from clusters import on_both
from harness.waiting import DEADLINE

# The leader that a test begins with stays; a node without a file is silent for a second.
FLAGS = ["--no-preempt", "--lease-max", "1s"]
VOTERS_OF_THREE = {1: True, 2: True, 3: True}


def done(command, text):
    assert (command.returncode, command.stdout) == (0, text + "\n"), command.stderr


def is_removed(command, node_id):
    done(command, f"node {node_id} is no member, and stays out until it is added again")


def refused(command, text):
    assert (command.returncode, command.stdout) == (1, "")
    assert command.stderr == f"bullring: {text}\n"


def elections(cluster):
    return [event["epoch"] for event in cluster.events() if event["event"] == "elected"]


def grown_to_three(new_cluster, algorithm, *flags):
    """Nodes 1, 2 and 3, of which 1 has founded the cluster, and leads."""
    cluster = new_cluster(1, algorithm, flags=[*FLAGS, *flags]).start()
    cluster.wait_leader()
    for node_id in (2, 3):
        node = cluster.new_node(node_id).start()
        done(
            cluster.member("add", f"{node_id}={node.address}", "--voter"),
            f"node {node_id} is a member, at {node.address}, node {node_id} has a vote",
        )
    cluster.wait_leader()
    assert cluster.member_list()[1] == VOTERS_OF_THREE
    return cluster


@on_both(1)
def test_a_cluster_grows_and_shrinks_and_its_leader_stays(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    for node_id in (4, 5):
        node = cluster.new_node(node_id).start()
        assert cluster.member("add", f"{node_id}={node.address}", "--voter").returncode == 0
    assert cluster.wait_leader().id == 1
    status = cluster.status()
    assert [node["vote"] for node in status["nodes"]] == [True] * 5
    assert status["leader"] == 1
    done(cluster.member("demote", "2"), "node 2 has no vote")
    is_removed(cluster.member("remove", "2"), 2)
    is_removed(cluster.member("remove", "3"), 3)
    assert len(elections(cluster)) == 1
    # The founder, too: it hands over first.
    is_removed(cluster.member("remove", "1"), 1)
    assert cluster.member_list()[1] == {4: True, 5: True}
    assert cluster.wait_leader(among=(4, 5)).id in (4, 5)
    for node_id in (1, 2, 3):
        assert cluster[node_id].stop() == 0
    members = [event for event in cluster.events() if event["event"] == "members"]
    tags = [event["tag"].split(".") for event in members if event["node"] == 5]
    assert tags == sorted(tags, key=lambda tag: (int(tag[0]), int(tag[1])))
    assert [member["id"] for member in members[-1]["members"]] == [4, 5]


@on_both(1)
def test_a_removed_node_says_so_and_disturbs_nobody(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    removed = cluster[3]
    is_removed(cluster.member("remove", "3"), 3)
    told = next(node for node in cluster.status()["nodes"] if node["id"] == 3)
    assert told["votes"] is False
    assert told["why"] == f"removed: not in the list of members {cluster.member_list()[0]}"
    removed.crash()
    removed.start()
    before = cluster[1].view
    cluster.never(lambda: removed.leads or cluster[1].view != before, "a removed node acts", 2)
    for run in removed.incarnations:
        assert "this node has been removed from the members" in run.log()
    assert removed.stop() == 0
    # Its old list does not keep it out.
    removed.start()
    assert cluster.member("add", f"3={removed.address}", "--voter").returncode == 0
    assert cluster.member_list()[1] == VOTERS_OF_THREE
    assert elections(cluster) == [before[1]]


@on_both(1)
def test_nobody_is_reachable_at_an_address_that_was_a_slip(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    cluster.wait_settled()
    slipped = cluster[3]
    nowhere = f"127.0.0.1:{cluster.ports.take()}"
    changed = cluster.member("address", f"3={nowhere}")
    done(changed, f"node 3 has the address {nowhere}")
    assert changed.stderr == (
        f"bullring: node 3 does not answer at {nowhere}, where the others dial it from now on: "
        "Connection refused\n"
    )
    # --peers has where it is, and it follows there still.
    (told,) = [
        member
        for member in json.loads(cluster.member("list", "--json").stdout)["members"]
        if member["id"] == 3
    ]
    assert told["address"] == nowhere
    assert (told["reachable"], told["reached_at"]) == (False, slipped.address)
    (row,) = [line for line in cluster.member("list").stdout.splitlines() if nowhere in line]
    assert row.split()[3:5] == ["at", slipped.address]
    node = next(node for node in cluster.status()["nodes"] if node["id"] == 3)
    assert (node["address"], node["reachable"]) == (slipped.address, True)
    assert (node["listed_address"], node["listed_problem"]) == (nowhere, "Connection refused")
    # And back: then it is reachable where the list has it.
    changed = cluster.member("address", f"3={slipped.address}")
    done(changed, f"node 3 has the address {slipped.address}")
    assert changed.stderr == ""
    assert '"reachable":false' not in cluster.member("list", "--json").stdout
    cluster.wait_settled()


@on_both(1)
def test_a_leader_hands_over_by_its_directory_when_members_have_changed(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    leader = cluster.wait_settled()
    asked = time.monotonic()
    handed_over = subprocess.run(
        [cluster.program, "resign", "--local", "--data-dir", str(leader.data_dir)],
        capture_output=True,
        text=True,
        env=cluster.environment,
        timeout=DEADLINE,
    )
    assert handed_over.returncode == 0 and time.monotonic() - asked < 4, handed_over
    said = re.fullmatch(r"node ([123]) leads, epoch ([0-9]+)\n", handed_over.stdout)
    assert said and int(said[1]) != leader.id, handed_over
    view = (int(said[1]), int(said[2]))
    cluster.wait_for(lambda: all(node.view == view for node in cluster), "all follow that one")


@on_both(1)
def test_a_dead_machine_is_replaced_under_its_id_and_under_another(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    moved = cluster[3]
    moved.crash()
    # The same ID: a new address and an empty directory.
    moved.port = cluster.ports.take()
    moved.data_dir = cluster.directory / "node-3-again"
    done(cluster.member("address", f"3={moved.address}"), f"node 3 has the address {moved.address}")
    moved.start()
    cluster.wait_settled()
    # Another ID.
    moved.kill()
    other = cluster.new_node(7).start()
    done(cluster.member("add", f"7={other.address}"), f"node 7 is a member, at {other.address}")
    done(cluster.member("promote", "7"), "node 7 has a vote")
    is_removed(cluster.member("remove", "3"), 3)
    cluster.wait_settled()
    assert cluster.member_list()[1] == {1: True, 2: True, 7: True}
    assert len(elections(cluster)) == 1


@on_both(3)
def test_a_node_that_has_founded_a_cluster_of_its_own_stays_outside(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS).start()
    founded = new_cluster(1, algorithm, flags=FLAGS, ids=[4]).start()
    stray = founded[4]
    leader = cluster.wait_leader()
    founded.wait_leader()
    done(cluster.member("add", f"4={stray.address}"), f"node 4 is a member, at {stray.address}")
    promote = cluster.member("promote", "4", "--timeout", "1s")
    assert (promote.returncode, promote.stdout) == (1, "")
    *why, last = promote.stderr.splitlines()
    assert last == "bullring: node 4 refuses this node; the logs of both say why; waited 1s"
    # Said if it has answered by then.
    foreign = "of another cluster of this name, founded by 4"
    assert set(why) <= {f"bullring: node 4 at {stray.address}: {foreign}"}
    status = cluster.status()
    assert status["leader"] == leader.id
    assert [node["founders"] for node in status["nodes"]] == [[1, 2, 3]] * 3 + [[4]]
    table = cluster.command("status").stdout
    assert "; of another cluster of this name, founded by 4\n" in table
    # A leader shows the list of its disk, which is the changed one only a moment later.
    said = "founders is '4' here and '1,2,3' there"
    cluster.wait_for(lambda: said in stray.current.log(), "the founders differ")
    # Neither takes over anything of the other, also where the leader changes.
    leader.kill()
    cluster.wait_leader()
    assert cluster.member_list()[1] == {**VOTERS_OF_THREE, 4: False}
    leader.start()
    cluster.wait_settled()
    assert stray.leads
    # With an empty directory it is told whose member it is.
    assert stray.stop() == 0
    os.unlink(stray.current.stream.path)  # it is of the cluster of its own
    stray.data_dir = founded.directory / "node-4-again"
    stray.peers = f"{cluster.peers},4={stray.address}"
    stray.start()
    done(cluster.member("promote", "4", "--timeout", "30s"), "node 4 has a vote")


@on_both(3)
def test_who_reaches_a_cluster_founds_none_beside_it(new_cluster, algorithm, n):
    cluster = new_cluster(1, algorithm, flags=[*FLAGS, "--bootstrap-wait", "1s"]).start()
    cluster.wait_leader()
    # They are a majority of their own list, in which 1 is, too.
    for node_id in (2, 3):
        cluster.new_node(node_id)
    for node_id in (2, 3):
        cluster[node_id].start()
    said = "a cluster of this name was founded by 1, and not by 1,2,3, which peers has"
    for node_id in (2, 3):
        cluster.wait_for(lambda node=cluster[node_id]: said in node.current.log(), "it says so")
    cluster.never(lambda: cluster[2].leads or cluster[3].leads, "a second cluster is founded", 4)
    for node_id in (2, 3):
        node = cluster[node_id]
        assert cluster.member("add", f"{node_id}={node.address}", "--voter").returncode == 0
    assert cluster.member_list()[1] == VOTERS_OF_THREE
    assert len(elections(cluster)) == 1


@on_both(1)
def test_one_member_that_answers_is_enough_to_find_the_others(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    peers = f"3={cluster[3].address}"
    assert cluster.member_list(peers=peers)[1] == VOTERS_OF_THREE
    status = cluster.status(peers=peers)
    assert [node["id"] for node in status["nodes"]] == [1, 2, 3]
    assert status["leader"] == 1
    done(cluster.member("demote", "2", peers=peers), "node 2 has no vote")
    told = cluster.command("status", peers=peers).stdout
    assert "follows 1; has no vote\n" in told
    handed = cluster.command("resign", peers=peers)
    assert handed.returncode == 0, handed.stderr


@on_both(1)
def test_what_cannot_be_done_is_refused_with_the_reason(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    one, three = cluster[1], cluster[3]
    refused(cluster.member("add", f"4={three.address}"), f"node 3 has the address {three.address}")
    refused(cluster.member("promote", "9"), "node 9 is not a member; it is added by member add")
    node = cluster.new_node(4)
    assert cluster.member("add", f"4={node.address}").returncode == 0
    refused(
        cluster.member("promote", "4", "--timeout", "300ms"),
        "node 4 is not connected; waited 300ms",
    )
    # It is so already.
    done(cluster.member("promote", "2"), "node 2 has a vote, as before")
    # A mistyped ID is seen by that.
    done(cluster.member("remove", "9"), "node 9 is no member, as before")
    assert cluster.member("remove", "4").returncode == 0
    # Nothing that leaves no majority, whoever is dead.
    cluster[2].kill()
    three.kill()
    cluster.wait_for(lambda: not one.leads, "the leader has lost its majority")
    refused(cluster.member("remove", "2", "--timeout", "500ms"), "no leader was found within 500ms")


def test_a_leader_that_can_be_outvoted_by_the_dead_alone_refuses(new_cluster):
    cluster = grown_to_three(new_cluster, "bully")
    cluster[3].kill()
    refused(
        cluster.member("remove", "2", "--timeout", "300ms"),
        "no majority of the new voters would be connected: 1 of 2; waited 300ms",
    )
    is_removed(cluster.member("remove", "3"), 3)
    is_removed(cluster.member("remove", "2"), 2)
    refused(cluster.member("demote", "1"), "node 1 is the last voter")
    refused(
        cluster.member("remove", "1", "--timeout", "500ms"),
        "node 1 leads and is not removed: node 1 does not hand over: "
        "no successor: no other member ever leads",
    )


def test_what_makes_no_sense_is_refused_at_once(new_cluster):
    cluster = new_cluster(3)
    for words, complaint in (
        (["promote"], "no ID; expected bullring member promote ID"),
        (["add", "4"], 'entry "4" has no ID; expected ID=HOST:PORT'),
        (["add", "4=a:1,5=b:1"], '"4=a:1,5=b:1" are 2 members; expected one, as 4=10.0.0.4:7100'),
        (["remove", "x"], 'ID "x" is not a number; IDs are whole numbers'),
        (["list", "--voter"], "--voter: it means nothing to member list; it goes with member add"),
        (["replace", "4"], 'unknown action "replace"; expected one of list, add, remove, promote'),
    ):
        answer = cluster.member(*words)
        assert answer.returncode == 2, words
        assert complaint in answer.stderr


@on_both(1)
def test_two_who_change_at_once_both_get_what_they_want(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    nodes = [cluster.new_node(node_id).start() for node_id in (4, 5)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        commands = [
            pool.submit(cluster.member, "add", f"{node.id}={node.address}", "--voter")
            for node in nodes
        ]
        for command in commands:
            assert command.result().returncode == 0, command.result().stderr
    assert cluster.member_list()[1] == {**VOTERS_OF_THREE, 4: True, 5: True}
    assert len(elections(cluster)) == 1


@on_both(1)
def test_a_change_outlives_the_leader_that_was_asked(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    node = cluster.new_node(4)
    add = cluster.member("add", f"4={node.address}")
    assert add.returncode == 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        promotion = pool.submit(cluster.member, "promote", "4", "--timeout", "20s")
        # It waits for node 4, at first at this leader and then at the next one.
        cluster[1].kill()
        cluster.wait_leader(among=(2, 3))
        node.start()
        assert promotion.result().returncode == 0, promotion.result().stderr
    assert cluster.member_list()[1] == {**VOTERS_OF_THREE, 4: True}


@on_both(1)
def test_a_leader_that_stands_still_with_a_change_under_way_is_replaced(new_cluster, algorithm, n):
    cluster = grown_to_three(new_cluster, algorithm)
    node = cluster.new_node(4).start()
    assert cluster.member("add", f"4={node.address}").returncode == 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        cluster[1].hang_for_good()
        promotion = pool.submit(cluster.member, "promote", "4", "--timeout", "20s")
        cluster.wait_leader(among=(2, 3, 4))
        assert promotion.result().returncode == 0, promotion.result().stderr
    assert cluster.member_list()[1] == {**VOTERS_OF_THREE, 4: True}


def test_the_members_are_changed_by_the_socket_of_the_leader_alone(new_cluster):
    cluster = grown_to_three(new_cluster, "bully")

    def local(node_id, *words):
        return subprocess.run(
            [cluster.program, "member", *words, "--local"]
            + ["--data-dir", str(cluster[node_id].data_dir)],
            capture_output=True,
            text=True,
            timeout=30,
            env=cluster.environment,
        )

    done(local(1, "demote", "2"), "node 2 has no vote")
    refused(
        local(2, "promote", "2"),
        "node 2 does not lead, node 1 does; expected --local on its machine",
    )
    told = json.loads(local(2, "list", "--json").stdout)
    assert {member["id"]: member["vote"] for member in told["members"]} == {
        1: True,
        2: False,
        3: True,
    }


def test_only_an_administrator_changes_the_members(secured):
    secured_cluster = secured("tls", flags=FLAGS)
    secured_cluster.start()
    cluster = secured_cluster.cluster
    answer = cluster.member("demote", "1", *secured_cluster.observer)
    assert answer.returncode == 1
    assert "only an administrator may ask for that" in answer.stderr
    done(cluster.member("demote", "1", *secured_cluster.admin), "node 1 has no vote")
    told = cluster.member("list", "--json", *secured_cluster.observer)
    assert [member["vote"] for member in json.loads(told.stdout)["members"]] == [False, True, True]


def test_a_drill_lets_faults_happen_to_the_members_of_now(new_cluster):
    cluster = grown_to_three(new_cluster, "bully", "--allow-drill")
    peers = cluster.peers
    node = cluster.new_node(4)
    assert cluster.member("add", f"4={node.address}").returncode == 0
    words = ("drill", "--rounds", "1", "--faults", "resign", "--every", "1s")
    missed = cluster.command(*words, peers=peers)
    assert missed.returncode == 1
    assert f"node 4 at {node.address}: " in missed.stderr
    node.start()
    cluster.wait_settled()
    drill = cluster.command(*words, peers=peers)
    assert drill.returncode == 0, drill.stderr


def test_who_watches_follows_the_members_wherever_they_go(new_cluster, spawn, tmp_path):
    """A watcher knows the founder alone, which goes on running when it has been removed."""
    cluster = new_cluster(1, flags=FLAGS).start()
    lines = tmp_path / "watch"

    def leaders():
        return [json.loads(line)["leader"] for line in lines.read_text().splitlines()]

    def sees(leader):
        cluster.wait_for(lambda: leaders()[-1:] == [leader], f"the watcher sees {leader}")

    with lines.open("w") as stdout:
        spawn([cluster.program, "watch", "--peers", f"1={cluster[1].address}"], stdout=stdout)
    sees(1)
    for node_id in (2, 3):
        node = cluster.new_node(node_id).start()
        assert cluster.member("add", f"{node_id}={node.address}", "--voter").returncode == 0
    assert cluster.member("remove", "1").returncode == 0
    sees(cluster.wait_leader(among=(2, 3)).id)
    for _ in range(2):
        assert cluster.resign().returncode == 0
        sees(cluster.wait_leader(among=(2, 3)).id)
    epochs = [json.loads(line)["epoch"] for line in lines.read_text().splitlines()]
    assert epochs == sorted(epochs)
    # That the removed node knows no leader is not told: whoever is gone is followed by another.
    led = leaders()[leaders().index(1) :]
    assert all(led[i - 1] != led[i + 1] for i in range(1, len(led) - 1) if led[i] is None), led
