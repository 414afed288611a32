"""Leading from ordinary code, with threads."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import time
from types import TracebackType
from typing import Any, Callable, Generic, Literal, NoReturn, TypeVar

from ._connection import (
    BullringError,
    Connection,
    Deadline,
    Line,
    Lost,
    NotAvailable,
    now_ns,
    socket_path,
)

PROGRESS_EVERY_S_MAX = 0.02  # more often is said to nobody
LOOK_AGAIN_S = 0.05
NO_ANSWER = "the node has not answered in time"

log = logging.getLogger("bullring")


class Leadership:
    """One leadership, as the task that works under it sees it. Any thread may ask it. A child of
    this process leads nothing: there everything says that the leadership is over."""

    def __init__(self, connection: Connection, epoch: int, stall_after: float | None) -> None:
        assert connection.page is not None
        self._connection = connection
        self._page = connection.page
        self._reason = ""
        self._over = False
        self._refusal: str | None = None
        self._progress_every = (
            None if stall_after is None else min(stall_after / 4, PROGRESS_EVERY_S_MAX)
        )
        self._progress_at = -math.inf
        self._epoch = epoch

    @property
    def epoch(self) -> int:
        """The fencing token: what the leader writes to bears it, and refuses a lower one."""
        return self._epoch

    def valid(self) -> bool:
        """Judged by the clock at every call, and by what the node says; asks nobody and never
        waits. True says that no other can lead at this instant; before each act that only the
        leader may do, ask again. False also as soon as this object knows that the task has to end,
        by wait() or the like; time_left() is for winding it up."""
        return not self._reason and self.time_left() > 0

    def time_left(self) -> float:
        """In seconds, if nothing is renewed any more; 0: it is over, or the task has been told to
        end."""
        if self._over or not self._connection.is_ours:
            return 0.0
        shown = self._page.read()
        if shown.epoch != self._epoch:
            return 0.0
        return max(shown.valid_until_ns - now_ns(), 0) / 1e9

    def raise_if_lost(self) -> None:
        """For loops: raises Lost as soon as the leadership is over."""
        if not self.valid():
            raise Lost(self.reason)

    @property
    def reason(self) -> str:
        """Why the task has to end, or had to; empty while it leads, and where the node has not
        said it yet."""
        if not self._connection.is_ours:
            return "forked"
        self._is_lost()
        if not self._reason and self._page.read().epoch == self._epoch and not self.valid():
            return "lease_expired"  # the node stands still
        return self._reason

    def progress(self) -> None:
        """A sign of life, for `stall_after`. Cheap: call it as often as you like. Raises Lost in a
        child of the process."""
        now = time.monotonic()
        if not self._connection.is_ours:
            raise Lost("forked")
        if self._progress_every is None or now - self._progress_at < self._progress_every:
            return
        self._progress_at = now
        try:
            self._connection.send(op="progress")
        except OSError:
            pass  # valid() says what it means that the node is gone

    def _is_lost(self) -> bool:
        """Whether the task has to end, by what the node has said so far."""
        if not self._reason:
            try:
                lines = self._connection.read()
            except NotAvailable:
                lines = None
            for line in lines or []:
                self._told(line)
            if lines is None:
                self._end("disconnected")
        return bool(self._reason)

    def _leads(self) -> bool:
        """Also before its lease ends a leadership is over when the node has ended."""
        return not self._is_lost() and self.valid()

    def _told(self, line: Line) -> None:
        if line.get("event") == "stop":
            self._end(str(line.get("reason")))
        elif line.get("event") == "error":
            self._refusal = str(line.get("error"))

    def _end(self, reason: str) -> None:
        self._reason = self._reason or reason

    def _ask_to_resign(self) -> None:
        self._refusal = None
        try:
            self._connection.send(op="resign")
        except OSError as error:
            raise Lost("disconnected") from error

    def _has_resigned(self) -> bool:
        if self._is_lost():
            return True
        if self._refusal is not None:
            raise BullringError(self._refusal)
        return False

    def __reduce__(self) -> NoReturn:
        raise TypeError("a leadership is of the process that leads, and of no other")

    def __repr__(self) -> str:
        state = "valid" if self.valid() else self.reason or "over"
        return f"<{type(self).__name__} epoch={self._epoch} {state}>"


class Lead(Leadership):
    """A leadership of ordinary code."""

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the task has to end, for `timeout` seconds at most; True: it has to. Instead
        of time.sleep(), which nothing wakes."""
        deadline = Deadline(timeout)
        while not self._is_lost():
            left = self.time_left()  # it is renewed meanwhile
            if left <= 0:
                return True
            spare = deadline.left()
            if spare == 0:
                return False
            self._connection.wait(left if spare is None else min(left, spare))
        return True

    def resign(self, timeout: float = 5.0) -> None:
        """Has another lead: waits until the task has to end, as after any other loss, or raises
        BullringError, because nobody else can lead now."""
        deadline = Deadline(timeout)
        self._ask_to_resign()
        while not self._has_resigned():
            left = deadline.left()
            if not left:
                raise TimeoutError(NO_ANSWER)
            # Another thread that waits may be the one that reads the answer.
            self._connection.wait(min(left, LOOK_AGAIN_S))


