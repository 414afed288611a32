"""A connection to the node on this machine (bullring-attach(7)): lines in both directions, and the
page by which a process knows until when it leads."""

from __future__ import annotations

import array
import json
import mmap
import os
import socket
import struct
import time
import weakref
from pathlib import Path
from typing import Any, Dict, Iterator, NamedTuple

SOCKET = "attach.sock"
PAGE_BYTES = 64
LINE_BYTES_MAX = 4096

Line = Dict[str, Any]


class BullringError(Exception):
    """Whatever this package raises by itself."""


class NotAvailable(BullringError):
    """There is no node to ask: its socket is missing, or nobody listens on it."""


class Lost(BullringError):
    """The leadership has ended, or is about to. `reason` as `deposed` in bullring-events(5);
    "disconnected": the node has ended; "forked": this process is a child of the leader."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the leadership has ended: {reason}")
        self.reason = reason


class Shown(NamedTuple):
    """What a page says; times by CLOCK_BOOTTIME."""

    epoch: int
    valid_until_ns: int
    stop_by_ns: int


NOTHING = Shown(0, 0, 0)


def now_ns() -> int:
    """By the clock by which leases are judged, which counts while the machine is suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


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
    if where is not None:
        path = Path(where)
        return path / SOCKET if path.is_dir() else path
    if directory := os.environ.get("BULLRING_DATA_DIR"):
        return Path(directory) / SOCKET
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    places = [state / "bullring" / cluster, Path("/var/lib/bullring") / cluster]
    wanted = f"node-{node}" if node is not None else "node-*"
    found = [path for place in places for path in sorted(place.glob(f"{wanted}/{SOCKET}"))]
    found += [path for path in [Path("/var/lib/bullring") / cluster / SOCKET] if path.exists()]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotAvailable(
            f"there is no {SOCKET} of a node of cluster {cluster!r} in "
            f"{' or '.join(map(str, places))}; start one, or name its data directory"
        )
    raise NotAvailable(f"there are several nodes; name the data directory of one: {found}")


class Connection:
    """Owned by one thread; `close` by any. A child of this process has no part in it."""

    _all: "weakref.WeakSet[Connection]" = weakref.WeakSet()

    def __init__(self, path: Path, timeout: float | None = None) -> None:
        self.path = path
        self._pid = os.getpid()
        self._rest = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._connect()
            self.greeting, self.page = self._greeted()
        except OSError as error:
            self._socket.close()
            raise NotAvailable(f"no node answers on {path}: {error}") from error
        except BaseException:
            self._socket.close()
            raise
        self._socket.settimeout(None)
        Connection._all.add(self)

    def _connect(self) -> None:
        # The path may be longer than an address has room for.
        directory = os.open(self.path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._socket.connect(f"/proc/self/fd/{directory}/{self.path.name}")
        finally:
            os.close(directory)

    def _greeted(self) -> tuple[Line, Page]:
        data, ancillary, _, _ = self._socket.recvmsg(
            LINE_BYTES_MAX, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC
        )
        descriptors = array.array("i")
        for level, kind, payload in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(payload[:4])
        try:
            self._rest = data
            line = next(self.lines(), None)
            if line is None:
                raise NotAvailable(f"the node on {self.path} has closed the connection")
            if line.get("event") == "error":
                raise NotAvailable(str(line.get("error")))
            if line.get("event") != "attached" or not descriptors:
                raise BullringError(f"what listens on {self.path} is no node: {line}")
            return line, Page(descriptors[0])
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    @property
    def is_ours(self) -> bool:
        """False in a child of the process that has made it."""
        return os.getpid() == self._pid

    def settimeout(self, seconds: float | None) -> None:
        self._socket.settimeout(seconds)

    def send(self, **line: Any) -> None:
        """Raises Lost in a child of the process, and when the node is gone."""
        if not self.is_ours:
            raise Lost("forked")
        try:
            self._socket.sendall(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise Lost("disconnected") from error

    def lines(self) -> Iterator[Line]:
        """Waits for each; ends with the connection."""
        while True:
            end = self._rest.find(b"\n")
            if end >= 0:
                line, self._rest = self._rest[:end], self._rest[end + 1 :]
                yield json.loads(line)
                continue
            try:
                data = self._socket.recv(LINE_BYTES_MAX)
            except socket.timeout:
                raise TimeoutError("the node has not answered in time") from None
            except OSError:
                return
            if not data:
                return
            self._rest += data

    def close(self) -> None:
        """Wakes the one who waits for a line."""
        try:
            if self.is_ours:
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()


def _in_child() -> None:
    # Its copies would keep the connections open when the parent has ended.
    for connection in list(Connection._all):
        connection._socket.close()


os.register_at_fork(after_in_child=_in_child)
