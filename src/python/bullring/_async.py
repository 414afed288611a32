"""Leading from asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from types import TracebackType
from typing import Any

from ._connection import LINE_BYTES_MAX, Connection, Line, Lost, NotAvailable, now_ns
from ._lead import Lead, lead


class alead(lead):
    """Campaigns, and leads in the body of the `async with` statement:

        async with bullring.alead() as lead:
            await work(token=lead.epoch)

    At the loss of the leadership the task that has entered is cancelled at its next `await`, in
    time to wind up, and the statement raises Lost in the place of that CancelledError. The
    leadership is given up when the body has ended. A body that swallows the cancellation is
    cancelled once more when its lease ends, and Lost is raised however it ends. Code without an
    `await` can't be cancelled: it has to ask `lead.valid()`. Settings as those of `lead`."""

    _task: "asyncio.Task[Any] | None" = None
    _watch: "asyncio.Task[None] | None" = None
    _cancels = 0

    def __enter__(self) -> Lead:
        raise TypeError("write `async with bullring.alead(...)`")

    async def __aenter__(self) -> Lead:
        if self._connection is not None:
            raise RuntimeError("one `alead` leads once; make another one")
        self._task = asyncio.current_task()
        self._connection = await asyncio.to_thread(Connection, self._path, self._timeout)
        try:
            self._connection.settimeout(0)
            return await asyncio.wait_for(self._elected_soon(), self._timeout)
        except asyncio.TimeoutError:
            self._connection.close()
            raise TimeoutError("not elected in time") from None
        except BaseException:
            self._connection.close()
            raise

    async def _elected_soon(self) -> Lead:
        connection = self._connection
        assert connection is not None
        connection.send(**self._campaign)
        while True:
            line = await self._line()
            if line is None:
                raise NotAvailable("the node has ended while this process waited for its turn")
            if line.get("event") == "error":
                raise ValueError(str(line.get("error")))
            if line.get("event") == "elected":
                break
        self._lead = Lead(connection, int(line["epoch"]))
        self._watch = asyncio.ensure_future(self._watch_over(self._lead))
        return self._lead

    async def _line(self) -> Line | None:
        """None: the connection has ended."""
        connection = self._connection
        assert connection is not None
        loop = asyncio.get_running_loop()
        while b"\n" not in connection._rest:
            try:
                data = await loop.sock_recv(connection._socket, LINE_BYTES_MAX)
            except OSError:
                return None
            if not data:
                return None
            connection._rest += data
        line, _, connection._rest = connection._rest.partition(b"\n")
        result: Line = json.loads(line)
        return result

    async def _watch_over(self, leadership: Lead) -> None:
        """Ends with the first loss: by a line, or by the page, if the node stands still."""
        longest = leadership.time_left()
        reader = asyncio.ensure_future(self._until_told(leadership))
        try:
            while not reader.done():
                left = leadership.time_left()
                longest = max(longest, left)
                spare = left - longest / 4
                if spare <= 0:
                    leadership._end("lease_expired")
                    break
                await asyncio.wait({reader}, timeout=spare)
        finally:
            reader.cancel()
        self._cancel()
        # Whoever has swallowed that is asked again when nothing may work any more.
        end = leadership._connection.page.read().stop_by_ns
        left_ns = end - now_ns() if end else int(leadership.time_left() * 1e9)
        await asyncio.sleep(max(left_ns, 0) / 1e9)
        self._cancel()

    async def _until_told(self, leadership: Lead) -> None:
        while not leadership.reason:
            line = await self._line()
            if line is None:
                return leadership._end("disconnected")
            leadership._told(line)

    def _cancel(self) -> None:
        assert self._task is not None
        self._cancels += 1
        self._task.cancel()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection, watch, leadership = self._connection, self._watch, self._lead
        assert connection is not None and watch is not None and leadership is not None
        watch.cancel()
        if connection.is_ours:
            try:
                connection.send(op="done")
            except (Lost, BlockingIOError):
                pass  # its process and its lease end without that word, too
            connection.close()
        if self._cancels == 0:
            return
        others_cancel = False
        if sys.version_info >= (3, 11):
            assert self._task is not None
            for _ in range(self._cancels):
                others_cancel = self._task.uncancel() > 0
        if error is None or (isinstance(error, asyncio.CancelledError) and not others_cancel):
            raise Lost(leadership.reason) from error


async def arun_while_leader(task: Any, *args: Any, **settings: Any) -> None:
    """Awaits `task(lead)` whenever this process leads, for ever; after a loss, which cancels it,
    it stands again. Ends with the first other exception of the task, and with NotAvailable."""
    while True:
        try:
            async with alead(*args, **settings) as leadership:
                await task(leadership)
        except Lost:
            pass


__all__ = ["alead", "arun_while_leader"]
