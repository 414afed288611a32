"""Where a notice of death releases the lease: what tells it, who cannot, and what it costs when
nobody does.
"""

import contextlib
import os
import re
import signal
import struct
import threading

from harness import wire
import pytest
from harness.net import Relay
from harness.task import alive, child_named, stopped
from harness.undertaker import SEEN_BY_ROOT, held_by, undertaker_of
from clusters import ALL, LONG, SOON_NS, on_both, replaced_soon, rounds
from secured import KEY

pytestmark = pytest.mark.beside

NOTICE = ["--fast-release", "notice"]


@pytest.fixture
def noticed(secured):
    """A cluster with a key, where notices count."""

    def make(n=3, algorithm="bully", flags=()):
        return secured(KEY, n=n, algorithm=algorithm, flags=[*LONG, *flags]).cluster

    return make


@pytest.fixture
def relayed(noticed):
    """The same, with a relay on each way that ends connections at will and reads along."""
    with contextlib.ExitStack() as made:

        def make(n=3, algorithm="bully", **options):
            cluster = noticed(n, algorithm, **options)
            tap = Tap()
            relay = Relay(tap)
            made.callback(relay.close)
            relay.put_between(cluster)
            return cluster.start(), relay, tap

        yield make


class Tap:
    """The notices that somebody on the way can read: the plain frames of undertakers."""

    def __init__(self):
        self.lock = threading.Lock()
        self.mourn = set()
        self.dead = set()

    def __call__(self, _pair, _way, data):
        if len(data) < 5 or data[0] != 0 or data[4] not in (wire.MOURN, wire.DEAD):
            return
        for frame in wire.frames(data):
            with self.lock:
                (self.mourn if frame[4] == wire.MOURN else self.dead).add(frame)

    def forged(self):
        """The frames that a reader of all this could make: each secret in the name of each run."""
        with self.lock:
            runs = {struct.unpack(">QQ", frame[10:26]) for frame in self.mourn}
            secrets = {frame[27:] for frame in self.dead} | {os.urandom(32)}
        for run in runs:
            names = dict(zip(("sender", "incarnation"), run))
            for secret in secrets:
                yield wire.frame(wire.MOURN, **names) + wire.frame(
                    wire.DEAD, b"\x01" + secret, **names
                )


@on_both(3)
@pytest.mark.parametrize("security", ["key", "none"])
def test_a_killed_leader_is_replaced_before_its_lease_ends(
    noticed, new_cluster, security, algorithm, n
):
    if security == "key":
        cluster = noticed(n, algorithm).start()
    else:
        cluster = new_cluster(n, algorithm, flags=[*LONG, *NOTICE]).start()
    for _ in range(3):
        leader = cluster.wait_settled()
        assert replaced_soon(cluster, leader.kill())
        leader.restart()


def test_a_leader_that_stands_still_is_killed_and_replaced_before_its_lease_ends(noticed):
    cluster, leader = noticed().settled()
    assert replaced_soon(cluster, leader.hang_for_good())


def test_with_fast_release_off_a_crash_costs_the_lease(noticed):
    cluster, leader = noticed(flags=["--fast-release", "off"]).settled()
    assert undertaker_of(leader) is None
    assert not replaced_soon(cluster, leader.kill())


# N2.2
def test_with_hooks_nobody_tells(noticed):
    cluster, leader = noticed(flags=["--on-elected", "true"]).settled()
    assert undertaker_of(leader) is None
    assert not replaced_soon(cluster, leader.kill())


def test_a_holder_of_untied_grants_is_not_released_by_members_that_say_otherwise(noticed):
    """A promise is released early only if both sides say the same."""
    cluster = noticed()
    for node in list(cluster)[:-1]:
        node.flags = ["--fast-release", "off"]
    leader = cluster.start().wait_settled()
    assert leader.id == 3
    assert not replaced_soon(cluster, leader.kill())


def test_killed_together_nobody_tells(noticed):
    cluster, leader = noticed().settled()
    undertaker = undertaker_of(leader)
    leader.hang_for_good()  # so that it starts no other one meanwhile
    os.kill(undertaker, signal.SIGKILL)
    assert not replaced_soon(cluster, leader.kill())


