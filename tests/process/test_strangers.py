"""The costs that strangers can cause a node: lines of log, elections, descriptors.

They come from 127.0.0.2 and beyond; the members are on 127.0.0.1.
"""

import contextlib
import json
import os
import pathlib
import socket
import struct
import time

from harness import wire
from clusters import assert_unchanged

# LogLimit allows so many lines in the ten seconds that a test is shorter than, for two kinds of
# lines, and a node so many of its own.
LINES_MAX = 2 * 17 + 30


def connection(node, source):
    return socket.create_connection((node.host, node.port), 5, source_address=(source, 0))


def ask(node, source, data):
    with connection(node, source) as stranger:
        stranger.sendall(data)
        return wire.receive_all(stranger)


def cpu_seconds(node):
    fields = pathlib.Path(f"/proc/{node.current.process.pid}/stat").read_text().split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def flood(cluster, node):
    for number in range(40):
        source = f"127.0.{number % 20}.{2 + number}"
        for turn in range(10):
            name = b"\x1b[31m\x9b\xff%d\n\x07%d" % (number, turn)
            kind, body = wire.parse(ask(node, source, wire.observe(name)))
            assert kind == wire.OBSERVER_REFUSED
            assert b"secret" not in body
            kind, body = wire.parse(ask(node, source, wire.hello(name, [1, 2, 3], 1 + turn, 7)))
            assert kind == wire.REFUSED
            assert b"secret" not in body
            ask(node, source, wire.frame(turn + 1, b"\x01\x1b\xff" + name, sender=turn))
            ask(node, source, name * 10)
        cluster.poll()


def log_of(node):
    text = node.current.log_path.read_bytes().decode()  # fails where it is no UTF-8
    assert not [c for c in text if ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160]
    return text.splitlines()


def test_a_flood_of_strangers_is_some_lines_of_log(new_cluster):
    cluster, leader = new_cluster(3, name="secret").settled()
    flood(cluster, leader)
    assert len(log_of(leader)) < LINES_MAX
    assert leader.leads


def test_and_each_of_them_is_json_where_that_is_asked_for(new_cluster):
    cluster, leader = new_cluster(
        3, "ring", name="secret", flags=["--log-format", "json"]
    ).settled()
    before = len(log_of(leader))
    flood(cluster, leader)
    lines = [json.loads(line) for line in log_of(leader)]
    assert before < len(lines) < LINES_MAX


def test_a_flood_of_resignations_is_some_elections(new_cluster):
    cluster, _ = new_cluster(3).settled()
    started = time.monotonic()
    asked = 0
    while time.monotonic() < started + 3:
        for node in cluster:
            kind, _ = wire.parse(ask(node, "127.0.0.1", wire.observe(b"bullring", wire.RESIGN)))
            assert kind == wire.RESIGN_RESULT
            asked += 1
        cluster.poll()
    cluster.wait_leader()
    elections = [event for event in cluster.events() if event["event"] == "elected"]
    # Three at once for each node, one more for each 3 s that were begun, and those of the start.
    begun = 1 + int((time.monotonic() - started) / 3)
    assert len(elections) <= 2 + 3 * (3 + begun), f"{asked} were asked for"
    assert asked > len(elections)


def run_of(node):
    """Any answer to OBSERVE begins with it."""
    return struct.unpack(">Q", ask(node, "127.0.0.1", wire.observe(b"bullring"))[18:26])[0]


def say_hello(node, member, incarnation, number):
    """A session in a member's name, which says nothing but HELLO."""
    session = connection(node, "127.0.0.1")
    session.sendall(wire.hello(b"bullring", [1, 2, 3], member.id, incarnation, (1 << 40) + number))
    answer = session.recv(65536)
    assert answer[4] == wire.HELLO_ACK
    return session


def test_silent_sessions_in_the_members_names_make_nobody_deaf(new_cluster):
    """More of them than the members have themselves; and after their end there is an election."""
    cluster, leader = new_cluster(3).settled()
    for member in cluster:
        incarnation = run_of(member)
        with contextlib.ExitStack() as silent:
            for node in cluster:
                if node is not member:
                    for number in range(6):
                        silent.enter_context(say_hello(node, member, incarnation, number))
        assert_unchanged(cluster, leader, 0.3, f"silent sessions of node {member.id} end")
    cluster.wait_elected(leader.kill())


