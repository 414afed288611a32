"""Asks a node's HTTP endpoint, at a port of loopback or by a Unix socket."""

import http.client
import json
import socket

from harness.waiting import DEADLINE


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read().decode()

    @property
    def json(self):
        return json.loads(self.body)


def connect(where, timeout=DEADLINE):
    """`where`: a port, or the path of a socket."""
    if isinstance(where, int):
        return http.client.HTTPConnection("127.0.0.1", where, timeout=timeout)
    return _UnixConnection(str(where), timeout)


def ask(where, path, method="GET", headers=None, body=None, timeout=DEADLINE):
    """One request on a connection of its own."""
    connection = connect(where, timeout)
    try:
        connection.request(method, path, body, headers or {})
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Events:
    """A stream of server-sent events, read one by one."""

    def __init__(self, where, timeout=DEADLINE):
        self.connection = connect(where, timeout)
        self.connection.request("GET", "/events")
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def next(self):
        """{"event": …, "id": …, "data": …} of the next one; comments are passed over."""
        fields = {}
        while True:
            line = self.response.readline().decode()
            if not line:
                raise EOFError("the stream has ended")
            line = line.rstrip("\n")
            if not line:
                if fields:
                    fields["data"] = json.loads(fields["data"])
                    return fields
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value

    def close(self):
        self.response.close()
        self.connection.close()
