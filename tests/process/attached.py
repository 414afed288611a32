"""The common part of the tests of the Python package: a cluster, and ways to lose a leadership."""

import contextlib
import json
import os
import socket
import threading

import bullring
import pytest
from harness.attach import Client
from harness.waiting import DEADLINE, wait_until

# So that a node that stands still is left alone, and time tells the lease's end from all else.
LEASE_1S = ["--lease", "1s", "--hang-after", "off"]
LONG_LEASE = ["--lease", "10s"]


@pytest.fixture
def settled(new_cluster):
    """Makes a cluster; returns it and the node that leads."""
    return lambda *flags: new_cluster(3, flags=list(flags)).settled()


def others(cluster, *nodes):
    return [node for node in cluster if node not in nodes]


def lost_by_death(cluster, node):
    node.kill()
    return "disconnected"


def lost_by_standstill(cluster, node):
    node.hang_for_good()
    return "lease_expired"


def lost_by_partition(cluster, node):
    for other in others(cluster, node):
        other.hang_for_good()
    return "lease_expired"


def lost_by_handover(cluster, node):
    """The next one leads when this one has wound up."""
    candidate = Client(others(cluster, node)[0]).campaign()

    def ask():
        cluster.command("resign")
        candidate.wait_for("elected")

    threading.Thread(target=ask, daemon=True).start()
    return "resigned"


LOSSES = pytest.mark.parametrize(
    "lose",
    [lost_by_death, lost_by_standstill, lost_by_partition, lost_by_handover],
    ids=lambda lose: lose.__name__.removeprefix("lost_by_"),
)


def leads_next(node, **settings):
    """Another one that leads soon: nothing has been left behind."""
    with bullring.lead(node.data_dir, timeout=DEADLINE, **settings) as lead:
        assert lead.valid()
        return lead.epoch


@contextlib.contextmanager
def a_thread(work, *arguments):
    """It is joined, and what it has raised is raised."""
    errors = []

    def run():
        try:
            work(*arguments)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield thread
    thread.join(DEADLINE)
    assert not thread.is_alive()
    if errors:
        raise errors[0]


class FakeNode:
    """Listens where a node would, and says what it is told to."""

    def __init__(self, folder, *says, page=False):
        self.data_dir = folder
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "attach.sock"))
        self.listener.listen()
        self.listener.settimeout(DEADLINE)
        self.says = says
        self.page = os.memfd_create("page") if page else None
        if page:
            os.ftruncate(self.page, 64)
        self.heard = b""
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            connection, _ = self.listener.accept()
            with connection:
                if self.page is not None:
                    socket.send_fds(connection, [self.says[0]], [self.page])
                for line in self.says[self.page is not None :]:
                    connection.sendall(line)
                while data := connection.recv(4096):
                    self.heard += data

    def lines(self):
        return [json.loads(line) for line in self.heard.splitlines()]

    def wait_for_lines(self, count):
        wait_until(lambda: self.heard.count(b"\n") >= count, lambda: f"lines, after {self.heard}")
        return self.lines()