def test_one_that_stands_still_goes_on_when_its_node_ends(noticed):
    """The kernel continues a stopped process group when its last parent outside has ended."""
    cluster, leader = noticed().settled()
    os.kill(undertaker_of(leader), signal.SIGSTOP)
    cluster.wait_for(lambda: stopped(undertaker_of(leader)), "it stands still")
    assert replaced_soon(cluster, leader.kill())


# N5.1
@SEEN_BY_ROOT
def test_a_killed_undertaker_is_replaced(noticed):
    cluster, leader = noticed().settled()
    before = leader.view
    for _ in range(3):
        old = undertaker_of(leader)
        os.kill(old, signal.SIGKILL)
        cluster.wait_for(
            lambda old=old: undertaker_of(leader) not in (None, old), "there is another one"
        )
    cluster.wait_for(lambda: established(undertaker_of(leader)) == 2, "it stands by")
    assert leader.view == before
    assert replaced_soon(cluster, leader.kill())


def established(pid):
    """How many connections a process has."""
    names = (f"/proc/{pid}/fd/{fd}" for fd in os.listdir(f"/proc/{pid}/fd"))
    inodes = set()
    for name in names:
        with contextlib.suppress(OSError):
            inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(name)))
    rows = open("/proc/net/tcp").read().splitlines()[1:]
    return sum(1 for row in rows if row.split()[3] == "01" and row.split()[9] in inodes)


# Its orders, its own two connections, and the timer of a lease.
ITS_OWN = [*["socket:"] * 3, "anon_inode:"]


@SEEN_BY_ROOT
def test_it_holds_of_the_node_s_descriptors_only_what_delays_an_end(noticed):
    """An inotify that the dead process is the last to have keeps it from ending for ten
    milliseconds, and so its death from being told."""
    cluster, leader = noticed().settled()
    for _ in range(2):
        undertaker = undertaker_of(leader)
        cluster.wait_for(lambda pid=undertaker: established(pid) == 2, "it stands by")
        assert held_by(undertaker) == sorted(["pidfd", "anon_inode:inotify", *ITS_OWN])
        os.kill(undertaker, signal.SIGKILL)
        cluster.wait_for(
            lambda old=undertaker: undertaker_of(leader) not in (None, old), "there is another one"
        )


@SEEN_BY_ROOT
def test_with_progress_that_is_watched_it_holds_that_watch_too(noticed, journal):
    cluster = noticed(flags=["--stall-after", "1h"])
    for node in cluster:
        node.task = journal.command("sleep", "1000")
    leader = cluster.start().wait_settled()
    undertaker = undertaker_of(leader)
    cluster.wait_for(lambda: held_by(undertaker).count("anon_inode:inotify") == 2, "both watches")


def test_it_ends_soon_after_its_node(noticed):
    cluster, leader = noticed().settled()
    undertaker = undertaker_of(leader)
    assert leader.stop() == 0
    cluster.wait_for(lambda: not alive(undertaker), "it has ended", SOON_NS / 1e9)


# ---- With a command.


@on_both(3)
def test_run_is_replaced_once_nothing_of_the_command_is_left(noticed, journal, algorithm, n):
    cluster = noticed(n, algorithm)
    for node in cluster:
        node.task = journal.command("fork", "group")
        node.flags = ["--kill-after", "100ms"]
    cluster.start()
    for _ in range(3):
        leader = cluster.wait_settled()
        before = len(journal.begun())
        assert replaced_soon(cluster, leader.kill())
        cluster.wait_for(lambda b=before: len(journal.begun()) > b, "the next command")
        leader.restart()


@pytest.fixture
def working(noticed, journal):
    """A cluster whose leader runs a command, and that leader."""

    def make(**options):
        cluster = noticed(**options)
        for node in cluster:
            node.task = journal.command("group")
            node.flags = ["--kill-after", "100ms"]
        leader = cluster.start().wait_settled()
        cluster.wait_for(journal.begun, "its command")
        return cluster, leader

    return make


def guard_of(node):
    return child_named(node.current.process.pid, "bullring-guard")


def test_run_without_its_guard_costs_the_lease(working):
    """Nobody knows what is left of the command."""
    cluster, leader = working()
    os.kill(guard_of(leader), signal.SIGKILL)
    assert not replaced_soon(cluster, leader.kill())


