"""Processes that hold the leadership through the node on their machine, by attach.sock."""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys

import pytest
from harness.attach import Client, boottime_ns
from harness.node import python_environment
from harness.undertaker import SEEN_BY_ROOT, held_by, undertaker_of
from harness.waiting import DEADLINE, wait_until

WORKER = """
import os, sys
from types import SimpleNamespace
from pathlib import Path
from harness.attach import Client, boottime_ns
asked = {"on_loss": "kill"} if sys.argv[2:] == ["kill"] else {}
client = Client(SimpleNamespace(data_dir=Path(sys.argv[1]))).campaign(**asked)
epoch = client.wait_for("elected")["epoch"]
print(epoch, boottime_ns(), flush=True)
if sys.argv[2:] == ["fork"] and os.fork() != 0:
    os._exit(0)
last = 0
while (at := client.leads(epoch)) or asked:
    last = at
print(epoch, last, flush=True)
"""


@pytest.fixture
def settled(new_cluster):
    def make(n=3, algorithm="bully", flags=()):
        cluster, leader = new_cluster(n, algorithm, flags=flags).settled()
        return cluster, leader

    return make


@pytest.fixture
def worker(spawn):
    """A process that leads as long as its page says so; it prints when it began, and the last
    instant at which it led."""

    def start(node, *arguments):
        return spawn(
            [sys.executable, "-c", WORKER, str(node.data_dir), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=python_environment(),
        )

    return start


def begun(process):
    epoch, ts_ns = process.stdout.readline().split()
    return int(epoch), int(ts_ns)


def others(cluster, *nodes):
    return [node for node in cluster if node not in nodes]


def test_whoever_attaches_is_greeted_and_told_who_leads(settled):
    cluster, leader = settled()
    for node in cluster:
        client = Client(node)
        assert client.greeting == {
            "event": "attached",
            "node": node.id,
            "cluster": "bullring",
            "version": 1,
        }
        line = client.wait_for("leader")
        assert list(line) == ["event", "leader", "epoch", "advertised"]
        assert (line["leader"], line["epoch"]) == (leader.id, leader.view[1])
        assert client.shown() == (0, 0, 0)
        assert client.page[32:] == bytes(32)
        assert stat.S_IMODE(os.stat(node.data_dir / "attach.sock").st_mode) == 0o600
        with pytest.raises(OSError):
            os.pwrite(client.descriptor, b"x", 0)
        client.say(op="leader")
        assert client.wait_for("leader") == line


@pytest.mark.parametrize("algorithm", ["bully", "ring"])
def test_it_leads_wherever_it_is_and_the_next_has_a_higher_epoch(settled, algorithm):
    """R5.16: nobody works on the machine of the leader."""
    cluster, leader = settled(algorithm=algorithm)
    one, two = (Client(node) for node in others(cluster, leader))
    first = one.campaign().wait_for("elected")
    assert list(first) == ["event", "epoch", "valid_until_ns"]
    assert one.leads(first["epoch"])
    assert one.shown()[1] >= first["valid_until_ns"]
    two.campaign()
    wait_until(lambda: one.shown()[1] > first["valid_until_ns"], "a renewal")
    assert two.shown() == (0, 0, 0)
    one.say(op="done")
    assert one.wait_for("released") == {"event": "released", "epoch": first["epoch"]}
    assert one.shown() == (0, 0, 0)
    assert two.wait_for("elected")["epoch"] > first["epoch"]


def test_on_one_machine_they_lead_in_their_order(settled):
    _, leader = settled()
    clients = [Client(leader).campaign() for _ in range(3)]
    epochs = []
    for client in [*clients, clients[0]]:
        epochs.append(client.wait_for("elected")["epoch"])
        assert [one.shown()[0] for one in clients if one is not client] == [0, 0]
        client.say(op="done", again=True)
        client.wait_for("released")
    assert epochs == sorted(set(epochs))


def test_the_command_of_run_is_one_of_them(new_cluster, tmp_path):
    flags = ["--on-exit", "stay", "--restart-delay", "10s"]
    cluster = new_cluster(1, "bully")
    node = cluster[1]
    node.task, node.flags = ["sh", "-c", "sleep 0.3"], flags
    cluster.settled()
    client = Client(node).campaign()
    epoch = client.wait_for("elected")["epoch"]
    wait_until(lambda: "has ended (exit 0)" in node.current.log(), "the end of the command")
    assert client.leads(epoch)
    client.say(op="done")
    client.wait_for("released")
    # While the command waits to be tried again the node stands for the processes alone.
    wait_until(lambda: "stands again after" in node.current.log(), "the pause")
    assert Client(node).campaign().wait_for("elected")["epoch"] > epoch


def test_people_see_who_leads(settled):
    cluster, leader = settled(flags=["--advertise", "the node"])
    node, other = others(cluster, leader)
    client = Client(node).campaign(advertised="here:80")
    epoch = client.wait_for("elected")["epoch"]
    waits = Client(node).campaign()

    def shown():
        (row,) = [row for row in cluster.status()["nodes"] if row["id"] == node.id]
        return row.get("attached", {}).get("candidates") == 2 and row["attached"]

    holder = wait_until(shown, "two candidates")["holder"]
    assert (holder["pid"], holder["name"]) == (os.getpid(), "pytest-3")
    assert holder["for_ms"] >= 0
    text = cluster.command("status").stdout
    assert f"process {os.getpid()} (pytest-3) leads for 0s; a process waits to lead" in text
    # Those who follow are told where it is.
    follower = Client(other)

    def told():
        line = follower.wait_for("leader")
        return line["epoch"] == epoch and line["advertised"] == "here:80"

    wait_until(told, "what it advertises")
    client.say(op="done")
    client.wait_for("released")
    waits.wait_for("elected")
    line = follower.wait_for("leader")
    while not (line["epoch"] > epoch and line["leader"]):
        line = follower.wait_for("leader")
    assert line["advertised"] == "the node"


@pytest.mark.parametrize("how", ["killed", "forked"])
def test_the_end_of_its_process_releases_its_lease(settled, worker, how):
    """H3.3. A child that it leaves behind counts for nothing, though it holds the connection."""
    cluster, leader = settled(flags=["--lease", "8s"])
    node, other = others(cluster, leader)
    next_one = Client(other)
    process = worker(node, *(["fork"] if how == "forked" else []))
    epoch, _ = begun(process)
    next_one.campaign()
    process.kill()
    process.wait()
    ended = boottime_ns()
    assert next_one.wait_for("elected")["epoch"] > epoch
    # Long before the lease was over.
    assert boottime_ns() - ended < 4e9
    wait_until(lambda: "task_failed" in node.current.log(), "the reason")


def test_the_end_of_its_connection_releases_nothing(settled):
    """H3.5"""
    cluster, leader = settled(flags=["--lease", "2s"])
    node, other = others(cluster, leader)
    client, next_one = Client(node), Client(other)
    client.campaign().wait_for("elected")
    next_one.campaign()
    valid_until = client.shown()[1]
    client.close()
    client.wait_empty()
    assert client.shown()[2] >= valid_until
    next_one.wait_for("elected")
    assert boottime_ns() > valid_until


@pytest.mark.parametrize("release", ["fin", "notice"])
def test_a_node_that_dies_leaves_the_lease_to_its_client(settled, release):
    """R4.5: neither the end of a session nor a notice releases it."""
    cluster, leader = settled(flags=["--lease", "2s", "--fast-release", release])
    node, other = others(cluster, leader)
    client, next_one = Client(node), Client(other)
    epoch = client.campaign().wait_for("elected")["epoch"]
    next_one.campaign()
    node.kill()
    while (line := client.line()) is not None:
        assert line["event"] == "leader"
    assert client.leads(epoch)
    valid_until = client.shown()[1]
    assert next_one.wait_for("elected")["epoch"] > epoch
    assert boottime_ns() > valid_until
    assert not client.leads(epoch)


@pytest.mark.parametrize("release", ["fin", "notice"])
def test_who_is_to_end_with_its_node_is_killed_and_the_next_leads_at_once(settled, worker, release):
    """N2.4"""
    cluster, leader = settled(flags=["--lease", "8s", "--fast-release", release])
    node, other = others(cluster, leader)
    process = worker(node, "kill")
    epoch, _ = begun(process)
    next_one = Client(other).campaign()
    node.kill()
    killed = boottime_ns()
    assert next_one.wait_for("elected")["epoch"] > epoch
    assert process.poll() == -signal.SIGKILL
    # Long before the lease was over.
    assert boottime_ns() - killed < 4e9


def test_who_is_to_end_with_its_node_is_killed_before_the_lease_of_one_that_hangs(settled, worker):
    cluster, leader = settled(flags=["--lease", "1s", "--hang-after", "off"])
    node, other = others(cluster, leader)
    process = worker(node, "kill")
    epoch, _ = begun(process)
    next_one = Client(other).campaign()
    node.hang()
    assert next_one.wait_for("elected")["epoch"] > epoch
    assert process.poll() == -signal.SIGKILL
    node.resume()
    wait_until(lambda: "has ended" in node.current.log(), "the word of its end")


@SEEN_BY_ROOT
@pytest.mark.parametrize("release", ["fin", "notice"])
def test_who_is_to_end_with_its_node_is_killed_by_the_next_undertaker(settled, worker, release):
    """N5.1"""
    cluster, leader = settled(flags=["--lease", "8s", "--fast-release", release])
    node, other = others(cluster, leader)
    process = worker(node, "kill")
    begun(process)
    old = undertaker_of(node)
    os.kill(old, signal.SIGKILL)

    def watches():
        """The node, and the process: before that it would leave both to the lease."""
        new = undertaker_of(node)
        return new not in (None, old) and held_by(new).count("pidfd") == 2

    wait_until(watches, "the next one")
    next_one = Client(other).campaign()
    killed = node.kill()
    next_one.wait_for("elected")
    assert process.poll() == -signal.SIGKILL
    assert boottime_ns() - killed < 4e9


def test_without_an_undertaker_the_lease_of_who_is_to_end_with_its_node_runs_out(settled, worker):
    cluster, leader = settled(flags=["--lease", "1s", "--hang-after", "off"])
    node, other = others(cluster, leader)
    process = worker(node, "kill")
    begun(process)
    next_one = Client(other).campaign()
    node.hang()  # it would start another one
    os.kill(undertaker_of(node), signal.SIGKILL)
    killed = node.kill()
    next_one.wait_for("elected")
    assert process.poll() is None
    assert boottime_ns() - killed > 0.5e9


def test_who_is_to_end_with_its_node_outlives_it_unless_it_leads(settled, worker):
    cluster, leader = settled()
    node, other = others(cluster, leader)
    Client(other).campaign().wait_for("elected")
    process = worker(node, "kill")

    def waits():
        (row,) = [row for row in cluster.status()["nodes"] if row["id"] == node.id]
        return row.get("attached", {}).get("candidates") == 1

    wait_until(waits, "its candidacy")
    node.kill()
    assert process.wait(DEADLINE) == 1
    assert "the connection has ended" in process.stderr.read()


def test_who_does_not_heed_is_killed_before_the_lease_ends(settled, worker):
    cluster, leader = settled(flags=["--lease", "1s"])
    node, other = others(cluster, leader)
    process = worker(node, "kill")
    epoch, _ = begun(process)
    next_one = Client(other).campaign()
    cluster.resign("--to", str(other.id))
    assert next_one.wait_for("elected")["epoch"] > epoch
    assert process.wait(DEADLINE) == -signal.SIGKILL


def test_a_node_that_is_started_anew_lets_nobody_in_before(settled):
    cluster, leader = settled(flags=["--lease", "2s"])
    node, _ = others(cluster, leader)
    client = Client(node)
    epoch = client.campaign().wait_for("elected")["epoch"]
    valid_until = client.shown()[1]
    node.kill()
    node.start()
    wait_until((node.data_dir / "attach.sock").exists, "its socket")
    anew = wait_until(lambda: connected(node), "the new run")
    assert anew.campaign().wait_for("elected")["epoch"] > epoch
    assert boottime_ns() > valid_until


def connected(node):
    try:
        return Client(node)
    except OSError:
        return None


def test_a_stopped_process_has_lost_its_page_before_the_next_is_told(settled, worker):
    """It is watched (H3.6), or its node goes: whatever it believes when it wakes, its page does
    not say that it leads."""
    cluster, leader = settled(flags=["--lease", "1s"])
    node, other = others(cluster, leader)
    process = worker(node)
    epoch, _ = begun(process)
    next_one = Client(other).campaign()
    process.send_signal(signal.SIGSTOP)
    cluster.resign("--to", str(other.id))
    elected = next_one.wait_for("elected")
    at = boottime_ns()
    process.send_signal(signal.SIGCONT)
    assert elected["epoch"] > epoch
    _, last = begun(process)
    assert last < at


def test_who_shows_no_progress_loses_it(settled):
    """H3.6"""
    cluster, leader = settled(flags=["--lease", "1s"])
    client = Client(leader).campaign(stall_after_ms=300)
    client.wait_for("elected")
    next_one = Client(others(cluster, leader)[0]).campaign()
    for _ in range(5):
        client.say(op="progress")
        client.say(op="leader")
        client.wait_for("leader")
    stop = client.wait_for("stop")
    assert stop["reason"] == "stalled"
    assert client.shown() == (0, 0, stop["by_ns"])
    client.say(op="done")
    client.wait_for("released")
    next_one.wait_for("elected")


def test_it_may_resign_if_another_wants_to_lead(settled):
    cluster, leader = settled()
    client = Client(leader)
    client.say(op="resign")
    assert client.wait_for("error")["error"] == "this process does not lead"
    client.campaign().wait_for("elected")
    client.say(op="resign")
    assert "no process on another node asks" in client.wait_for("error")["error"]
    next_one = Client(others(cluster, leader)[0]).campaign()

    def resigned():
        client.say(op="resign")
        return client.line()["event"] == "stop"

    wait_until(resigned, "the other node to say that it is asked")
    assert next_one.shown()[0] == 0
    client.say(op="done")
    next_one.wait_for("elected")


def test_a_partition_is_told_in_time_to_wind_up(settled):
    """H3.4"""
    cluster, leader = settled(flags=["--lease", "2s", "--hang-after", "off"])
    client = Client(leader)
    epoch = client.campaign().wait_for("elected")["epoch"]
    for node in others(cluster, leader):
        node.hang_for_good()
    stop = client.wait_for("stop")
    assert (stop["epoch"], stop["reason"]) == (epoch, "lease_expired")
    assert stop["by_ns"] - boottime_ns() > 0.2e9
    assert not client.leads(epoch)


WRONG = [
    ("campaign", "'campaign' is no JSON object"),
    ("[]", "is no JSON object"),
    ("{}", 'there is no "op"'),
    ('{"op":"vote"}', '"op" is "vote"; expected'),
    ('{"op":"campaign","stall_after_ms":-1}', '"stall_after_ms" is -1; expected a number'),
    ('{"op":"campaign","advertised":7}', '"advertised" is 7; expected a text of at most 256'),
    ('{"op":"campaign","on_loss":"weep"}', '"on_loss" is "weep"; expected "tell" or "kill"'),
    ('{"op":"done","again":1}', '"again" is 1; expected true or false'),
    ('{"op":"done"}', "does not lead"),
]


def test_what_is_wrong_is_said_and_changes_nothing(settled):
    _, leader = settled(1)
    client = Client(leader)
    for line, error in WRONG:
        client.socket.sendall(line.encode() + b"\n")
        assert error in client.wait_for("error")["error"]
    client.campaign(colour="blue", name_of_nothing=[1]).wait_for("elected")
    client.campaign()
    assert "has a candidacy already" in client.wait_for("error")["error"]
    client.socket.sendall(b"x" * 5000)
    assert "longer than 4096 bytes" in client.wait_for("error")["error"]
    assert client.line() is None


def test_a_flood_and_a_reader_that_does_not_read_harm_nobody(settled):
    _, leader = settled()
    client = Client(leader)
    epoch = client.campaign().wait_for("elected")["epoch"]
    flood = Client(leader)
    flood.socket.settimeout(0)
    asked = json.dumps({"op": "leader"}).encode() + b"\n"
    cut = []

    def flooded():
        try:
            flood.socket.send(asked * 100)
        except BlockingIOError:
            pass
        except ConnectionError:
            cut.append(True)
        assert client.leads(epoch)
        return cut

    wait_until(flooded, "the end of the connection")
    assert "does not read what it is told" in leader.current.log()


def test_a_flood_of_connections_keeps_nobody_from_leading(settled):
    """It would take renewals, which come twenty times a lease."""
    _, leader = settled()
    client = Client(leader)
    epoch = client.campaign().wait_for("elected")["epoch"]
    path = str(leader.data_dir / "attach.sock")
    for _ in range(5000):
        with socket.socket(socket.AF_UNIX) as one:
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(path)
        assert client.leads(epoch)
    wait_until(lambda: connected_well(leader), "its turn")


def test_there_are_256_of_them_and_no_more(settled):
    _, leader = settled(1)
    clients = [Client(leader) for _ in range(256)]
    one_too_many = socket.socket(socket.AF_UNIX)
    one_too_many.connect(str(leader.data_dir / "attach.sock"))
    assert b"256 processes are attached already" in one_too_many.recv(4096)
    clients[0].campaign().wait_for("elected")
    clients.pop().close()
    wait_until(lambda: connected_well(leader), "a free place")


def connected_well(node):
    client = Client(node)
    well = client.greeting["event"] == "attached"
    client.close()
    return well


def test_a_socket_that_was_removed_is_there_again(settled):
    _, leader = settled(1)
    client = Client(leader)
    epoch = client.campaign().wait_for("elected")["epoch"]
    (leader.data_dir / "attach.sock").unlink()
    wait_until(lambda: connected(leader), "the socket")
    assert client.leads(epoch)


def test_it_is_switched_off(new_cluster):
    cluster, leader = new_cluster(1, "bully", flags=["--attach", "off"]).settled()
    assert not (leader.data_dir / "attach.sock").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="takes a group that this user is not in")
def test_a_group_may_attach(new_cluster):
    cluster, leader = new_cluster(1, "bully", flags=["--attach-group", "daemon"]).settled()
    about = os.stat(leader.data_dir / "attach.sock")
    assert (stat.S_IMODE(about.st_mode), about.st_gid) == (0o660, 1)
    # Nobody else may enter the node's directory; it may be reached, here.
    assert stat.S_IMODE(os.stat(leader.data_dir).st_mode) == 0o710
    os.chmod(cluster.directory, 0o711)
    program = (
        "import socket, sys\n"
        "one = socket.socket(socket.AF_UNIX)\n"
        "one.connect(sys.argv[1])\n"
        "print(one.recv(4096).decode())\n"
    )
    for groups, may in [("1", True), ("2", False)]:
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", f"--groups={groups}"]
        asked = subprocess.run(
            [*as_nobody, "/usr/bin/python3", "-c", program, leader.data_dir / "attach.sock"],
            capture_output=True,
            text=True,
        )
        assert ('"attached"' in asked.stdout) == may, asked.stderr
