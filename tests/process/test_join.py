"""Nodes that ask a running cluster to be added (--join), and members without a vote that are
forgotten when they are gone (--forget-after)."""

import contextlib
import json
import shutil
import subprocess

import pytest
from clusters import assert_unchanged, on_both
from told import told
from harness.waiting import DEADLINE

FORGET = 2  # s
FLAGS = ["--no-preempt", "--lease-max", "1s", "--forget-after", f"{FORGET}s"]
VOTERS = {1: True, 2: True, 3: True}


def joiner(cluster, node_id, *flags, by=(1,)):
    node = cluster.new_node(node_id)
    node.join = [cluster[member].address for member in by]
    node.flags = list(flags)
    return node


def wait_for_members(cluster, members):
    def are_so():
        # Nobody has a list before the cluster is founded.
        told = cluster.member("list", "--json")
        return told.returncode == 0 and members == {
            member["id"]: member["vote"] for member in json.loads(told.stdout)["members"]
        }

    cluster.wait_for(are_so, f"members {members}")


def is_listed_at(cluster, address):
    return f'"address":"{address}"' in cluster.member("list", "--json").stdout


def why(cluster, node_id):
    return {node["id"]: node.get("why") for node in cluster.status()["nodes"]}[node_id]


def elections(cluster):
    return [event["epoch"] for event in cluster.events() if event["event"] == "elected"]


@on_both(3)
def test_a_node_that_joins_is_added_and_one_that_wants_a_vote_gets_it(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS).start()
    leader = cluster.wait_leader()
    # One address is enough, whoever is there, and those at which nobody is do no harm.
    node = joiner(cluster, 4, by=[next(id for id in (1, 2, 3) if id != leader.id)])
    node.join.insert(0, "127.0.0.1:9")
    node.start()
    wait_for_members(cluster, {**VOTERS, 4: False})
    joiner(cluster, 5, "--voter").start()
    wait_for_members(cluster, {**VOTERS, 4: False, 5: True})
    cluster.wait_settled()
    assert cluster.wait_leader() is leader
    assert len(elections(cluster)) == 1
    assert why(cluster, 4) == f"follows {leader.id}"
    assert f"node 4 is a member, at {node.address}" in node.current.log()
    assert "error" not in node.current.log()
    # It stands like all others, with the votes of others.
    assert cluster.resign("--to", "4").returncode == 0
    assert cluster.wait_leader().id == 4


@on_both(1)
def test_a_node_that_joins_founds_nothing_and_waits_for_the_cluster(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=[*FLAGS, "--bootstrap-wait", "1s"])
    cluster[1].peers = cluster.peers
    node = joiner(cluster, 4, "--voter").start()
    asks = f"asks {cluster[1].address} to be added: "
    cluster.wait_for(lambda: (why(cluster, 4) or "").startswith(asks), "it says what it waits for")
    cluster.never(lambda: node.leads, "it leads", 3)
    assert f"{asks}{cluster[1].address}: Connection refused; it goes on" in node.current.log()
    assert node.stop() == 0
    node.start()
    cluster[1].start()
    wait_for_members(cluster, {1: True, 4: True})
    cluster.wait_settled()
    # A restart changes nothing, also where none of those that it asks is there.
    cluster[1].kill()
    node.kill()
    node.restart()
    cluster[1].start()
    wait_for_members(cluster, {1: True, 4: True})


@on_both(3)
def test_who_is_gone_without_a_vote_is_forgotten_and_returns(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS).start()
    leader = cluster.wait_leader()
    # One of those is about to be killed.
    killed, hung = (joiner(cluster, node_id, by=(1, 2, 3)).start() for node_id in (4, 5))
    wait_for_members(cluster, {**VOTERS, 4: False, 5: False})
    voter = next(node for node in cluster if node is not leader and node.id in VOTERS)
    voter.kill()
    killed.kill()
    hung.hang()
    wait_for_members(cluster, VOTERS)
    told = leader.current.log()
    assert f"node 4, which has no vote and was not heard for {FORGET}s (--forget-after)" in told
    # A voter never is; one that was forgotten without knowing it comes back by itself.
    hung.resume()
    wait_for_members(cluster, {**VOTERS, 5: False})
    killed.start()
    wait_for_members(cluster, {**VOTERS, 4: False, 5: False})
    voter.start()
    cluster.wait_settled()
    assert len(elections(cluster)) == 1


