"""status, watch and resign, as people and scripts see them."""

import json
import os
import subprocess
import time

import pytest
from clusters import LONG, ON_USUAL, SOON_NS
from harness.waiting import DEADLINE
from watcher import Watcher


CLUSTER_KEYS = ["cluster", "algorithm", "quorum", "leader", "epoch", "nodes"]
NODE_KEYS = [
    "id",
    "address",
    "reachable",
    "advertised",
    "role",
    "leader",
    "epoch",
    "lease_left_ms",
    "promised_to",
    "peers_up",
    "why",
    "uptime_ms",
    "version",
    "commit",
    "wire",
    "wire_lowest",
    "wire_with",
    "members_tag",
    "founders",
    "cluster_id",
    "security",
    "priority",
    "eligible",
    "healthy",
    "wrong",
    "mode",
    "votes",
    "vote",
]


@ON_USUAL
def test_json_has_the_keys_of_the_interface_and_their_values(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, name="keys")
    cluster[1].flags = ["--advertise", "http://one.example:80/"]
    leader = cluster.start().wait_settled()
    told = cluster.status()
    assert list(told) == CLUSTER_KEYS
    assert [told[key] for key in CLUSTER_KEYS[:-1]] == [
        "keys",
        algorithm,
        "majority",
        leader.id,
        leader.view[1],
    ]
    assert [node["id"] for node in told["nodes"]] == sorted(cluster.nodes)
    for node in told["nodes"]:
        _check_node(cluster, leader, node)


def _check_node(cluster, leader, node):
    assert list(node) == NODE_KEYS
    assert node["address"] == cluster[node["id"]].address
    assert node["reachable"] is True
    assert node["advertised"] == ("http://one.example:80/" if node["id"] == 1 else "")
    leads = node["id"] == leader.id
    assert node["role"] == ("leader" if leads else "follower")
    assert leader.view == (node["leader"], node["epoch"])
    assert node["promised_to"] == leader.id
    assert node["peers_up"] == [i for i in cluster.nodes if i != node["id"]]
    assert node["uptime_ms"] > 0
    said = subprocess.run([cluster.program, "--version"], capture_output=True, text=True).stdout
    built_from = f" ({node['commit']})" if node["commit"] else ""
    assert said == f"bullring {node['version']}{built_from}\n"
    assert node["members_tag"] == "0.0"
    assert node["vote"] is True
    assert node["wire_with"] == {str(i): node["wire"] for i in cluster.nodes if i != node["id"]}
    if leads:
        assert node["lease_left_ms"] > 0
        assert node["lease_left_ms"] <= cluster.timing.lease
        assert node["why"].startswith("leads with grants of "), node["why"]
    else:
        assert node["why"] == f"follows {leader.id}"


