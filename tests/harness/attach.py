"""A client of attach.sock, made from bullring-attach(7) alone: nothing of the Python package."""

import array
import json
import mmap
import socket
import struct
import time

from harness.waiting import DEADLINE, wait_until


def boottime_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Client:
    """A connection of this process."""

    def __init__(self, node):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(node.data_dir / "attach.sock"))
        self.socket.settimeout(DEADLINE)
        data, ancillary, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(4))
        self.rest = data
        self.page = None
        for _, _, payload in ancillary:
            (descriptor,) = array.array("i", payload[:4])
            self.page = mmap.mmap(descriptor, 64, prot=mmap.PROT_READ)
            self.descriptor = descriptor
        self.greeting = self.line()

    def say(self, **line):
        self.socket.sendall(json.dumps(line).encode() + b"\n")

    def campaign(self, **more):
        self.say(op="campaign", **more)
        return self

    def line(self):
        """The next one; None when the connection has ended."""
        while b"\n" not in self.rest:
            data = self.socket.recv(4096)
            if not data:
                return None
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def wait_for(self, event):
        """The next line of that kind; those before it are passed over."""
        while (line := self.line()) is not None:
            if line["event"] == event:
                return line
        raise AssertionError(f"the connection has ended before '{event}'")

    def shown(self):
        """(epoch, valid_until_ns, stop_by_ns)"""
        while True:
            sequence, *shown = struct.unpack("=QQqq", self.page[:32])
            if sequence % 2 == 0 and self.page[:8] == struct.pack("=Q", sequence):
                return tuple(shown)

    def leads(self, epoch):
        """The instant at which it does, 0 if it does not: the page is read before the clock."""
        shown, valid_until, _ = self.shown()
        at = boottime_ns()
        return at if shown == epoch and at < valid_until else 0

    def wait_empty(self):
        wait_until(lambda: self.shown()[0] == 0, "an empty page")

    def close(self):
        self.socket.close()