@on_both(1)
def test_who_was_removed_on_purpose_stays_out_until_it_is_added_again(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4, "--voter").start()
    wait_for_members(cluster, {1: True, 4: True})
    cluster.wait_settled()
    assert cluster.member("remove", "4").returncode == 0
    cluster.wait_for(lambda: "it was removed, and stays out" in node.current.log(), "it says so")
    cluster.never(lambda: 4 in cluster.member_list()[1], "it comes back", FORGET + 2)
    assert why(cluster, 4).startswith("removed: not in the list of members")
    stays_out_after_a_restart(cluster, node)
    # With the vote that it is configured with, and at the address where it is.
    elsewhere = f"127.0.0.1:{cluster.ports.take()}"
    assert cluster.member("add", f"4={elsewhere}").returncode == 0
    wait_for_members(cluster, {1: True, 4: True})
    assert is_listed_at(cluster, node.address)
    assert node.stop() == 0
    node.start()
    cluster.wait_settled()
    assert "stays out" not in node.current.log()


def test_who_has_just_come_back_takes_no_removal_for_one_on_purpose(new_cluster):
    """The leader may have forgotten it before it was back."""
    flags = ["--no-preempt", "--lease", "5s", "--forget-after", "30s"]
    cluster = new_cluster(1, flags=flags).start()
    cluster.wait_leader()
    node = joiner(cluster, 4).start()
    cluster.wait_for(lambda: node.current.stream.of("members"), "it knows that it is a member")
    assert cluster.member("remove", "4").returncode == 0
    told = "this node has been removed from the members"
    cluster.wait_for(lambda: told in node.current.log(), "it knows that it was removed")
    wait_for_members(cluster, {1: True, 4: False})


def stays_out_after_a_restart(cluster, node):
    assert node.stop() == 0
    node.start()
    again = f"stays out until it is added again (bullring member add {node.id}="
    cluster.wait_for(lambda: again in node.current.log(), "it says so")
    cluster.never(lambda: node.id in cluster.member_list()[1], "it comes back", 2)


@on_both(3)
def test_who_was_removed_while_it_was_down_stays_out(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4, "--voter").start()
    wait_for_members(cluster, {**VOTERS, 4: True})
    node.crash()
    assert cluster.member("remove", "4").returncode == 0
    node.start()
    cluster.wait_for(lambda: "it was removed, and stays out" in node.current.log(), "it says so")
    stays_out_after_a_restart(cluster, node)
    status, text = told("doctor", *node.command()[2:])
    assert (status, "node 4 was removed, and stays out" in text) == (1, True), text
    # A machine that is set up anew has another directory, which knows nothing of that.
    node.stop()
    shutil.rmtree(node.data_dir)
    node.start()
    wait_for_members(cluster, {**VOTERS, 4: True})


@on_both(3)
def test_a_voter_that_was_cut_off_knows_that_it_was_removed_on_purpose(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4, "--voter").start()
    wait_for_members(cluster, {**VOTERS, 4: True})
    leader = cluster.wait_settled()
    node.hang()
    assert_unchanged(cluster, leader, FORGET, "a voter stands still")
    assert cluster.member("remove", "4").returncode == 0
    node.resume()
    cluster.wait_for(lambda: "it was removed, and stays out" in node.current.log(), "it says so")
    cluster.never(lambda: 4 in cluster.member_list()[1], "it comes back", FORGET)


