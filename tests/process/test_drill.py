"""`bullring drill`: faults that happen to the leaders of real clusters, which are started again."""

import json
import socket
import subprocess

from harness import wire
import pytest
from clusters import on_both
from harness.waiting import DEADLINE

ALLOWED = ["--allow-drill"]
FAULTS = ["crash", "hang", "resign", "cut"]


def start(new_cluster, algorithm="bully", flags=ALLOWED, n=3):
    cluster, _ = new_cluster(n, algorithm, flags=[*flags, "--no-preempt"]).settled()
    for node in cluster:
        node.current.expected_to_run = False  # the supervisor's from now on
    return cluster


def drill(cluster, *flags):
    return cluster.command("drill", *flags, timeout=240)


def drill_command(cluster, *flags):
    return [cluster.program, "drill", "--peers", cluster.peers, "--cluster", cluster.name, *flags]


def drill_beside(cluster, spawn, *flags):
    """The process of a drill, while which the test goes on."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return spawn(drill_command(cluster, *flags), env=cluster.environment, **streams)


def drill_supervised(cluster, spawn, *flags):
    """Dead nodes are started again meanwhile, as a service manager does."""
    process = drill_beside(cluster, spawn, *flags)
    while process.poll() is None:
        for node in cluster:
            if node.ends_within(0.02):
                node.restart()
                node.current.expected_to_run = False
    return process.returncode, *process.communicate()


@on_both(3)
def test_all_faults_happen_and_the_cluster_stands_them(new_cluster, spawn, algorithm, n):
    cluster = start(new_cluster, algorithm, n=n)
    flags = ["--rounds", "8", "--every", "100ms", "--json"]
    status, out, err = drill_supervised(cluster, spawn, *flags)
    assert (status, err) == (0, "")
    said = json.loads(out)
    assert (said["sound"], said["not_back"]) == (True, None)
    assert [row["fault"] for row in said["faults"]] == FAULTS
    for row in said["faults"]:
        assert (row["rounds"], row["no_leader_in_time"], row["two_leaders"]) == (2, 0, False)
        assert 0 < row["median_ms"] <= row["p99_ms"] <= row["longest_ms"]
    assert cluster.audit().proved
    reasons = [event["reason"] for event in cluster.events() if event["event"] == "deposed"]
    assert reasons == ["died", "hung", "resigned", "lease_expired"] * 2
    assert sum(len(node.incarnations) for node in cluster) == n + 4


def test_a_leader_that_hangs_continues_by_itself(new_cluster):
    cluster = start(new_cluster, flags=[*ALLOWED, "--hang-after", "off"])
    done = drill(cluster, "--rounds", "2", "--every", "0s", "--faults", "hang")
    assert done.returncode == 0, done.stderr
    header, row = done.stdout.splitlines()
    assert row.split()[:2] == ["hang", "2"] and header.startswith("fault ")
    assert all(len(node.incarnations) == 1 and node.running for node in cluster)


def test_nobody_is_harmed_when_one_does_not_allow_it(new_cluster):
    cluster = new_cluster(3)
    cluster[1].flags = ALLOWED
    cluster[2].flags = ALLOWED
    leader = cluster.start().wait_settled()
    before = leader.view
    assert leader.id == 3
    done = drill(cluster, "--rounds", "1")
    assert (done.returncode, done.stdout) == (1, "")
    refusal = f"node 3 at {cluster[3].address}: it refuses: it was not started with --allow-drill"
    assert done.stderr.strip() == f"bullring: {refusal}"
    for what in (wire.CRASH, wire.HANG, wire.RESIGNATION, wire.CUT):
        for node in cluster:
            # The leader does not allow it, and the others do not lead.
            with socket.create_connection((node.host, node.port), DEADLINE) as connection:
                connection.sendall(wire.drill(cluster.name.encode(), what, before[1]))
                kind, body = wire.parse(wire.receive_all(connection))
            assert (kind, body[1]) == (wire.DRILL_RESULT, 0)
    cluster.poll()
    assert cluster.agreed_leader() is leader and leader.view == before


def test_members_that_are_not_there_or_not_listed_end_it_at_once(new_cluster):
    cluster = start(new_cluster, n=4)
    peers = ",".join(cluster.peers.split(",")[:3])
    done = cluster.command("drill", "--rounds", "1", peers=peers)
    assert (done.returncode, done.stdout) == (1, "")
    assert "its cluster has 4 members, and the peer list has 3" in done.stderr
    cluster[1].crash()
    done = drill(cluster, "--rounds", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"bullring: node 1 at {cluster[1].address}: ")
    assert all(len(node.incarnations) == 1 for node in cluster)


@pytest.fixture
def drill_shown(in_terminal):
    """Starts a drill in a terminal that shows what it waits for; its table goes elsewhere."""

    def start(cluster, *flags):
        command = drill_command(cluster, *flags)
        streams = {"stdout": subprocess.PIPE, "env": cluster.environment}
        return in_terminal(command, **streams)

    return start


def rows_of(shown):
    """The rows that the drill has printed of its faults."""
    out, _ = shown.process.communicate(timeout=DEADLINE)
    return [row.split()[:2] for row in out.decode().splitlines()[1:]]


def test_ctrl_c_ends_it_after_the_round_and_prints_the_table(new_cluster, drill_shown):
    shown = drill_shown(start(new_cluster), "--faults", "resign", "--every", "60s")
    shown.wait_for("resign: waiting for node")
    shown.type("\x03")
    assert shown.wait_end() == 0
    assert "\rround 1 of 20, resign: " in shown.text
    assert rows_of(shown)[0] == ["resign", "1"]


def test_a_second_ctrl_c_ends_it_at_once_and_says_so(new_cluster, drill_shown):
    shown = drill_shown(start(new_cluster), "--faults", "resign,crash", "--every", "0s")
    shown.wait_for("crash: waiting for node 2 to return")
    shown.type("\x03")
    shown.wait_for("Ctrl-C ends it at once")
    shown.type("\x03")
    assert shown.wait_end() == 1
    assert rows_of(shown) == [["resign", "1"]]
    assert "bullring: stopped within a round" in shown.text


def test_a_leader_that_nobody_starts_again_ends_it(new_cluster):
    cluster = start(new_cluster)
    done = drill(cluster, "--faults", "crash", "--rounds", "3", "--every", "0s")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].split()[:2] == ["crash", "1"]
    assert "the drill ends, because not all members are back within" in done.stderr
    assert "node 3 can't be reached" in done.stderr
    assert sum(node.running for node in cluster) == 2


def test_another_member_that_is_not_back_is_blamed_and_not_the_leader(new_cluster, spawn):
    cluster = start(new_cluster)
    process = drill_beside(cluster, spawn, "--faults", "resign", "--every", "0s", "--json")
    cluster.wait_for(lambda: cluster[2].leads, "a round has begun")
    cluster[1].kill()
    out, err = process.communicate(timeout=DEADLINE + 60)
    assert (process.returncode, json.loads(out)["not_back"]) == (1, 1)
    assert "node 1 can't be reached" in err
    assert "node 2" not in err and "node 3" not in err
