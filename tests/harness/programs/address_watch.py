#!/usr/bin/env python3
"""Looks a thousand times a second which hosts have an address, and which one answers for it.

Started in a network namespace of its own, the fourth host on the network. It asks the kernel of
each of the others' namespaces (rtnetlink), pings the address, and asks for it by ARP. What it finds
goes to stdout, a JSON line for each change, with the clock of the event streams:

    {"ns": …, "held": [2]}      whose interface has it
    {"ns": …, "overlap": [2, 3]}  two had it at one time: never right
    {"ns": …, "echo": 2}        who answers a ping; nodes are known by their TTL, 100 + ID
    {"ns": …, "arp": "02:…"}    who has answered for it by ARP (IPv4)
    {"ns": …, "late_ms": 7}     it has not looked for that long

Usage: address_watch.py ADDRESS ID=PATH…     PATH: of a network namespace. Ends with its stdin.
"""

import json
import os
import select
import socket
import struct
import sys
import time

from harness.system_calls import inside

INTERVAL_S = 0.001
LATE_MS = 5
DEVICE = "eth0"
TTL_BASE = 100

_RTM_GETADDR, _NLMSG_DONE = 22, 3
_NLM_F_REQUEST, _NLM_F_DUMP = 1, 0x300
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_ETH_P_ARP = 0x0806


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def say(**what):
    sys.stdout.write(json.dumps({"ns": now_ns(), **what}) + "\n")
    sys.stdout.flush()


class Table:
    """The addresses of one namespace. A socket stays in the namespace in which it was made."""

    def __init__(self, path, family, address):
        with inside(path):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        body = struct.pack("=BBBBI", family, 0, 0, 0, 0)
        flags = _NLM_F_REQUEST | _NLM_F_DUMP
        self._question = struct.pack("=IHHII", 16 + len(body), _RTM_GETADDR, flags, 1, 0) + body
        kind = _IFA_LOCAL if family == socket.AF_INET else _IFA_ADDRESS
        self._attribute = struct.pack("=HH", 4 + len(address), kind) + address

    def has_address(self):
        self._socket.send(self._question)
        found = False
        while True:
            answer = self._socket.recv(1 << 16)
            found = found or self._attribute in answer
            offset = 0
            while offset + 16 <= len(answer):
                length, kind = struct.unpack_from("=IH", answer, offset)
                if kind == _NLMSG_DONE:
                    return found
                offset += (length + 3) & ~3


class Ping:
    def __init__(self, family, text):
        self._target = (text, 0)
        self._v6 = family == socket.AF_INET6
        kind = socket.getprotobyname("ipv6-icmp" if self._v6 else "icmp")
        self.socket = socket.socket(family, socket.SOCK_RAW | socket.SOCK_NONBLOCK, kind)
        if self._v6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        self._sequence = 0

    def send(self):
        self._sequence = (self._sequence + 1) & 0xFFFF
        kind = 128 if self._v6 else 8
        head = [kind, 0, 0, os.getpid() & 0xFFFF, self._sequence]
        if not self._v6:  # with IPv6 the kernel does it
            total = sum(struct.unpack("!4H", struct.pack("!BBHHH", *head)))
            head[2] = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
        try:
            self.socket.sendto(struct.pack("!BBHHH", *head), self._target)
        except OSError:
            pass  # nobody has it now

    def answerers(self):
        """The nodes whose answers have come since."""
        while True:
            try:
                data, ancillary, _, _ = self.socket.recvmsg(2048, 64)
            except OSError:
                return
            if self._v6:
                ttl = next((struct.unpack("i", value)[0] for _, _, value in ancillary), 0)
                is_reply = data[0] == 129
            else:
                ttl = data[8]
                is_reply = data[(data[0] & 15) * 4] == 0
            if is_reply:
                yield ttl - TTL_BASE


class Arp:
    def __init__(self, address):
        self._address = address
        self.socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.htons(_ETH_P_ARP)
        )
        self.socket.bind((DEVICE, _ETH_P_ARP))
        mac = self.socket.getsockname()[4]
        # From no address, so that nobody's table is changed by it.
        self._question = (
            b"\xff" * 6
            + mac
            + struct.pack("!HHHBBH", _ETH_P_ARP, 1, 0x0800, 6, 4, 1)
            + mac
            + bytes(4)
            + bytes(6)
            + address
        )

    def send(self):
        try:
            self.socket.send(self._question)
        except OSError:
            pass  # the interface is full

    def answerers(self):
        while True:
            try:
                frame = self.socket.recv(128)
            except OSError:
                return
            if frame[20:22] == b"\x00\x02" and frame[28:32] == self._address:
                yield frame[22:28].hex(":")


def look(tables):
    """(who has it, who had it at one time): one host after the other is asked, so a second look has
    to find the first one still there when another one has been found."""
    held = [node for node, table in tables.items() if table.has_address()]
    if len(held) < 2:
        return held, []
    again = [node for node in held if tables[node].has_address()]
    return held, again if held[0] in again else []


def main():
    text, *spaces = sys.argv[1:]
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    address = socket.inet_pton(family, text)
    tables = {
        int(node): Table(path, family, address)
        for node, path in (space.split("=", 1) for space in spaces)
    }
    probes = {"echo": Ping(family, text)}
    if family == socket.AF_INET:
        probes["arp"] = Arp(address)
    last = {"held": None}
    looked = time.monotonic()
    while not select.select([sys.stdin], [], [], max(0, looked + INTERVAL_S - time.monotonic()))[0]:
        began = time.monotonic()
        if (began - looked) * 1000 > LATE_MS:
            say(late_ms=round((began - looked) * 1000, 1))
        looked = began
        for kind, probe in probes.items():
            for answerer in probe.answerers():
                if last.get(kind) != answerer:
                    last[kind] = answerer
                    say(**{kind: answerer})
            probe.send()
        held, overlap = look(tables)
        if overlap:
            say(overlap=overlap)
        if held != last["held"]:
            last["held"] = held
            say(held=held)


if __name__ == "__main__":
    main()