def test_a_member_that_has_moved_says_so_itself(new_cluster):
    cluster = new_cluster(1, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4).start()
    wait_for_members(cluster, {1: True, 4: False})
    node.stop()
    port = cluster.ports.take()
    # The members see this machine as 127.0.0.1.
    node.flags = ["--listen", f"0.0.0.0:{port}"]
    node.start()
    cluster.wait_for(lambda: is_listed_at(cluster, f"127.0.0.1:{port}"), "it has moved")
    node.stop()
    node.port = port
    node.flags = ["--join-as", f"localhost:{port}"]
    node.start()
    cluster.wait_for(lambda: is_listed_at(cluster, f"localhost:{port}"), "it has a name")
    cluster.wait_for(lambda: why(cluster, 4) == "follows 1", "it follows")


def test_a_node_joins_by_ipv6(new_cluster):
    cluster = new_cluster(1, flags=FLAGS, hosts={1: ("[::1]", None)}).start()
    cluster.wait_leader()
    node = joiner(cluster, 4)
    node.host = "[::1]"
    node.flags = ["--listen", f"[::]:{node.port}", "--voter"]
    node.start()
    wait_for_members(cluster, {1: True, 4: True})
    assert is_listed_at(cluster, node.address)


def test_who_is_not_reached_is_told_so(new_cluster):
    cluster = new_cluster(1, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4, "--join-as", f"127.0.0.1:{cluster.ports.take()}").start()
    said = "it is a member, and the leader does not reach it at 127.0.0.1:"
    cluster.wait_for(lambda: said in node.current.log(), "it says that it is not reached")
    assert node.stop() == 0


@pytest.mark.parametrize(
    ("flag", "remedy"),
    [
        (
            ["--algorithm", "ring"],
            "algorithm is 'ring' here and 'bully' there; give this node the --algorithm of the",
        ),
        (["--wire", "2"], "version is '2-2' here and '3-6' there; take --wire 2 from this node"),
    ],
    ids=["algorithm", "wire"],
)
def test_who_would_be_refused_says_why_and_is_not_added(new_cluster, flag, remedy):
    cluster = new_cluster(1, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4, *flag).start()
    cluster.wait_for(lambda: remedy in node.current.log(), "it says why")
    cluster.never(lambda: 4 in cluster.member_list()[1], "it is added", 1)
    assert "--join-as" not in node.current.log()
    assert node.stop() == 0


@contextlib.contextmanager
def strange_node_4(cluster, by, data_dir):
    """A process beside those of the cluster; gives the file that it logs to."""
    listen = f"127.0.0.1:{cluster.ports.take()}"
    command = [cluster.program, "node", "--id", "4", "--join", by, "--listen", listen]
    log = cluster.directory / "strange.log"
    with open(log, "wb") as stderr:
        process = subprocess.Popen(
            [*command, "--data-dir", str(data_dir)], stderr=stderr, env=cluster.environment
        )
    try:
        yield log
    finally:
        process.terminate()
        assert process.wait(DEADLINE) == 0


@pytest.mark.parametrize(
    ("founder", "said"),
    [(7, "founders is '1' here and '7' there; if this node's directory"), (1, "cluster id is '")],
    ids=["founders", "id"],
)
def test_a_directory_of_another_cluster_is_told_from_ones_own(new_cluster, founder, said):
    cluster = new_cluster(1, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4).start()
    cluster.wait_for(lambda: "the members are 1, 4" in node.current.log(), "it has the list")
    node.stop()
    cluster[1].stop()
    other = new_cluster(1, flags=FLAGS, ids=[founder]).start()
    other.wait_leader()
    with strange_node_4(other, other[founder].address, node.data_dir) as log:
        other.wait_for(lambda: said in log.read_text(), "it says what differs")
        other.never(lambda: other.member_list()[1] != {founder: True}, "it is added", 1)


def test_an_id_is_not_taken_from_a_process_that_runs(new_cluster):
    cluster = new_cluster(1, flags=FLAGS).start()
    cluster.wait_leader()
    node = joiner(cluster, 4).start()
    wait_for_members(cluster, {1: True, 4: False})
    with strange_node_4(cluster, cluster[1].address, cluster.directory / "second") as log:
        said = f"another process is node 4, at {node.address}; end it, or give this"
        cluster.wait_for(lambda: said in log.read_text(), "it says so")
        cluster.never(lambda: cluster.member_list()[1] != {1: True, 4: False}, "it is taken", 1)
        assert node.acting


