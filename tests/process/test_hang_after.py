"""--hang-after: a leader that stands still is killed and replaced as after a crash. Nobody else is
killed: not a follower, not a machine that stands still as a whole.
"""

import signal

import pytest
from harness.events import now_ns
from harness.task import alive, child_named, signal_all, stopped, wait_family
from clusters import LONG, ON_USUAL, SOON_NS, assert_unchanged, on_both

HANG_AFTER_MS = {"fast": 30, "lan": 100}
KILLED = "killed by its keeper"


def keeper_of(node):
    return child_named(node.current.process.pid, "bullring-keeper")


def wait_killed(cluster, node):
    assert node.wait_exit() == -signal.SIGKILL
    cluster.wait_for(lambda: KILLED in node.current.log(), "its keeper says so")


@pytest.mark.parametrize("profile", HANG_AFTER_MS)
@ON_USUAL
def test_a_hung_leader_is_killed_and_replaced_before_its_lease_is_over(
    new_cluster, algorithm, n, profile
):
    cluster = new_cluster(n, algorithm, profile=profile, flags=LONG).start()
    took_ms = []
    for _ in range(3):
        old = cluster.wait_settled()
        hung_ns = old.hang_for_good()
        elected = cluster.wait_elected(hung_ns)
        took_ms.append((elected["ts_ns"] - hung_ns) / 1e6)
        assert elected["node"] != old.id
        wait_killed(cluster, old)
        lines = [line for line in old.current.log().splitlines() if KILLED in line]
        assert len(lines) == 1
        assert f"node {old.id}: " in lines[0]
        assert f"stood still for {HANG_AFTER_MS[profile]}ms (--hang-after)" in lines[0]
        old.start()
        cluster.wait_leader()
    # It counts from the last turn of the loop, which is before the signal.
    assert HANG_AFTER_MS[profile] * 0.6 <= min(took_ms) < SOON_NS / 1e6


@on_both(3)
def test_the_time_is_the_one_that_is_set(new_cluster, algorithm, n):
    cluster, old = new_cluster(
        n, algorithm, flags=["--lease", "5s", "--hang-after", "400ms"]
    ).settled()
    hung_ns = old.hang_for_good()
    elected = cluster.wait_elected(hung_ns)
    # It counts from the last turn of the loop, which is before the signal.
    assert 400e6 * 0.6 <= elected["ts_ns"] - hung_ns < 3e9
    wait_killed(cluster, old)


@on_both(3)
def test_a_leader_that_goes_on_in_time_leads_on(new_cluster, algorithm, n):
    cluster, leader = new_cluster(
        n, algorithm, flags=["--lease", "5s", "--hang-after", "2s"]
    ).settled()
    before = leader.view
    for _ in range(20):
        hung_ns = leader.hang()
        cluster.wait_for(lambda at=hung_ns: now_ns() > at + 150e6, "it stands still")
        turned_ns = leader.resume()
        cluster.wait_for(lambda at=turned_ns: now_ns() > at + 20e6, "it goes on")
    assert leader.view == before
    assert KILLED not in leader.current.log()


@on_both(3)
def test_a_machine_that_stands_still_as_a_whole_kills_nobody(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm).settled()
    both = [keeper_of(old), old.current.process.pid]
    for _ in range(3):
        hung_ns = now_ns()
        signal_all(both, signal.SIGSTOP)
        old.current.stopped_ns = hung_ns
        cluster.wait_for(lambda at=hung_ns: now_ns() > at + 2e9, "two seconds")
        signal_all(both, signal.SIGCONT)
        old.current.stopped_ns = None
        cluster.wait_leader()
        assert KILLED not in old.current.log()


@on_both(3)
def test_ctrl_z_hands_over_first(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm, flags=["--no-preempt", *LONG]).settled()
    asked_ns = now_ns()
    old.current.process.send_signal(signal.SIGTSTP)
    elected = cluster.wait_elected(asked_ns)
    assert elected["ts_ns"] - asked_ns < SOON_NS
    deposed = cluster.wait_for(lambda: old.current.stream.of("deposed"), "it tells its end")[-1]
    assert deposed["reason"] == "resigned"
    pid = old.current.process.pid
    cluster.wait_for(lambda: stopped(pid), "it stops")
    old.current.stopped_ns = now_ns()
    assert_unchanged(cluster, cluster.wait_leader(), 0.5, "the old leader is stopped")
    old.resume()
    cluster.wait_for(lambda: old.view == cluster.leader().view, "it follows")


@pytest.mark.parametrize("task", [None, ["sleep", "1000"]], ids=["node", "run"])
def test_ctrl_z_waits_for_the_hooks(new_cluster, task):
    """Nobody else leads while a hook runs, and the node stops only then; by its own hand."""
    cluster = new_cluster(3, flags=["--no-preempt", "--on-deposed", "sleep 1.2"])
    for node in cluster:
        node.task = task
    old = cluster.start().wait_settled()
    asked_ns = now_ns()
    old.current.process.send_signal(signal.SIGTSTP)
    elected = cluster.wait_elected(asked_ns)
    assert elected["ts_ns"] - asked_ns > 1.2e9
    deposed = cluster.wait_for(lambda: old.current.stream.of("deposed"), "it tells its end")[-1]
    assert deposed["reason"] == "resigned"
    assert asked_ns + 1.2e9 < deposed["held_until_ns"] <= elected["ts_ns"]
    cluster.wait_for(lambda: stopped(old.current.process.pid), "it stops")
    old.current.stopped_ns = now_ns()
    assert KILLED not in old.current.log()
    old.resume()
    cluster.wait_for(lambda: old.view == cluster.leader().view, "it follows")


def test_ctrl_z_of_one_alone_stops_it_and_it_leads_again(new_cluster):
    cluster, old = new_cluster(1).settled()
    epoch = old.view[1]
    old.current.process.send_signal(signal.SIGTSTP)
    cluster.wait_for(lambda: stopped(old.current.process.pid), "it stops")
    old.resume()
    cluster.wait_for(lambda: old.leads and old.view[1] > epoch, "it leads again")


@on_both(3)
def test_ctrl_z_stops_a_follower_at_once(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    follower = next(node for node in cluster if node is not leader)
    process = follower.current.process
    process.send_signal(signal.SIGTSTP)
    cluster.wait_for(lambda: stopped(process.pid), "it stops")
    follower.resume()
    cluster.wait_for(lambda: follower.view == leader.view, "it follows")


@pytest.mark.parametrize("hang_after", ["100ms", "2s", "off"])
def test_the_command_of_a_node_that_stands_still_is_dead_before_the_next_leads(
    new_cluster, hang_after
):
    flags = ["--hang-after", hang_after, "--kill-after", "3s", "--restart-delay", "50ms"]
    cluster = new_cluster(3, flags=flags)
    for node in cluster:
        node.task = ["sleep", "1000"]
    old = cluster.start().wait_settled()
    command = wait_family(old).command
    hung_ns = old.hang_for_good()
    elected = cluster.wait_elected(hung_ns)
    assert not alive(command)
    # The lease would have lasted until the command's time to end was over.
    assert elected["ts_ns"] - hung_ns < 2.5e9
    assert old.wait_exit() == -signal.SIGKILL
    said = KILLED if hang_after == "100ms" else "the node stands still; it was killed"
    cluster.wait_for(lambda: said in old.current.log(), "who has killed it says so")
