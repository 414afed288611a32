"""Garbage on every port while the cluster runs: nothing changes, nothing leaks."""

import contextlib
import os
import socket
import struct

from harness import wire
import pytest
from clusters import ON_USUAL, assert_unchanged, rounds


pytestmark = pytest.mark.sanitize


def open_files(node):
    return len(os.listdir(f"/proc/{node.current.process.pid}/fd"))


def offerings(draw):
    yield b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    yield b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + draw.randbytes(200)
    yield b"\x00" * 64
    yield b"\xff" * 64
    yield struct.pack(">I", 0)
    yield struct.pack(">I", 0xFFFFFFFF)
    yield struct.pack(">I", 0x7FFFFFFF) + b"x" * 1000
    # Right heads, so that each reaches the decoder of its kind.
    for kind in [0, *wire.KINDS, 255]:
        yield wire.frame(kind, b"")
        for size in (0, 1, draw.randrange(2, 40), draw.randrange(40, 300)):
            yield wire.frame(kind, b"\x01" + draw.randbytes(size), sender=draw.randrange(4))
        yield wire.frame(kind, b"\x01" + bytes(draw.randrange(300)))
        yield wire.frame(kind, version=draw.choice([0, 1, 2, 255]))
    for _ in range(60):
        yield draw.randbytes(draw.randrange(1, 3000))
    yield draw.randbytes(1 << 20)


@ON_USUAL
def test_garbage_on_every_port(new_cluster, draw, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    before = leader.view
    files = {node.id: open_files(node) for node in cluster}
    half_open = []
    for _ in rounds(1, 4):
        for node in cluster:
            for data in offerings(draw):
                connection = socket.create_connection((node.host, node.port), 5)
                _offer(connection, data)
                if draw.random() < 0.1:
                    half_open.append(connection)
                else:
                    connection.close()
                cluster.poll()
    assert_unchanged(cluster, leader, 1.0, "garbage on every port")
    for connection in half_open:
        connection.close()
    cluster.wait_for(
        lambda: all(open_files(node) <= files[node.id] + 3 for node in cluster),
        "no descriptor is left over",
    )
    assert cluster.wait_settled().view == before


def _offer(connection, data):
    try:
        connection.sendall(data)
    except OSError:
        pass  # The node closed it in the middle: its right.


def answer_to(node, data):
    with socket.create_connection((node.host, node.port), 5) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return wire.receive_all(connection)


def test_a_frame_is_answered_and_with_any_one_bit_flipped_it_is_not(new_cluster):
    """Also shows that the frames of these tests are those of the program."""
    cluster, leader = new_cluster(3).settled()
    right = wire.observe(b"bullring")
    kind, body = wire.parse(answer_to(leader, right))
    assert kind == wire.STATE
    assert b'"cluster":"bullring"' in body
    for bit in range(8 * len(right)):
        flipped = bytearray(right)
        flipped[bit // 8] ^= 1 << bit % 8
        assert answer_to(leader, flipped) == b"", f"bit {bit}"
        cluster.poll()
    assert leader.leads


@ON_USUAL
def test_silent_connections_do_not_keep_the_members_out(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    with contextlib.ExitStack() as silent:
        for node in cluster:
            for _ in range(300):
                address = (node.host, node.port)
                silent.enter_context(socket.create_connection(address, 5))
        assert_unchanged(cluster, leader, 0.5, "silent connections")
        cluster.wait_elected(leader.kill())
        leader.restart()
        cluster.wait_settled()
