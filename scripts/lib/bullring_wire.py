"""Frames of the peer port as bytes (protocol/README.md, section 4), right ones and wrong ones."""

import struct

VERSION = 3
KINDS = [*range(1, 16), *range(64, 71)]
OBSERVE, STATE, CHANGE, RESIGN_RESULT, OBSERVER_REFUSED = 64, 65, 66, 67, 68
DRILL, DRILL_RESULT = 69, 70
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


def frame(kind, body=b"\x01", sender=1, incarnation=1, version=VERSION):
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


def receive_all(connection):
    """What comes until the end, which it may be a while."""
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
    assert version == VERSION, version
    assert checksum == crc32c(data[:6] + data[10:]), hex(checksum)
    return kind, data[26:]
