"""The one observer: it reads the lines of all systems from pipes and stamps them with one clock.

A line's instant is that at which it is read here, for every system alike: what a system needs to
wake its client, and the client to write its line, is part of what is measured.
"""

import collections
import os
import selectors
import time

from harness.events import now_ns

LEADS = "leads"
FOLLOWS = "follows"
WAITS = "waits"  # A client is in the queue of candidates.
SERVES = "serves"  # A service that has a leader of its own has one again.
GONE = "gone"  # The process that claimed to lead has ended.

Said = collections.namedtuple("Said", "at_ns member what")


class ObserverError(Exception):
    """An awaited line did not come."""


class _Source:
    def __init__(self, file, member, parse):
        self.file = file
        self.member = member
        self.parse = parse
        self.rest = b""


class Observer:
    """The members that claim to lead, by the lines of the systems themselves."""

    def __init__(self):
        self._selector = selectors.DefaultSelector()
        self.said = []
        self.waiting = set()
        self._leading = {}  # By member: the source that said so.

    @property
    def leading(self):
        return set(self._leading)

    def watch(self, file, member, parse):
        """parse(line) gives what a line says, as pairs of what and member; most say nothing."""
        os.set_blocking(file.fileno(), False)
        self._selector.register(file, selectors.EVENT_READ, _Source(file, member, parse))

    def set_leader(self, member):
        """For a system whose first leader is configured: nothing says so."""
        self._leading[member] = None

    def forget(self, member):
        """Its process was killed."""
        self._leading.pop(member, None)
        self.waiting.discard(member)

    def poll(self, timeout=0.0):
        for key, _ in self._selector.select(timeout):
            source = key.data
            chunk = os.read(key.fd, 1 << 16)
            at_ns = now_ns()
            if not chunk:
                self._close(source, at_ns)
                continue
            *lines, source.rest = (source.rest + chunk).split(b"\n")
            for line in lines:
                for what, member in source.parse(line.decode(errors="replace")):
                    self._take(source, at_ns, member, what)

    def _take(self, source, at_ns, member, what):
        if what == LEADS:
            self.waiting.discard(member)
            if member in self._leading:
                self._leading[member] = source
                return
            self._leading[member] = source
        elif what == FOLLOWS:
            if self._leading.pop(member, self) is self:
                return
        elif what == WAITS and member not in self._leading:
            self.waiting.add(member)
        self.said.append(Said(at_ns, member, what))

    def _close(self, source, at_ns):
        self._selector.unregister(source.file)
        source.file.close()
        self.waiting.discard(source.member)
        if self._leading.get(source.member, self) is source:
            del self._leading[source.member]
            self.said.append(Said(at_ns, source.member, GONE))

    def wait(self, predicate, what, seconds):
        """Reads until predicate() is true and returns its value."""
        limit = time.monotonic() + seconds
        while not (value := predicate()):
            left = limit - time.monotonic()
            if left <= 0:
                raise ObserverError(f"waited {seconds:.0f} s for: {what}; {self.leading} lead")
            self.poll(min(left, 0.02))
        return value

    def wait_said(self, what, after_ns, seconds, but=None):
        """The first time this was said after an instant, by any but one member."""

        def found():
            for said in reversed(self.said):
                if said.at_ns <= after_ns:
                    break
                matches.append(said)
            while matches:
                said = matches.pop()
                if said.what == what and said.member != but:
                    return said
            return None

        matches = []
        return self.wait(found, f"{what} after a fault", seconds)

    def pause(self, seconds):
        """Reads for so long."""
        limit = time.monotonic() + seconds
        while (left := limit - time.monotonic()) > 0:
            self.poll(left)

    def close(self):
        for key in list(self._selector.get_map().values()):
            key.data.file.close()
        self._selector.close()
