"""A connection to the node on this machine (bullring-attach(7)): lines in both directions, and the
page by which a process knows until when it leads."""

from __future__ import annotations

import array
import errno
import json
import mmap
import os
import select
import socket
import struct
import threading
import time
import weakref
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

SOCKET = "attach.sock"
PAGE_BYTES = 64
LINE_BYTES_MAX = 4096
ADDRESS_BYTES = 108  # with a zero at its end
WAIT_S_MAX = 3600.0  # poll(2) has room for 24 days
SYSTEM_STATE = Path("/var/lib/bullring")

Line = Dict[str, Any]


class BullringError(Exception):
    """All that this package raises of its own, but for TimeoutError and wrong arguments."""


class NotAvailable(BullringError):
    """There is no node to ask: its socket is missing, or nobody listens on it."""


class Lost(BullringError):
    """The leadership has ended, or is about to. `reason` as `deposed` in bullring-events(5);
    "disconnected": the node has ended; "forked": this process is a child of the leader; empty: the
    node has not said it yet."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(f"the leadership has ended{reason and ': '}{reason}")
        self.reason = reason

    def __reduce__(self) -> tuple[type[Lost], tuple[str]]:
        return Lost, (self.reason,)


class Shown(NamedTuple):
    """The words of a page; times by CLOCK_BOOTTIME."""

    epoch: int
    valid_until_ns: int
    stop_by_ns: int


NOTHING = Shown(0, 0, 0)


def now_ns() -> int:
    """By the clock by which leases are judged, which counts while the machine is suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Deadline:
    """So many seconds from now; None: never."""

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float | None:
        return None if self._at is None else max(self._at - time.monotonic(), 0.0)


class Page:
    """The node writes it at each renewal; reading it asks nobody."""

    LOOKS_MAX = 1000

    def __init__(self, descriptor: int) -> None:
        self._bytes = mmap.mmap(descriptor, PAGE_BYTES, prot=mmap.PROT_READ)

    def read(self) -> Shown:
        """Nothing if the node has stopped in the middle of a change."""
        before = self._bytes[:32]
        for _ in range(self.LOOKS_MAX):
            again = self._bytes[:32]
            sequence, epoch, valid_until, stop_by = struct.unpack("=QQqq", again)
            if again == before and sequence % 2 == 0:
                return Shown(epoch, valid_until, stop_by)
            before = again
        return NOTHING


def socket_path(where: str | os.PathLike[str] | None, cluster: str, node: int | None) -> Path:
    """Of the node's data directory, or the socket itself, or where a node of this user has it."""
    if where is None:
        where = os.environ.get("BULLRING_DATA_DIR") or None
    if where is not None:
        path = Path(where)
        return path / SOCKET if path.is_dir() else path
    wanted = f"node-{node}" if node is not None else "node-*"
    own = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    places = [own / "bullring" / cluster, SYSTEM_STATE / cluster]
    found = [path for place in places for path in sorted(place.glob(f"{wanted}/{SOCKET}"))]
    if node is None and os.access(SYSTEM_STATE / cluster / SOCKET, os.F_OK):  # of a unit of systemd
        found.append(SYSTEM_STATE / cluster / SOCKET)
    if len(found) == 1:
        return found[0]
    if found:
        raise NotAvailable(
            "there are several nodes, so name the data directory of one: "
            + ", ".join(str(path.parent) for path in found)
        )
    one = "a node" if node is None else f"node {node}"
    raise NotAvailable(
        f"no {SOCKET} of {one} of cluster {cluster!r} is to be seen in "
        f"{' or '.join(map(str, places))}; start one, or name its data directory"
    )


REMEDIES = {
    errno.ENOENT: "; does a node run there, with --attach on?",
    errno.ENOTDIR: "; name its data directory",
    errno.ECONNREFUSED: "; it has ended",
    errno.EACCES: "; this user is neither its owner nor of its --attach-group",
}