def test_a_full_cluster_says_what_to_do_instead(new_cluster):
    cluster = new_cluster(1, flags=[*FLAGS, "--forget-after", "0"]).start()
    cluster.wait_leader()
    for node_id in range(2, 65):
        assert cluster.member("add", f"{node_id}=127.0.0.1:{node_id}").returncode == 0
    node = joiner(cluster, 65).start()
    said = "the cluster has 64 members, which is the most; remove one, or let further instances"
    cluster.wait_for(lambda: said in node.current.log(), "it is refused")
    # And takes the first place that is free.
    assert cluster.member("remove", "64").returncode == 0
    cluster.wait_for(lambda: cluster.member_list()[1].get(65) is False, "it is added")
    assert node.stop() == 0


def test_with_a_key_a_node_joins_by_the_key(secured):
    secured_cluster = secured("key", flags=FLAGS)
    secured_cluster.start()
    cluster = secured_cluster.cluster
    joiner(cluster, 4, "--voter").start()
    wait_for_members(cluster, {**VOTERS, 4: True})
    cluster.wait_settled()


def test_the_certificate_of_a_node_is_good_for_its_own_place_alone(secured):
    secured_cluster = secured("tls", flags=FLAGS)
    secured_cluster.start()
    cluster = secured_cluster.cluster
    own = secured_cluster.authority.flags("node/4")
    node = joiner(cluster, 4, *own, "--voter").start()

    def members():
        return cluster.member_list(peers=cluster.peers)[1]

    cluster.wait_for(lambda: members() == {**VOTERS, 4: True}, "it has a vote")
    for words in (("add", "5=127.0.0.1:9"), ("promote", "1"), ("demote", "4"), ("remove", "4")):
        answer = cluster.member(*words, *own)
        assert answer.returncode == 1, words
        assert "only an administrator may ask for that" in answer.stderr
    assert node.stop() == 0


def test_what_is_typed_comes_before_what_serves_other_commands(new_cluster):
    cluster = new_cluster(1, flags=FLAGS).start()
    cluster.wait_leader()
    # As an operator has it for `status` and `member`.
    cluster.environment["BULLRING_PEERS"] = cluster.peers
    joiner(cluster, 4).start()
    wait_for_members(cluster, {1: True, 4: False})


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--join", "127.0.0.1:1"], "--join: it needs --listen HOST:PORT"),
        (
            ["--join", "127.0.0.1:1", "--listen", "127.0.0.1:2", "--peers", "4=127.0.0.1:2"],
            "--join: it comes in place of --peers, which is given, too; expected one of the two",
        ),
        (
            ["--join", "127.0.0.1:1", "--listen", "127.0.0.1:2", "--quorum", "none"],
            "--join: it can't be used with quorum none, where the members never change",
        ),
        (["--join", "", "--listen", "127.0.0.1:2"], "--join"),
        (["--join", "127.0.0.1:1,x", "--listen", "127.0.0.1:2"], '"x": it has no port'),
        (["--join", "10.0.0.1:1", "--listen", "127.0.0.1:2"], "--security: it is missing"),
        (
            ["--join", "127.0.0.1:1", "--listen", "127.0.0.1:2", "--join-as", "[0::0]:2"],
            '--join-as: "[0::0]:2" is an address that nobody else can dial',
        ),
        (["--peers", "4=127.0.0.1:2", "--voter"], "--voter: it needs --join HOST:PORT"),
        (["--peers", "4=127.0.0.1:2", "--join-as", "a:1"], "--join-as: it needs --join HOST:PORT"),
        (
            ["--peers", "4=127.0.0.1:2", "--forget-after", "10ms"],
            '--forget-after: "10ms" is too short: it must be ≥ suspect-after (',
        ),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(words, complaint):
    status, text = told("node", "--id", "4", *words)
    assert (status, complaint in text) == (2, True), text
