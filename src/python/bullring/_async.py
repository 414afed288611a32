"""Leading from asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from types import TracebackType
from typing import Any, Awaitable, Callable

from ._connection import Deadline, Lost, NotAvailable, now_ns
from ._lead import NO_ANSWER, Attempts, Campaign, Leadership


class AsyncLead(Leadership):
    """A leadership of a task of asyncio, and of those that it has made."""

    _waiters: set[asyncio.Future[None]]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._waiters = set()

    async def wait(self, timeout: float | None = None) -> bool:
        """Waits until the work has to end, for `timeout` seconds at most; True: it has to. For
        other tasks than the one that is cancelled then."""
        deadline = Deadline(timeout)
        while not self._is_lost():
            left = self.time_left()
            if left <= 0:
                return True
            spare = deadline.left()
            if spare == 0:
                return False
            await self._hear(left if spare is None else min(left, spare))
        return True

    async def resign(self, timeout: float = 5.0) -> None:
        """Has another lead: waits until the task has to end, as after any other loss, or raises
        BullringError, because nobody else can lead now."""
        deadline = Deadline(timeout)
        self._ask_to_resign()
        while not self._has_resigned():
            left = deadline.left()
            if left == 0:
                raise TimeoutError(NO_ANSWER)
            await self._hear(left)

    async def _hear(self, seconds: float | None) -> None:
        """Waits for a word of the node."""
        loop = asyncio.get_running_loop()
        heard = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, _resolve, heard)
        self._waiters.add(heard)
        try:
            await heard
        finally:
            self._waiters.discard(heard)
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        for one in self._waiters:
            _resolve(one)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class alead(Campaign[AsyncLead]):
    """Campaigns, and leads in the body of the `async with` statement:

        async with bullring.alead() as lead:
            await work(token=lead.epoch)

    At the loss of the leadership the task that has entered is cancelled at its next `await`, in
    time to wind up, and the statement raises Lost in the place of that CancelledError. The
    leadership is given up when the body has ended. A body that swallows the cancellation is
    cancelled once more when its lease ends, and Lost is raised also if it ends without an
    exception. Code without an `await` can't be cancelled: it has to ask `lead.valid()`. Settings
    as those of `lead`."""

    # All that is done at a loss is done by callbacks of the loop, between two steps of the task: so
    # a cancellation of this class is delivered before __aexit__ begins, or not asked for any more.
    _kind = AsyncLead
    _timer: asyncio.Handle | None = None
    _inside = False
    _cancels = 0
    _cancelling = 0
    _longest = 0.0
    _end_ns = 0

    async def __aenter__(self) -> AsyncLead:
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be cancelled; enter this in one")
        self._task = task
        self._entered: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._attach(), self._readable)
        if self._timeout is not None:
            self._timer = self._loop.call_later(
                self._timeout, self._fail, TimeoutError("this process was not elected in time")
            )
        try:
            await self._entered
        except BaseException:
            self._leave()
            raise
        self._forget_timer()
        if sys.version_info >= (3, 11):
            self._cancelling = task.cancelling()
        assert self._held is not None
        self._inside = True
        self._timer = self._loop.call_soon(self._look)
        return self._held

    def _readable(self) -> None:
        try:
            if self._held is None:
                self._campaign_on()
            elif self._inside:
                self._look()
                self._held._wake()
        except Exception as error:
            self._fail(error)

    def _campaign_on(self) -> None:
        assert self._connection is not None
        lines = self._connection.read()
        if lines is None:
            raise NotAvailable("the node has ended while this process waited for its turn")
        for line in lines:
            self._take(line)
        if self._held is not None:
            _resolve(self._entered)

    def _fail(self, error: Exception) -> None:
        if not self._entered.done():
            self._entered.set_exception(error)

    def _look(self) -> None:
        """Also while the node says nothing: if it stands still the page tells."""
        assert self._held is not None
        self._forget_timer()
        left = self._held.time_left()
        self._longest = max(self._longest, left)
        spare = left - self._longest / 4
        if self._held._is_lost() or spare <= 0:
            return self._lose()
        self._timer = self._loop.call_later(spare, self._look)

    def _lose(self) -> None:
        assert self._connection is not None and self._held is not None
        self._loop.remove_reader(self._connection)
        shown = self._held._page.read()
        if shown.epoch == self._held.epoch:
            self._held._end("lease_expired")
        self._end_ns = shown.stop_by_ns or shown.valid_until_ns
        self._held._wake()
        self._cancel()
        self._wait_for_end()

    def _wait_for_end(self) -> None:
        """A task that has swallowed that is asked again when nothing may work any more."""
        assert self._held is not None
        self._end_ns = max(self._end_ns, self._held._page.read().stop_by_ns)
        left_ns = self._end_ns - now_ns()
        if left_ns <= 0:
            return self._cancel()
        self._timer = self._loop.call_later(left_ns / 1e9, self._wait_for_end)

    def _cancel(self) -> None:
        self._cancels += 1
        self._task.cancel(self._mark)

    @property
    def _mark(self) -> str:
        return f"bullring: the leadership has ended ({id(self):x})"

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _leave(self) -> None:
        assert self._connection is not None
        if not self._connection.is_ours:
            return  # a child has the parent's epoll
        self._forget_timer()
        self._loop.remove_reader(self._connection)
        self._give_up()
        if self._held is not None:
            self._held._wake()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        held = self._held
        assert held is not None
        lost = self._cancels > 0 or not held._leads()
        reason = held.reason
        self._leave()
        others_cancel = self._others_cancel(error)
        if lost and (error is None or (self._cancels > 0 and not others_cancel)):
            raise Lost(reason) from error

    def _others_cancel(self, error: BaseException | None) -> bool:
        """Whether the body has ended by something else than a cancellation of this object."""
        if sys.version_info >= (3, 11):
            for _ in range(self._cancels):
                self._task.uncancel()
            if self._task.cancelling() > self._cancelling:
                return True
            return not isinstance(error, asyncio.CancelledError)
        # An inner task hands the message on in the context alone.
        while isinstance(error, asyncio.CancelledError):
            if self._mark in error.args:
                return False
            error = error.__cause__ or error.__context__
        return True


async def arun_while_leader(
    task: Callable[[AsyncLead], Awaitable[Any]], *args: Any, **settings: Any
) -> None:
    """Awaits `task(lead)` whenever this process leads, for ever; after a loss, which cancels it,
    it stands again, and it waits for a node that is started anew. Ends with the first other
    exception of the task, and with NotAvailable if there is no node at first."""
    attempts = Attempts()
    while True:
        campaign = alead(*args, **settings)
        mine = True
        try:
            async with contextlib.AsyncExitStack() as stack:
                try:
                    leadership = await stack.enter_async_context(campaign)
                except NotAvailable as error:
                    await asyncio.sleep(attempts.again_after(campaign, error))
                    continue
                attempts.succeeded()
                try:
                    await task(leadership)
                except Lost:
                    mine = not leadership._leads()
                    raise
        except Lost:
            if not mine:
                raise