Held = TypeVar("Held", bound=Leadership)


class Campaign(Generic[Held]):
    """The common part of `lead` and `alead`: the settings, and the way to the leadership."""

    _kind: type[Held]

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        cluster: str = "bullring",
        node: int | None = None,
        advertised: str | None = None,
        stall_after: float | None = None,
        on_loss: Literal["tell", "kill"] = "tell",
        timeout: float | None = None,
    ) -> None:
        if stall_after is not None and not stall_after > 0:
            raise ValueError("stall_after is in seconds, and more than 0")
        if on_loss not in ("tell", "kill"):
            raise ValueError(f"on_loss is {on_loss!r}; expected 'tell' or 'kill'")
        self._where = (where, cluster, node)
        self._timeout = timeout
        self._stall_after = stall_after
        self._wish: Line = {"op": "campaign"}
        if on_loss != "tell":
            self._wish["on_loss"] = on_loss
        if advertised is not None:
            self._wish["advertised"] = advertised
        if stall_after is not None:
            self._wish["stall_after_ms"] = math.ceil(stall_after * 1000)
        self._connection: Connection | None = None
        self._greeted = False
        self._held: Held | None = None

    def _attach(self) -> Connection:
        if self._connection is not None:
            raise RuntimeError("this leads once; make another one for the next time")
        self._connection = Connection(socket_path(*self._where))
        return self._connection

    def _take(self, line: Line) -> None:
        assert self._connection is not None
        if self._held is not None:
            self._held._told(line)
        elif not self._greeted:
            self._connection.check_greeting(line)
            self._greeted = True
            self._ask()
        elif line.get("event") == "error":
            raise ValueError(str(line.get("error")))
        elif line.get("event") == "elected":
            self._held = self._kind(self._connection, int(line["epoch"]), self._stall_after)

    def _ask(self) -> None:
        assert self._connection is not None
        try:
            self._connection.send(**self._wish)
        except OSError as error:
            raise NotAvailable(f"the node on {self._connection.path} has ended") from error

    def _give_up(self) -> None:
        """Says that all work has ended. Nothing if it has been said."""
        if self._held is not None:
            self._held._end("task_ended")
            self._held._over = True
        connection = self._connection
        if connection is None or not connection.is_ours:
            return
        try:
            connection.send(op="done")
        except OSError:
            pass  # its lease ends without that word, too
        connection.close()

    def __del__(self) -> None:
        # Of a statement whose own end was cut short, as by a second Ctrl-C.
        if getattr(self, "_connection", None) is not None:
            self._give_up()


class lead(Campaign[Lead]):
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
    after which the leadership is taken from a task that hangs. `on_loss="kill"`: this process is
    killed if the task has not ended shortly before the lease does, and when the node dies, without
    a chance to wind up; the next one leads sooner then. Raises NotAvailable."""

    _kind = Lead

    def __enter__(self) -> Lead:
        connection = self._attach()
        deadline = Deadline(self._timeout)
        try:
            while self._held is None:
                for line in connection.wait_lines(deadline):
                    self._take(line)
            return self._held
        except BaseException:
            self._give_up()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._give_up()


class Attempts:
    """Of a program that leads again and again: a node that is started anew does not end it."""

    AGAIN_AFTER_S = 0.5

    def __init__(self) -> None:
        self._there_was_a_node = False
        self._said = False

    def again_after(self, campaign: Campaign[Any], error: NotAvailable) -> float:
        """In seconds. Raises the error if there never was a node."""
        if campaign._greeted:
            self._there_was_a_node, self._said = True, False
        if not self._there_was_a_node:
            raise error
        if not self._said:
            log.warning("%s; this process waits for it", error)
        self._said = True
        return self.AGAIN_AFTER_S

    def succeeded(self) -> None:
        self._there_was_a_node, self._said = True, False


def run_while_leader(task: Callable[[Lead], Any], *args: Any, **settings: Any) -> None:
    """Runs `task(lead)` whenever this process leads, for ever, and waits for a node that is started
    anew. Ends with the first exception of the task, but for Lost, and with NotAvailable if there
    is no node at first. Settings as those of `lead`."""
    attempts = Attempts()
    while True:
        campaign = lead(*args, **settings)
        with contextlib.ExitStack() as stack:
            try:
                leadership = stack.enter_context(campaign)
            except NotAvailable as error:
                time.sleep(attempts.again_after(campaign, error))
                continue
            attempts.succeeded()
            try:
                task(leadership)
            except Lost:
                if leadership._leads():
                    raise  # of another one