def test_a_flood_of_connections_costs_no_leadership(new_cluster):
    """As many as this machine makes, ended by FIN and by RST, some with the beginning of a frame
    or a half-close.
    """
    cluster, leader = new_cluster(3).settled()
    before = leader.view
    until = time.monotonic() + 3
    count = 0
    while time.monotonic() < until:
        for node in cluster:
            with connection(node, f"127.0.{count % 5}.{2 + count % 250}") as stranger:
                if count % 3 == 0:
                    linger_not = struct.pack("ii", 1, 0)
                    stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
                if count % 4 < 2:
                    stranger.send(wire.observe(b"bullring")[: 1 + count % 26])
                if count % 5 == 0:
                    with contextlib.suppress(OSError):
                        stranger.shutdown(socket.SHUT_WR)
            count += 1
        cluster.poll()
        assert leader.leads and all(node.view == before for node in cluster), f"{count} connections"
    assert count > 100


def test_who_says_its_words_one_byte_at_a_time_is_not_listened_to_for_long(new_cluster):
    """From more connections than there is room for; meanwhile a member restarts."""
    cluster, leader = new_cluster(3).settled()
    words = wire.hello(b"bullring", [1, 2, 3], 1, 7)
    node = cluster[2]
    slow_ones = {connection(node, f"127.0.0.{2 + n}"): 0 for n in range(100)}
    began = time.monotonic()

    def drip():
        """Whether any of them is still listened to; none says all of its words."""
        due = min(int((time.monotonic() - began) / 0.02), len(words) - 1)
        for slow, said in list(slow_ones.items()):
            try:
                slow.setblocking(False)
                slow_ones[slow] += slow.send(words[said : min(said + 1, due)])
                ended = slow.recv(64) == b""
            except BlockingIOError:
                ended = False
            except OSError:
                ended = True
            if ended:
                slow.close()
                del slow_ones[slow]
        return bool(slow_ones)

    cluster[1].kill()
    cluster[1].restart()
    cluster.wait_for(lambda: not drip(), "none of them is open any more")
    assert cluster.wait_settled() is leader


def hold_descriptors(node, held):
    """As many as a node takes: watchers at its port, and clients of `lead`."""
    for _ in range(150):
        watcher = held.enter_context(connection(node, "127.0.0.2"))
        with contextlib.suppress(OSError):  # it has been closed: nothing is left for it
            watcher.sendall(wire.observe(b"bullring", wire.WATCH))
        client = held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        client.setblocking(False)
        with contextlib.suppress(OSError):
            client.connect(str(node.data_dir / "lead.sock"))


def test_a_node_without_free_descriptors_does_what_it_must(new_cluster):
    cluster = new_cluster(3)
    hooks = pathlib.Path(cluster.directory) / "hooks"
    health = ["--health-cmd", "true", "--health-interval", "50ms", "--health-failures", "2"]
    for node in cluster:
        node.prefix = ["prlimit", "--nofile=96:96"]
        node.flags = [*health, "--on-deposed", f"sleep 0.2; echo $BULLRING_NODE_ID >>{hooks}"]
    leader = cluster.start().wait_settled()
    with contextlib.ExitStack() as held:
        for node in cluster:
            hold_descriptors(node, held)
        used = {node.id: cpu_seconds(node) for node in cluster}
        assert_unchanged(cluster, leader, 2.0, "no descriptors are left")
        for node in cluster:
            assert cpu_seconds(node) - used[node.id] < 1.0, "it spins"
        # A restart needs descriptors at the other members, and so do a handover and its hook.
        other = next(node for node in cluster if node is not leader)
        other.crash()
        other.start()
        cluster.wait_settled()
        assert cluster.resign().returncode == 0
        cluster.wait_for(lambda: hooks.exists() and hooks.read_text(), "on-deposed has ended")
    assert hooks.read_text().split() == [str(leader.id)]
