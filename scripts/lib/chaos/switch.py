"""A switch in user space: Ethernet frames between TAP devices, and what may happen to them.

It runs in a process of its own and does what it is told over a socket, one JSON object a datagram.
A rule has an ID, a kind, and the ordered pairs of ports to which it applies; it counts what it did.

    cut        drops all; with `on_ms` and `off_ms` it flaps
    loss       drops a frame with probability `chance`
    delay      holds each for `ms`, and up to `jitter_ms` more; the order stays
    duplicate  delivers a frame twice with probability `chance`
    reorder    holds a frame for `ms` with probability `chance`; counted when another overtakes it
    look       counts the frames that have `text` in them

It also answers for the name server: all names n1, n2, … that it is told, or nothing (`silent`), or
that it can't (`failing`).
"""

import heapq
import json
import os
import random
import selectors
import socket
import struct
import time

SILENT, FAILING = "silent", "failing"


class Rule:
    def __init__(self, words):
        self.kind = words["kind"]
        self.pairs = [tuple(pair) for pair in words["pairs"]]
        self.chance = words.get("chance", 1.0)
        self.seconds = words.get("ms", 0) / 1000
        self.jitter = words.get("jitter_ms", 0) / 1000
        self.on = words.get("on_ms", 1) / 1000
        self.off = words.get("off_ms", 0) / 1000
        self.text = words.get("text", "").encode()
        self.since = time.monotonic()
        self.hits = 0
        self.held = {}

    def flapped_on(self):
        return not self.off or (time.monotonic() - self.since) % (self.on + self.off) < self.on


class Switch:
    """Ports by number: descriptors of TAP devices; the MAC address of port n ends with n."""

    def __init__(self, ports, names, dns, control, seed):
        self.ports = ports
        self.names = names
        self.dns = dns
        self.control = control
        self.draw = random.Random(seed)
        self.rules = {}
        self.by_pair = {}
        self.queue = []
        self.serial = 0
        self.last_due = {}
        self.dns_mode = None
        self.dns_hits = 0

    def run(self):
        waiting = selectors.DefaultSelector()
        for number, port in self.ports.items():
            waiting.register(port, selectors.EVENT_READ, number)
        waiting.register(self.dns, selectors.EVENT_READ, "dns")
        waiting.register(self.control, selectors.EVENT_READ, "control")
        while True:
            timeout = max(0.0, self.queue[0][0] - time.monotonic()) if self.queue else None
            for key, _ in waiting.select(timeout):
                if key.data == "control":
                    if not self.obey():
                        return
                elif key.data == "dns":
                    self.answer()
                else:
                    self.take(key.data, key.fileobj)
            now = time.monotonic()
            while self.queue and self.queue[0][0] <= now:
                _, _, target, frame = heapq.heappop(self.queue)
                self.deliver(target, frame)

    def take(self, source, port):
        for _ in range(64):
            try:
                frame = os.read(port, 65536)
            except BlockingIOError:
                return
            if frame[0] & 1:
                for target in self.ports:
                    if target != source:
                        self.forward(source, target, frame)
            elif frame[5] in self.ports and frame[5] != source:
                self.forward(source, frame[5], frame)

    def forward(self, source, target, frame):
        pair = (source, target)
        copies, wait = 1, 0.0
        ordered, overtaken = True, None
        for rule in self.by_pair.get(pair, ()):
            if rule.kind == "cut":
                if rule.flapped_on():
                    rule.hits += 1
                    return
            elif rule.kind == "delay":
                rule.hits += 1
                wait += rule.seconds + self.draw.random() * rule.jitter
            elif rule.kind == "look":
                rule.hits += rule.text in frame
            elif rule.kind == "reorder" and rule.held.get(pair):
                overtaken = rule
            elif self.draw.random() < rule.chance:
                if rule.kind == "loss":
                    rule.hits += 1
                    return
                if rule.kind == "duplicate":
                    rule.hits += 1
                    copies = 2
                if rule.kind == "reorder":
                    rule.held[pair] = True
                    wait += rule.seconds
                    ordered = False
        if overtaken is not None:
            overtaken.held[pair] = False
            overtaken.hits += 1
        for _ in range(copies):
            self.send_after(wait, ordered, pair, frame)

    def send_after(self, wait, ordered, pair, frame):
        due = time.monotonic() + wait
        if ordered:
            due = max(due, self.last_due.get(pair, 0.0))
            if wait == 0.0 and due <= time.monotonic():
                self.deliver(pair[1], frame)
                return
            self.last_due[pair] = due
        self.serial += 1
        heapq.heappush(self.queue, (due, self.serial, pair[1], frame))

    def deliver(self, target, frame):
        try:
            os.write(self.ports[target], frame)
        except OSError:  # its queue is full: a frame is lost, as in any network
            pass

    # The orders.

    def obey(self):
        """False at the end."""
        words = self.control.recv(65536)
        if not words:
            return False
        words = json.loads(words)
        answer = getattr(self, f"do_{words.pop('do')}")(**words)
        self.control.send(json.dumps(answer).encode())
        return True

    def do_add(self, id, **words):
        rule = self.rules[id] = Rule(words)
        for pair in rule.pairs:
            self.by_pair.setdefault(pair, []).append(rule)

    def do_remove(self, id):
        """How often it struck."""
        rule = self.rules.pop(id)
        for pair in rule.pairs:
            self.by_pair[pair].remove(rule)
        return rule.hits

    def do_heal(self):
        self.rules.clear()
        self.by_pair.clear()
        self.do_names(None)

    def do_names(self, mode):
        """How many questions were not answered in the mode until now."""
        hits, self.dns_hits, self.dns_mode = self.dns_hits, 0, mode
        return hits

    # The name server.

    def answer(self):
        try:
            question, caller = self.dns.recvfrom(4096)
        except OSError:
            return
        if self.dns_mode is not None:
            self.dns_hits += 1
            if self.dns_mode == SILENT:
                return
        reply = reply_to(question, {} if self.dns_mode else self.names, self.dns_mode == FAILING)
        if reply is None:
            return
        try:
            self.dns.sendto(reply, caller)
        except OSError:  # the caller can't be reached now
            pass


def reply_to(question, addresses, failing=False):
    """The answer to a question of the DNS; None to what is none. `addresses`: by name, each one
    address or a list of them."""
    if len(question) < 17:
        return None
    labels, at = [], 12
    while at < len(question) and question[at]:
        labels.append(question[at + 1 : at + 1 + question[at]].decode("ascii", "replace"))
        at += 1 + question[at]
    end = at + 5
    kind = struct.unpack_from("!H", question, at + 1)[0] if end <= len(question) else 0
    found = addresses.get(".".join(labels).lower(), [])
    found = [found] if isinstance(found, str) else found
    status = 2 if failing else 0 if found else 3  # SERVFAIL, NOERROR, NXDOMAIN
    records = [
        struct.pack("!HHHIH", 0xC00C, 1, 1, 0, 4) + socket.inet_aton(address) for address in found
    ]
    answers = records if kind == 1 and not failing else []
    head = question[:2] + struct.pack("!HHHHH", 0x8180 | status, 1, len(answers), 0, 0)
    return head + question[12:end] + b"".join(answers)
