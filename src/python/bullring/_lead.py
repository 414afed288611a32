"""Leading from ordinary code, with threads."""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Any, Callable

from ._connection import BullringError, Connection, Line, Lost, NotAvailable, now_ns, socket_path

PROGRESS_EVERY_S = 0.02  # more often is said to nobody


class Lead:
    """One leadership, as the task that works under it sees it. Any thread may ask it. A child of
    this process leads nothing: there everything says that the leadership is over."""

    def __init__(self, connection: Connection, epoch: int) -> None:
        self._connection = connection
        self._lost = threading.Event()
        self._reason = ""
        self._answered = threading.Event()
        self._refusal = ""
        self._progress_at = 0.0
        self.epoch = epoch
        """The fencing token: what the leader writes to bears it, and refuses a lower one."""

    def valid(self) -> bool:
        """Judged by the clock at every call, and by what the node says; asks nobody and never
        waits. True says that no other can lead at this instant; before each act that only the
        leader may do, ask again."""
        return self.time_left() > 0

    def time_left(self) -> float:
        """In seconds, if nothing is renewed any more; 0: it is over, or the task has been told to
        end."""
        if not self._connection.is_ours:
            return 0.0
        shown = self._connection.page.read()
        if shown.epoch != self.epoch:
            return 0.0
        return max(shown.valid_until_ns - now_ns(), 0) / 1e9

    def raise_if_lost(self) -> None:
        """For loops: raises Lost as soon as the leadership is over."""
        if not self.valid():
            raise Lost(self.reason or ("lease_expired" if self._connection.is_ours else "forked"))

    @property
    def reason(self) -> str:
        """Why the task has to end, or had to; empty while it leads."""
        return self._reason

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the task has to end, for `timeout` seconds at most; True: it has to. Instead
        of time.sleep(), which nothing wakes."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._lost.is_set():
            left = self.time_left()  # it is renewed meanwhile
            if left <= 0:
                return True
            if end is not None:
                left = min(left, end - time.monotonic())
                if left <= 0:
                    return False
            self._lost.wait(left)
        return True

    def progress(self) -> None:
        """A sign of life, for `stall_after`. Cheap: call it as often as you like. Raises Lost in a
        child of the process, and when the node is gone."""
        now = time.monotonic()
        if now - self._progress_at >= PROGRESS_EVERY_S:
            self._progress_at = now
            self._connection.send(op="progress")

    def resign(self, timeout: float = 5.0) -> None:
        """Has another lead: waits until the task has to end, as after any other loss, or raises
        BullringError, because nobody else can lead now."""
        self._answered.clear()
        self._refusal = ""
        self._connection.send(op="resign")
        if not self._answered.wait(timeout):
            raise TimeoutError("the node has not answered in time")
        if self._refusal:
            raise BullringError(self._refusal)

    def _told(self, line: Line) -> None:
        if line.get("event") == "stop":
            self._end(str(line.get("reason")))
        elif line.get("event") == "error":
            self._refusal = str(line.get("error"))
            self._answered.set()

    def _end(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._lost.set()
        self._answered.set()

    def __repr__(self) -> str:
        return f"<Lead epoch={self.epoch} {'valid' if self.valid() else self.reason or 'over'}>"


class lead:
    """Campaigns, and leads in the body of the `with` statement:

        with bullring.lead() as lead:
            while lead.valid():
                poll(table, token=lead.epoch)
                lead.wait(1.0)

    Entering waits until this process leads; `timeout` seconds at most, then TimeoutError. The
    leadership is given up when the body has ended, in whatever way, and never before: end in it
    what the task has started. Nothing but your own look at `valid()` ends a body that goes on.

    `where`: the data directory of the node, or its attach.sock; otherwise BULLRING_DATA_DIR, or
    the node of `cluster` (and `node`) on this machine. `stall_after`: seconds without progress()
    after which the leadership is taken from a task that hangs. Raises NotAvailable."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        cluster: str = "bullring",
        node: int | None = None,
        advertised: str | None = None,
        stall_after: float | None = None,
        timeout: float | None = None,
    ) -> None:
        self._path = socket_path(where, cluster, node)
        self._timeout = timeout
        self._campaign: dict[str, Any] = {"op": "campaign"}
        if advertised is not None:
            self._campaign["advertised"] = advertised
        if stall_after is not None:
            self._campaign["stall_after_ms"] = int(stall_after * 1000)
        self._lead: Lead | None = None
        self._connection: Connection | None = None
        self._reader: threading.Thread | None = None

    def __enter__(self) -> Lead:
        if self._connection is not None:
            raise RuntimeError("one `lead` leads once; make another one")
        self._connection = Connection(self._path, self._timeout)
        try:
            return self._elected()
        except BaseException:
            self._connection.close()
            raise

    def _elected(self) -> Lead:
        connection = self._connection
        assert connection is not None
        until = None if self._timeout is None else time.monotonic() + self._timeout
        connection.send(**self._campaign)
        while True:
            connection.settimeout(None if until is None else max(until - time.monotonic(), 0.001))
            line = next(connection.lines(), None)
            if line is None:
                raise NotAvailable("the node has ended while this process waited for its turn")
            if line.get("event") == "error":
                raise ValueError(str(line.get("error")))
            if line.get("event") == "elected":
                break
        connection.settimeout(None)
        self._lead = Lead(connection, int(line["epoch"]))
        self._reader = threading.Thread(target=self._read, name="bullring", daemon=True)
        self._reader.start()
        return self._lead

    def _read(self) -> None:
        assert self._connection is not None and self._lead is not None
        for line in self._connection.lines():
            self._lead._told(line)
        self._lead._end("disconnected")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection, reader = self._connection, self._reader
        assert connection is not None and reader is not None
        if not connection.is_ours:
            return
        try:
            connection.send(op="done")
        except Lost:
            pass
        connection.close()
        reader.join()


def run_while_leader(task: Callable[[Lead], Any], *args: Any, **settings: Any) -> None:
    """Runs `task(lead)` whenever this process leads, for ever; ends with the first exception of
    the task, and with NotAvailable. Settings as those of `lead`."""
    while True:
        with lead(*args, **settings) as leadership:
            task(leadership)