@ON_USUAL
def test_the_table_and_the_exit_status(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    shown = cluster.command("status")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    for node in cluster:
        row = [line for line in lines if node.address in line]
        assert len(row) == 1, shown.stdout
        assert ("leader" if node is leader else "follower") in row[0]
    cluster[1].crash()
    told = cluster.status()
    assert told["nodes"][0]["reachable"] is False
    assert cluster.command("status").returncode == 0


@ON_USUAL
def test_nobody_there_is_1_and_a_wrong_line_is_2(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    none = cluster.command("status", "--json", "--timeout", "300ms")
    assert none.returncode == 1
    told = json.loads(none.stdout)
    assert (told["leader"], told["epoch"]) == (None, None)
    assert not any(node["reachable"] for node in told["nodes"])
    assert cluster.command("status", "--no-such-flag").returncode == 2
    assert cluster.command("status", "--timeout", "5").returncode == 2
    assert cluster.command("status", peers="nonsense").returncode == 2


@ON_USUAL
def test_wait_waits_for_a_leader_and_no_longer_than_its_timeout(new_cluster, spawn, algorithm, n):
    cluster = new_cluster(n, algorithm)
    assert cluster.command("status", "--wait", "--timeout", "300ms").returncode == 1
    waiting = spawn(
        [cluster.program, "status", "--wait", "--timeout", "20s", "--peers", cluster.peers],
        stdout=subprocess.DEVNULL,
        env=cluster.environment,
    )
    cluster.start()
    assert waiting.wait(DEADLINE) == 0
    assert [e for e in cluster.poll() + cluster.events() if e["event"] == "elected"]


@ON_USUAL
def test_wait_waits_until_a_restarted_node_votes_again(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm, flags=LONG).settled()
    for node in cluster:
        if node is leader:
            continue
        node.stop()
        node.start()
        # At once: the node need not even listen yet, as after `systemctl restart`.
        told = cluster.status("--wait", "--timeout", "20s")
        voters = [one for one in told["nodes"] if one["reachable"]]
        assert len(voters) == n
        assert not [one for one in voters if "silent" in one["why"]], told
        assert leader.view == (told["leader"], told["epoch"])
    # So the leader's turn costs a round of messages and not the rest of a silence.
    leader.stop()
    elected = cluster.wait_elected(leader.current.stream.of("elected")[-1]["ts_ns"])
    deposed = leader.current.stream.of("deposed")[-1]
    assert deposed["reason"] == "stopped"
    assert elected["ts_ns"] - deposed["held_until_ns"] < SOON_NS


@ON_USUAL
def test_wait_ends_at_its_timeout_with_0_if_all_but_a_silent_node_is_well(
    new_cluster, algorithm, n
):
    # With hooks it is silent for as long as its own lease.
    cluster = new_cluster(n, algorithm)
    cluster[1].flags = ["--lease", "8s", "--lease-max", "10s", "--on-change", "true"]
    leader = cluster.start().wait_settled()
    assert leader.id != 1
    cluster[1].stop()
    cluster[1].start()
    cluster.wait_leader()
    done = cluster.command("status", "--json", "--wait", "--timeout", "700ms")
    assert done.returncode == 0, done.stderr
    first = json.loads(done.stdout)["nodes"][0]
    assert first["why"].startswith("silent after a restart"), first


@ON_USUAL
def test_wait_does_not_wait_for_a_member_that_is_gone(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    gone = next(node for node in cluster if node is not leader)
    gone.crash()
    begun = time.monotonic()
    assert cluster.command("status", "--wait", "--timeout", "30s").returncode == 0
    assert time.monotonic() - begun < 20


@ON_USUAL
def test_why_of_a_node_that_does_not_stand_says_so_behind_whom_it_follows(
    new_cluster, algorithm, n
):
    cluster = new_cluster(n, algorithm)
    cluster[1].flags = ["--health-cmd", "exit 3", "--health-interval", "50ms"]
    leader = cluster.start().wait_settled()
    expected = f"follows {leader.id}; unhealthy: exit 3 of health command"
    cluster.wait_for(
        lambda: cluster.status()["nodes"][0]["why"] == expected, f"why is {expected!r}"
    )


@ON_USUAL
def test_another_clusters_name_gets_no_answer(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm, name="mine").settled()
    other = subprocess.run(
        [cluster.program, "status", "--peers", cluster.peers, "--cluster", "yours"],
        capture_output=True,
        text=True,
        env=cluster.environment,
        timeout=DEADLINE,
    )
    assert other.returncode == 1


@pytest.fixture
def watch(spawn):
    """Starts watchers."""
    return lambda cluster, peers=None: Watcher(spawn, cluster, peers)


@ON_USUAL
def test_each_change_in_order_and_the_loss_too(new_cluster, watch, algorithm, n):
    cluster = new_cluster(n, algorithm)
    for node in cluster:
        node.flags = ["--advertise", f"application-{node.id}"]
    leader = cluster.start().wait_settled()
    watcher = watch(cluster)
    first = watcher.until(lambda line: line["leader"] == leader.id)
    assert list(first) == ["ts_ns", "leader", "epoch", "advertised"]
    assert first["advertised"] == f"application-{leader.id}"
    for _ in range(3):
        leader = cluster.leader()
        assert cluster.resign().returncode == 0
        after = cluster.wait_leader()
        line = watcher.until(lambda line, after=after: line["leader"] == after.id)
        assert line["epoch"] == after.view[1]
        assert line["advertised"] == f"application-{after.id}"
    epochs = [line["epoch"] for line in watcher.seen if line["leader"] is not None]
    assert epochs == sorted(set(epochs))


@ON_USUAL
def test_it_goes_on_with_another_member_when_its_own_is_gone(new_cluster, watch, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    watcher = watch(cluster)
    watcher.until(lambda line: line["leader"] == leader.id)
    for node in list(cluster)[: n - cluster.quorum]:
        node.crash()
        after = cluster.wait_leader()
        if cluster.resign().returncode == 0:
            after = cluster.wait_leader()
        watcher.until(lambda line, after=after: (line["leader"], line["epoch"]) == after.view)


@ON_USUAL
def test_a_lost_majority_is_a_line_too(new_cluster, watch, algorithm, n):
    cluster, _ = new_cluster(n, algorithm).settled()
    watcher = watch(cluster, peers=f"1={cluster[1].address}")
    watcher.until(lambda line: line["leader"] is not None)
    for node in list(cluster)[1:]:
        node.kill()
    watcher.until(lambda line: line["leader"] is None)


def test_a_closed_pipe_ends_it(new_cluster, spawn):
    cluster, _ = new_cluster(3).settled()
    reader, writer = os.pipe()
    process = spawn(
        [cluster.program, "watch", "--peers", cluster.peers],
        stdout=writer,
        stderr=subprocess.DEVNULL,
        env=cluster.environment,
    )
    os.close(writer)
    assert os.read(reader, 1000)
    os.close(reader)
    cluster.resign()
    cluster.resign()
    assert process.wait(DEADLINE) is not None
