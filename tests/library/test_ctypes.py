"""The C interface from another language: a node in Python, by ctypes alone."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from harness.node import ROOT
from installation import run
from harness.pid_namespace import IN_NAMESPACE, needs_namespace
from harness.waiting import DEADLINE


class Change(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("epoch", ctypes.c_uint64), ("leader", ctypes.c_uint64)]


OK, TIMEOUT, ELECTED, STOP = 0, -3, 2, 3


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        self.c.bullring_open.restype = ctypes.c_void_p
        self.c.bullring_epoch.restype = ctypes.c_uint64
        self.c.bullring_leader.restype = ctypes.c_uint64
        self.c.bullring_error.restype = ctypes.c_char_p

    def open(self, **settings):
        words = []
        for name, value in settings.items():
            words += [name.replace("_", "-").encode(), str(value).encode()]
        array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        code, error = ctypes.c_int(), ctypes.create_string_buffer(1000)
        node = self.c.bullring_open(array, ctypes.byref(code), error, len(error))
        if not node:
            raise OSError(code.value, error.value.decode())
        return Node(self.c, node)


class Node:
    def __init__(self, c, handle):
        self.c, self.handle = c, ctypes.c_void_p(handle)

    def next(self, kind, timeout_ms=30_000):
        """The epoch of the next change of this kind; None if there is none in time."""
        change = Change()
        while True:
            result = self.c.bullring_wait(self.handle, timeout_ms, ctypes.byref(change))
            if result == TIMEOUT:
                return None
            if result != OK:
                raise OSError(result, self.c.bullring_error(result).decode())
            if change.kind == kind:
                return change.epoch

    def epoch(self):
        return self.c.bullring_epoch(self.handle)

    def valid(self, epoch):
        return bool(self.c.bullring_valid(self.handle, ctypes.c_uint64(epoch)))

    def done(self, epoch):
        return self.c.bullring_done(self.handle, ctypes.c_uint64(epoch), 0)

    def resign(self):
        return self.c.bullring_resign(self.handle, ctypes.c_uint64(0), 0, None, 0)

    def close(self):
        self.c.bullring_close(self.handle)


def elected(nodes):
    """(node, epoch) of the next that is elected, whichever it is."""
    for _ in range(300):
        for id, node in nodes.items():
            epoch = node.next(ELECTED, timeout_ms=30)
            if epoch is not None:
                return id, epoch
    raise AssertionError("nobody is elected")


@pytest.fixture
def library(installed):
    return Library(installed.libraries / "libbullring.so")


def test_two_nodes_and_a_handover(library, ports, tmp_path):
    peers = ",".join(f"{id}=127.0.0.1:{ports.take()}" for id in (1, 2, 3))
    nodes = {
        id: library.open(id=id, peers=peers, lease="3s", data_dir=tmp_path / str(id))
        for id in (1, 2, 3)
    }
    first, epoch = elected(nodes)
    assert nodes[first].valid(epoch)
    assert [node.epoch() for id, node in nodes.items() if id != first] == [0, 0]
    assert nodes[first].resign() == TIMEOUT  # it waits for done()
    assert nodes[first].next(STOP) == epoch
    assert not nodes[first].valid(epoch)
    assert nodes[first].done(epoch) == OK
    assert elected(nodes)[1] > epoch
    for node in nodes.values():
        node.close()


def test_wrong_settings(library):
    with pytest.raises(OSError) as caught:
        library.open(id=1, peers="1=a", lease="5")
    assert "lease" in str(caught.value)
    assert "peers" in str(caught.value)


# A program that has left SIGPIPE as it is for every program.
LEFT_READER = """
import os, signal, sys
from test_ctypes import ELECTED, Library
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
library, port, place = sys.argv[1:]
os.mkfifo(place + ".fifo")
reader = os.open(place + ".fifo", os.O_RDONLY | os.O_NONBLOCK)
node = Library(library).open(id=1, peers="1=127.0.0.1:" + port, data_dir=place,
                             lease="3s", events=place + ".fifo")
epoch = node.next(ELECTED)
os.close(reader)
node.done(epoch)
node.close()
print("closed")
"""


def test_a_reader_of_the_events_that_goes_away_does_not_end_the_program(installed, ports, tmp_path):
    words = [installed.libraries / "libbullring.so", ports.take(), tmp_path / "data"]
    command = [sys.executable, "-B", "-c", LEFT_READER, *words]
    assert run(*command, env=environment()) == "closed\n"


def environment():
    """In which a program finds this module."""
    here = pathlib.Path(__file__).parent
    path = os.pathsep.join([str(here), str(ROOT / "tests")])
    return {**os.environ, "PYTHONPATH": path}


# A program whose first node has a keeper for as long as it is open, and whose second one leads on.
WATCHED = """
import os, sys
from harness.task import child_named
from test_ctypes import ELECTED, Library
library, first, second, place = sys.argv[1:]
for port in (first, second):
    node = Library(library).open(id=1, peers="1=127.0.0.1:" + port, data_dir=place + port,
                                 cluster="c" + port, hang_after="100ms")
    node.next(ELECTED)
    assert child_named(os.getpid(), "bullring-keeper")
    if port == first:
        node.close()
        assert not child_named(os.getpid(), "bullring-keeper")
print("leads", flush=True)
node.next(ELECTED)
"""


def test_a_process_that_stands_still_is_killed_if_that_was_asked_for(installed, ports, tmp_path):
    library = installed.libraries / "libbullring.so"
    words = [str(word) for word in (library, ports.take(), ports.take(), tmp_path / "data")]
    command = [sys.executable, "-B", "-c", WATCHED, *words]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert process.stdout.readline() == "leads\n"
        process.send_signal(signal.SIGSTOP)
        errors = process.communicate(timeout=30)[1]
        assert process.returncode == -signal.SIGKILL
        assert "stood still for 100ms (hang_after)" in errors
    finally:
        process.kill()
        process.communicate()


# A program that is a container's first process, which nothing inside of the container can kill.
FIRST_PROCESS = """
import sys
from test_ctypes import ELECTED, Library
library, port, place = sys.argv[1:]
settings = dict(id=1, peers="1=127.0.0.1:" + port, data_dir=place)
try:
    Library(library).open(**settings, hang_after="100ms")
except OSError as error:
    print(error)
node = Library(library).open(**settings)
node.next(ELECTED)
node.close()
print("closed")
"""


@needs_namespace
def test_what_cannot_be_killed_is_not_watched(installed, ports, tmp_path):
    words = [installed.libraries / "libbullring.so", ports.take(), tmp_path / "data"]
    command = [*IN_NAMESPACE, sys.executable, "-B", "-c", FIRST_PROCESS, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), timeout=DEADLINE
    )
    said = done.stdout.splitlines()
    assert len(said) == 2, done
    assert "hang_after: this program is the first process of its container" in said[0]
    assert said[1] == "closed"
