"""Following the leader without leading."""

from __future__ import annotations

import http.client
import json
import os
import socket
from typing import Iterator, NamedTuple

from ._connection import Connection, Deadline, NotAvailable, socket_path

HTTP_SILENCE_S = 40.0  # a node says something every 15 s


class Leader(NamedTuple):
    """`id` is None while there is none; `advertised` is what its node says of where it is."""

    id: int | None
    epoch: int
    advertised: str


class Observer:
    """Iterates over the leaders: the present one, then each change, "none" included.

        for leader in bullring.Observer():
            print(leader.id, leader.epoch, leader.advertised)

    By the socket of the node on this machine, as `lead` finds it, or, with `http`, by the HTTP of
    a node anywhere ("HOST:PORT", or "unix:PATH"). Ends with NotAvailable when the node does.
    `timeout`: how long the node may take to answer at first, in seconds; TimeoutError then."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        *,
        cluster: str = "bullring",
        node: int | None = None,
        http: str | None = None,
        timeout: float | None = None,
    ) -> None:
        self._http = http
        self._timeout = timeout
        self._where = (where, cluster, node)

    def __iter__(self) -> Iterator[Leader]:
        last = None
        for leader in self._by_socket() if self._http is None else self._by_http(self._http):
            if leader != last:
                yield leader
            last = leader

    def leader(self) -> Leader:
        """The present one, as the node knows it; asks once."""
        return next(iter(self))

    def _by_socket(self) -> Iterator[Leader]:
        connection = Connection(socket_path(*self._where))
        try:
            deadline, greeted = Deadline(self._timeout), False
            while True:
                for line in connection.wait_lines(deadline):
                    if not greeted:
                        connection.check_greeting(line)
                        greeted = True
                    elif line.get("event") == "leader":
                        deadline = Deadline(None)
                        yield Leader(line["leader"], line["epoch"], line["advertised"])
        finally:
            connection.close()

    def _by_http(self, address: str) -> Iterator[Leader]:
        connection = _HttpConnection(address, self._timeout)
        timed_out: Exception = TimeoutError(f"the node on {address} has not answered in time")
        try:
            connection.request("GET", "/events")
            answer = connection.getresponse()
            if answer.status != 200:
                raise NotAvailable(f"{address} answers {answer.status} {answer.reason}")
            connection.sock.settimeout(HTTP_SILENCE_S)
            timed_out = NotAvailable(f"the node on {address} has fallen silent")
            for raw in answer:
                if raw.startswith(b"data: "):
                    line = json.loads(raw[6:])
                    yield Leader(line["leader"], line["epoch"], line["advertised"])
        except socket.timeout:
            raise timed_out from None
        except (OSError, http.client.HTTPException) as error:
            raise NotAvailable(f"no node answers on {address}: {error}") from error
        finally:
            connection.close()
        raise NotAvailable(f"the node on {address} has ended")


class _HttpConnection(http.client.HTTPConnection):
    def __init__(self, address: str, timeout: float | None) -> None:
        self._unix = address[5:] if address.startswith("unix:") else None
        super().__init__("localhost" if self._unix else address, timeout=timeout)

    def connect(self) -> None:
        if self._unix is None:
            return super().connect()
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._unix)