class Connection:
    """Each call by any thread. A child of this process has no part in it."""

    _all: weakref.WeakSet[Connection] = weakref.WeakSet()

    def __init__(self, path: Path) -> None:
        """Does not wait. The node's greeting comes as the first line."""
        self.path = path
        self.page: Page | None = None
        self._pid = os.getpid()
        self._rest = b""
        self._reading = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        Connection._all.add(self)
        try:
            self._socket.setblocking(False)
            self._connect()
        except OSError as error:
            self._socket.close()
            why = f"{error.strerror}{REMEDIES.get(error.errno or 0, '')}"
            raise NotAvailable(f"no node answers on {path}: {why}") from error
        except BaseException:
            self._socket.close()
            raise

    def _connect(self) -> None:
        if len(os.fsencode(self.path)) < ADDRESS_BYTES:
            return self._socket.connect(os.fspath(self.path))
        directory = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._socket.connect(f"/proc/self/fd/{directory}/{self.path.name}")
        finally:
            os.close(directory)

    @property
    def is_ours(self) -> bool:
        """False in a child of the process that has made it."""
        return os.getpid() == self._pid

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, **line: Any) -> None:
        """Does not wait, not even for a node that does not read. Raises Lost in a child of the
        process, and OSError when the node is gone."""
        if not self.is_ours:
            raise Lost("forked")
        # In one piece or not at all: a line is shorter than what a stream socket cuts.
        self._socket.send(json.dumps(line).encode() + b"\n")

    def read(self) -> List[Line] | None:
        """The new lines of the node, without waiting; None: the connection has ended."""
        if not self.is_ours:
            return None
        if not self._reading.acquire(blocking=False):
            return []  # another thread has it
        try:
            return self._read()
        except BlockingIOError:
            return []
        except OSError:
            return None
        finally:
            self._reading.release()

    def _read(self) -> List[Line] | None:
        data, ancillary, _, _ = self._socket.recvmsg(
            LINE_BYTES_MAX, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC
        )
        self._take_page(ancillary)
        if not data:
            return None
        *whole, self._rest = (self._rest + data).split(b"\n")
        try:
            lines = [json.loads(line) for line in whole]
        except ValueError:
            lines = [None]
        if not all(isinstance(line, dict) for line in lines):
            raise NotAvailable(f"what listens on {self.path} is no node: it says {data[:60]!r}")
        return lines

    def _take_page(self, ancillary: List[tuple[int, int, bytes]]) -> None:
        descriptors = array.array("i")
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(payload[: len(payload) // 4 * 4])
        try:
            for descriptor in descriptors[:1]:
                self.page = Page(descriptor)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def check_greeting(self, line: Line) -> None:
        if line.get("event") == "error":
            raise NotAvailable(f"the node on {self.path} lets nobody in: {line.get('error')}")
        if line.get("event") != "attached" or self.page is None:
            raise NotAvailable(f"what listens on {self.path} is no node: it says {line}")

    def wait(self, seconds: float | None) -> None:
        """Until there is something to read, or the time is up; it may return earlier."""
        poll = select.poll()
        try:
            poll.register(self._socket, select.POLLIN)
        except ValueError:
            return  # closed by another thread
        poll.poll(None if seconds is None else min(seconds, WAIT_S_MAX) * 1000)

    def wait_lines(self, deadline: Deadline) -> List[Line]:
        """At least one. Raises TimeoutError, and NotAvailable when the node ends."""
        while True:
            lines = self.read()
            if lines is None:
                raise NotAvailable(f"the node on {self.path} has ended")
            if lines:
                return lines
            left = deadline.left()
            if left == 0:
                raise TimeoutError(f"the node on {self.path} has not answered in time")
            self.wait(left)

    def close(self) -> None:
        """Wakes those who wait for a line."""
        try:
            if self.is_ours:
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()


def _in_child() -> None:
    # Its copies would keep the connections open when the parent has ended.
    for connection in list(Connection._all):
        connection._pid = 0
        connection._socket.close()


os.register_at_fork(after_in_child=_in_child)