@pytest.mark.parametrize("security", ["key", "none"])
def test_run_with_fast_release_off_is_told_by_its_guard_in_plain_text_alone(
    noticed, new_cluster, journal, security
):
    """Of a secured session the guard has no keys."""
    cluster = noticed() if security == "key" else new_cluster(3, "bully", flags=LONG)
    for node in cluster:
        node.task = journal.command("group")
        node.flags = ["--kill-after", "100ms", "--fast-release", "off"]
    leader = cluster.start().wait_settled()
    cluster.wait_for(journal.begun, "its command")
    assert replaced_soon(cluster, leader.kill()) == (security == "none")


# N2.1, N6.1
def test_run_with_its_second_guard_is_told(working):
    """The word of the guard that is there counts, not that of an earlier one."""
    cluster, leader = working(flags=["--no-preempt", "--restart-delay", "20ms"])
    first = guard_of(leader)
    os.kill(first, signal.SIGKILL)
    cluster.wait_for(lambda: guard_of(leader) not in (None, first), "there is another guard")
    # Another node may have taken over meanwhile.
    if cluster.wait_settled() is not leader:
        assert cluster.resign("--to", str(leader.id), "--timeout", "10s").returncode == 0
        assert cluster.wait_settled() is leader
    assert replaced_soon(cluster, leader.kill())


def test_sigterm_to_the_undertaker_of_run_ends_it_after_its_word(working):
    """A service manager sends it to all that a dead node has left, before the guard is through."""
    cluster, leader = working()
    undertaker = undertaker_of(leader)
    os.kill(undertaker, signal.SIGTERM)
    assert replaced_soon(cluster, leader.kill())
    cluster.wait_for(lambda: not alive(undertaker), "it has ended")


# N2.2
def test_while_a_command_of_lead_runs_nobody_tells(noticed, spawn, tmp_path):
    cluster, leader = noticed().settled()
    begun = tmp_path / "begun"
    spawn(
        [
            *[cluster.program, "lead", "--data-dir", str(leader.data_dir), "--"],
            *["sh", "-c", f"touch {begun}; exec sleep 60"],
        ],
        env=cluster.environment,
    )
    cluster.wait_for(begun.exists, "the command of lead runs")
    assert not replaced_soon(cluster, leader.kill())


# N2.3
def test_with_a_member_out_of_reach_it_ends_with_the_promises(noticed):
    cluster, leader = noticed().settled()
    away = next(node for node in cluster if node is not leader)
    away.hang()
    undertaker = undertaker_of(leader)
    leader.kill()
    cluster.wait_for(lambda: not alive(undertaker), "it has ended")
    # It has held nothing that the next process needs.
    away.resume()
    leader.restart()
    cluster.wait_leader()


# ---- Somebody on the way.


@on_both(3)
def test_a_proxy_that_ends_connections_at_will_does_not_hide_a_death(relayed, algorithm, n):
    cluster, relay, _ = relayed(n, algorithm)
    for _ in rounds(3, 100):
        leader = cluster.wait_settled()
        relay.drop_all()
        killed_ns = leader.kill()
        relay.drop_all()
        # The undertaker connects anew, through the proxy.
        assert replaced_soon(cluster, killed_ns)
        leader.restart()


def test_forged_ends_and_repeated_notices_release_nothing(relayed):
    """FIN and RST on all connections, again and again; and each secret that was ever read on the
    way, said in the name of each run to everybody."""
    forged_wanted = 10_000 if ALL else 300
    cluster, relay, tap = relayed(flags=["--no-preempt"])
    first = cluster.wait_settled()
    killed_ns = first.kill()
    cluster.wait_elected(killed_ns)
    first.restart()
    leader = cluster.wait_settled()
    before = leader.view
    assert tap.dead, "the notice of the first leader's death was read on its way"
    forged = 0
    while forged < forged_wanted:
        forged += relay.drop_all()
        for node in cluster:
            forged += say(node, list(tap.forged()))
        cluster.never(
            lambda: leader.view != before or not leader.leads, "the leader is released", 0.08
        )
    assert len(cluster.leaderships()) == 2
    # And still its own word counts.
    assert replaced_soon(cluster, leader.kill())


def say(node, notices):
    for notice in notices:
        with wire.connected(node) as connection:
            connection.sendall(notice)
            assert wire.receive_all(connection) == b""
    return len(notices)
