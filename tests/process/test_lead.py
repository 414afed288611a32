"""`bullring lead`: for cron; a command that runs if the node on this machine leads now."""

import os
import signal
import socket
import stat
import struct
import subprocess

import pytest
from harness.events import now_ns
from harness.node import find_program
from harness.task import Journal, alive, child_named, signal_all, wait_family
from clusters import assert_unchanged, on_both, rounds
from harness.waiting import DEADLINE

GO = 2  # LeadAnswer::Kind


@pytest.fixture
def journal(tmp_path):
    """The lines of the commands. A node may run several in one epoch, and never two at one time."""
    journal = Journal(tmp_path)
    yield journal
    journal.judge(several_an_epoch=True)


@pytest.fixture
def settled(new_cluster):
    def make(n=3, algorithm="bully", flags=()):
        cluster, _ = new_cluster(n, algorithm, flags=flags).settled()
        return cluster

    return make


@pytest.fixture
def lead(spawn):
    """Starts `bullring lead` beside a node."""

    def start(node, *flags, command):
        return spawn(
            [find_program(), "lead", "--data-dir", str(node.data_dir), *flags, "--", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=node.cluster.environment,
        )

    return start


def begun(cluster, journal, count=1):
    """(node, epoch, process) of the command of this number, which is awaited."""
    cluster.wait_for(lambda: len(journal.begun()) >= count, "the command")
    return journal.begun()[count - 1]


def test_who_leads_runs_it_and_who_does_not_says_75(settled, lead):
    cluster = settled()
    leader = cluster.leader()
    out, errors = lead(
        leader, command=["sh", "-c", "env | grep ^BULLRING_ | sort; exit 5"]
    ).communicate(timeout=DEADLINE)
    assert out.split() == [
        "BULLRING_CLUSTER_NAME=bullring",
        f"BULLRING_EPOCH={leader.view[1]}",
        "BULLRING_LEADER=1",
        f"BULLRING_NODE_ID={leader.id}",
    ]
    assert errors == ""
    other = next(node for node in cluster if node is not leader)
    process = lead(other, command=["true"])
    # Without a word, which cron would send by mail.
    assert process.communicate(timeout=DEADLINE) == ("", "")
    assert process.returncode == 75
    process = lead(other, "--log-level", "debug", command=["true"])
    assert "does not lead" in process.communicate(timeout=DEADLINE)[1]
    process = lead(leader, "--id", str(other.id), command=["true"])
    assert f"is {leader.id} of cluster" in process.communicate(timeout=DEADLINE)[1]
    assert process.returncode == 2
    assert lead(leader, command=["sh", "-c", "exit 5"]).wait(DEADLINE) == 5
    assert lead(leader, command=["sh", "-c", "kill -9 $$"]).wait(DEADLINE) == 128 + 9
    assert_unchanged(cluster, leader, 0.3, "after short commands")
    mode = stat.S_IMODE(os.stat(leader.data_dir / "lead.sock").st_mode)
    assert mode == 0o600


def test_a_node_that_hangs_does_not_answer(settled, lead):
    cluster = settled(n=1, flags=["--hang-after", "off"])
    cluster[1].hang()
    process = lead(cluster[1], command=["true"])
    assert "does not answer" in process.communicate(timeout=DEADLINE)[1]
    assert process.returncode == 69
    cluster[1].resume()


def test_no_node_and_bad_input():
    program = find_program()

    def status(*words):
        return subprocess.run(
            [program, "lead", *words], capture_output=True, text=True, timeout=DEADLINE
        )

    gone = status("--data-dir", "/nonexistent", "--", "true")
    assert gone.returncode == 69
    assert "no node answers in /nonexistent" in gone.stderr
    assert status("--data-dir", "/tmp", "--", "no-such-command").returncode == 2
    assert status("--data-dir", "/tmp").returncode == 2
    assert status("--", "true").returncode == 2
    assert status("--data-dir", "/tmp", "--wait", "3", "--", "true").returncode == 2


def test_wait(settled, journal, lead):
    cluster = settled()
    first = cluster.leader()
    other = next(node for node in cluster if node is not first)
    waiting = lead(other, "--wait", "30s", command=journal.command("exit=0"))
    assert cluster.resign("--to", str(other.id)).returncode == 0
    assert waiting.wait(DEADLINE) == 0
    assert begun(cluster, journal)[0] == other.id
    assert lead(first, "--wait", "50ms", command=["true"]).wait(DEADLINE) == 75


@on_both(3)
def test_a_resign_waits_for_the_command(settled, journal, lead, algorithm, n):
    cluster = settled(n, algorithm)
    leader = cluster.leader()
    process = lead(leader, "--kill-after", "300ms", command=journal.command("ignore"))
    command = begun(cluster, journal)[2]
    assert cluster.resign("--timeout", "10s").returncode == 0
    assert not alive(command)
    assert process.wait(DEADLINE) == 128 + signal.SIGKILL


@on_both(3)
def test_neither_death_lets_two_work_at_once(settled, journal, lead, algorithm, n):
    cluster = settled(n, algorithm)
    kinds = ("node", "lead", "guard", "all")
    for kill in (kinds[number % len(kinds)] for number in rounds(8, 20)):
        leader = cluster.wait_leader()
        before = len(journal.begun())
        process = lead(leader, "--wait", "10s", command=journal.command("fork"))
        command = begun(cluster, journal, before + 1)[2]
        guard = child_named(process.pid, "bullring-guard")
        pids = {"node": [leader.current.process.pid], "lead": [process.pid], "guard": [guard]}
        pids["all"] = pids["node"] + pids["lead"] + [guard]
        if leader.current.process.pid in pids[kill]:
            leader.current.expected_to_run = False
        killed_ns = now_ns()
        signal_all(pids[kill])
        if leader.current.expected_to_run:
            # A process that dies gives its locks back a moment before it is dead.
            cluster.wait_for(
                lambda: not journal.locked() and not alive(command), "the end of the command"
            )
            assert leader.leads
        else:
            leader.wait_exit()
            successor = cluster.wait_elected(killed_ns)["node"]
            assert not journal.locked()
            again = lead(cluster[successor], "--wait", "10s", command=journal.command("exit=0"))
            assert again.wait(DEADLINE) == 0
            leader.start()
            cluster.wait_settled()
        process.wait(DEADLINE)


def test_without_commands_the_end_of_the_node_is_quick_again(settled, lead):
    cluster = settled(flags=["--lease", "1s"])
    leader = cluster.leader()
    assert lead(leader, command=["true"]).wait(DEADLINE) == 0
    # From now on grants are tied again; those that are not have to run out.
    cluster.never(lambda: not leader.leads, "the leader is lost", 1.2)
    killed_ns = leader.kill()
    took_ms = (cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6
    assert took_ms < 500


def test_a_killed_run_says_no_last_word_while_lead_works(new_cluster, journal, lead):
    cluster = new_cluster(3, flags=["--kill-after", "100ms"])
    for node in cluster:
        node.task = ["sleep", "60"]
    leader = cluster.start().wait_settled()
    process = lead(leader, "--wait", "10s", command=journal.command("ignore"))
    command = begun(cluster, journal)[2]
    killed_ns = leader.kill()
    cluster.wait_elected(killed_ns)
    assert not alive(command)
    process.wait(DEADLINE)


def test_beside_run(new_cluster, journal, lead):
    cluster = new_cluster(1, flags=["--kill-after", "200ms"])
    cluster[1].task = ["sleep", "60"]
    cluster.start().wait_leader()
    process = lead(cluster[1], "--wait", "10s", command=journal.command())
    command = begun(cluster, journal)[2]
    signal_all([wait_family(cluster[1]).command])
    assert process.wait(DEADLINE) == 7  # its node has handed over
    assert not alive(command)


def test_no_command_begins_without_the_lock_of_the_directory(spawn, tmp_path):
    """A node of another version, or one that could not hand it over, says go."""
    begun = tmp_path / "begun"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / "lead.sock"))
        listener.listen()
        process = spawn(
            [find_program(), "lead", "--data-dir", str(tmp_path), "--", "touch", str(begun)],
            stderr=subprocess.PIPE,
            text=True,
        )
        listener.settimeout(DEADLINE)
        node, _ = listener.accept()
        node.settimeout(DEADLINE)
        node.recv(4096)
        with node, open(os.memfd_create("page"), "r+b") as page:
            page.truncate(4096)
            answer = struct.pack("=IIQQq72s", GO, 0, 7, 1, 10**9, b"bullring")
            socket.send_fds(node, [answer], [page.fileno()])
            assert process.wait(DEADLINE) == 1
    assert "without the lock of its data directory" in process.stderr.read()
    assert not begun.exists()
