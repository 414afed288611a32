"""What those who are no members can cost a node: lines of log, elections, descriptors.

They come from 127.0.0.2 and beyond; the members are on 127.0.0.1.
"""

import contextlib
import json
import os
import pathlib
import socket
import time

import bullring_wire as wire
from clusters import assert_unchanged

# What LogLimit allows in the ten seconds that a test is shorter than, for two kinds of lines, and
# what a node says of itself.
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
            ask(node, source, wire.frame(turn + 1, b"\x01\x1b\xff" + name, sender=turn))
            ask(node, source, name * 10)
        cluster.poll()


def log_of(node):
    text = node.current.log_path.read_bytes().decode()  # fails where it is no UTF-8
    assert not [c for c in text if ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160]
    return text.splitlines()


def test_a_flood_of_strangers_is_some_lines_of_log(new_cluster):
    cluster = new_cluster(3, name="secret").start()
    leader = cluster.wait_settled()
    flood(cluster, leader)
    assert len(log_of(leader)) < LINES_MAX
    assert leader.leads


def test_and_each_of_them_is_json_where_that_is_asked_for(new_cluster):
    cluster = new_cluster(3, "ring", name="secret", flags=["--log-format", "json"]).start()
    leader = cluster.wait_settled()
    before = len(log_of(leader))
    flood(cluster, leader)
    lines = [json.loads(line) for line in log_of(leader)]
    assert before < len(lines) < LINES_MAX


def test_a_flood_of_resignations_is_some_elections(new_cluster):
    cluster = new_cluster(3).start()
    cluster.wait_settled()
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
        node.flags = [*health, "--on-deposed", f"sleep 0.2; echo $BULLRING_ID >>{hooks}"]
    cluster.start()
    leader = cluster.wait_settled()
    with contextlib.ExitStack() as held:
        for node in cluster:
            hold_descriptors(node, held)
        used = {node.id: cpu_seconds(node) for node in cluster}
        assert_unchanged(cluster, leader, 2.0, "no descriptors are left")
        for node in cluster:
            assert cpu_seconds(node) - used[node.id] < 1.0, "it spins"
        # A restart needs descriptors at the other members, and so do a handover and its hook.
        other = next(node for node in cluster if node is not leader)
        other.kill()
        other.wait_exit()
        other.start()
        cluster.wait_settled()
        assert cluster.resign().returncode == 0
        cluster.wait_for(lambda: hooks.exists() and hooks.read_text(), "on-deposed has ended")
    assert hooks.read_text().split() == [str(leader.id)]
