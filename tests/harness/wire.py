"""Frames of the peer port as bytes (protocol/README.md, section 4), right ones and wrong ones."""

import socket
import struct

HEAD_VERSION = 4
KINDS = [*range(1, 18), *range(64, 71)]
HELLO, HELLO_ACK, REFUSED, HANDED_OVER = 1, 2, 3, 12
OBSERVE, STATE, CHANGE, RESIGN_RESULT, OBSERVER_REFUSED = 64, 65, 66, 67, 68
DRILL, DRILL_RESULT = 69, 70
MOURN, DEAD = 16, 17
STATUS, WATCH, RESIGN = 1, 2, 3
PERMISSION, CRASH, HANG, RESIGNATION, CUT = 1, 2, 3, 4, 5


def _table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


_TABLE = list(_table())


def crc32c(data):
    rest = 0xFFFFFFFF
    for byte in data:
        rest = rest >> 8 ^ _TABLE[(rest ^ byte) & 0xFF]
    return rest ^ 0xFFFFFFFF


def frame(kind, body=b"\x01", sender=1, incarnation=1, version=HEAD_VERSION):
    """A frame whose head is right, whatever its body is."""
    head = struct.pack(">IBB", 22 + len(body), kind, version)
    rest = struct.pack(">QQ", sender, incarnation) + body
    return head + struct.pack(">I", crc32c(head + rest)) + rest


def text(data):
    return struct.pack("<H", len(data)) + data


def observe(cluster, what=STATUS, resign_to=0):
    body = b"\x01" + text(cluster) + struct.pack("<BQ", what, resign_to)
    return frame(OBSERVE, body, sender=0, incarnation=0)


def drill(cluster, what=PERMISSION, epoch=0):
    body = b"\x01" + text(cluster) + struct.pack("<BQ", what, epoch)
    return frame(DRILL, body, sender=0, incarnation=0)


def hello(cluster, members, sender, incarnation, session=1 << 40, versions=(1, 1), more=b""):
    """A member's HELLO, as one of the profile `lan` says it; `more`: what it knows besides."""
    body = struct.pack("<BHH", 1, *versions) + text(cluster) + struct.pack("<B", len(members))
    body += b"".join(struct.pack("<Q", member) for member in members)
    majority, bully, rho_ppm, priority, lease, heartbeat = 1, 1, 1000, 0, 500_000_000, 50_000_000
    body += struct.pack("<BBI", majority, bully, rho_ppm)
    body += struct.pack("<QQQiqq", sender, incarnation, session, priority, lease, heartbeat)
    advertised, local, remote, fast_release_off, commitment, flags = b"", b"", b"", 1, bytes(32), 0
    body += text(advertised) + text(local) + text(remote)
    body += struct.pack("<B", fast_release_off) + commitment + struct.pack("<B", flags)
    return frame(HELLO, body + more, sender, incarnation)


def spoken(ack_body):
    """The version that a HELLO_ACK says, behind what every version of it has."""
    # The mark, id, incarnation, priority and lease; then two texts.
    at = 1 + 8 + 8 + 4 + 8
    for _ in range(2):
        at += 2 + struct.unpack_from("<H", ack_body, at)[0]
    # max_seen, clock epoch, promised_max, lease-max, flags; the recall: answer, epoch, time, flags.
    at += 8 * 4 + 1 + 1 + 8 + 8 + 1
    if at == len(ack_body):
        return 1
    (version,) = struct.unpack_from("<H", ack_body, at)
    # Since version 3: no list of members that has been changed, and none that was shown. Since 4:
    # no id of the cluster yet. Since 5: none that was given.
    behind = b"\0\0" * (version >= 3) + bytes(8) * (version >= 4) + b"\0" * (version >= 5)
    assert ack_body[at + 2 :] == behind, ack_body
    return version


def texts(body):
    """Those of a body that has nothing else, as REFUSED."""
    at, found = 1, []
    while at < len(body):
        size = struct.unpack_from("<H", body, at)[0]
        found.append(body[at + 2 : at + 2 + size].decode())
        at += 2 + size
    return found


def handed_over(epoch, sender, incarnation):
    """A leader's RESIGN."""
    return frame(HANDED_OVER, struct.pack("<BQQ", 1, epoch, 0), sender, incarnation)


def frames(data):
    """The whole frames that these bytes begin with."""
    while len(data) >= 4 and len(data) >= (end := 4 + struct.unpack(">I", data[:4])[0]):
        yield data[:end]
        data = data[end:]


def connected(node):
    """A connection to a node's port."""
    return socket.create_connection((node.host, node.port), 5)


def receive_all(connection):
    """The bytes until the end, which it may be a while."""
    data = b""
    try:
        while part := connection.recv(65536):
            data += part
    except ConnectionError:
        pass
    return data


def parse(data):
    """The kind and the body of the one frame that `data` is; an assertion fails if it is none."""
    length, kind, version, checksum = struct.unpack(">IBBI", data[:10])
    assert length + 4 == len(data), (length, len(data))
    assert version == HEAD_VERSION, version
    assert checksum == crc32c(data[:6] + data[10:]), hex(checksum)
    return kind, data[26:]
