"""The name by which a node is to be reached, as its own host resolves it."""

import os
import signal

import pytest
from harness.node import find_program
from harness.waiting import DEADLINE, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")

FILES = ("hosts", "nsswitch.conf")


class Host:
    """Runs a node that finds names in a file of its own, and nowhere else."""

    def __init__(self, spawn, directory):
        self._spawn, self._directory = spawn, directory
        self._names = directory / "hosts"
        self._log = directory / "log"
        self._names.write_text("")
        (directory / "nsswitch.conf").write_text("hosts: files\n")
        binds = [f"mount --bind {directory}/{name} /etc/{name}" for name in FILES]
        script = " && ".join([*binds, 'exec "$@"'])
        self._prefix = ["unshare", "--mount", "sh", "-c", script, "sh"]

    def knows(self, line):
        self._names.write_text(line + "\n")

    def start(self, peers, *flags):
        with open(self._log, "w") as log:
            return self._spawn(
                [*self._prefix, find_program(), "node", "--id", "1", "--peers", peers]
                + ["--security", "none", "--data-dir", str(self._directory / "data"), *flags],
                stderr=log,
            )

    def says(self, text):
        return text in self._log.read_text()

    def wait_says(self, text):
        wait_until(lambda: self.says(text), f"{text!r} in the log")


@pytest.fixture
def host(spawn, tmp_path):
    return Host(spawn, tmp_path)


@pytest.fixture
def port(ports):
    return ports.take()


def end(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(DEADLINE)


def test_one_that_is_loopback_here_is_told(host, port):
    host.knows("127.0.1.1 db1")
    process = host.start(f"1=db1:{port},2=192.0.2.2:7100,3=192.0.2.3:7100")
    host.wait_says("db1 is 127.0.1.1 on this machine (see /etc/hosts)")
    assert host.says(f"give --listen 0.0.0.0:{port}")
    host.wait_says("started, version")
    assert end(process) == 0


@pytest.mark.parametrize(
    ("peers", "flags"),
    [
        ("1=db1:{port},2=192.0.2.2:7100,3=192.0.2.3:7100", ["--listen", "127.0.0.1:{port}"]),
        ("1=localhost:{port},2=localhost:1,3=localhost:2", []),
        ("1=db1:{port}", []),
    ],
    ids=["listens elsewhere", "all are here", "alone"],
)
def test_nothing_is_told_where_nothing_is_wrong(host, port, peers, flags):
    host.knows("127.0.1.1 db1\n127.0.0.1 localhost")
    process = host.start(peers.format(port=port), *(flag.format(port=port) for flag in flags))
    host.wait_says("started, version")
    assert end(process) == 0
    assert not host.says("on this machine")


def test_one_that_does_not_resolve_yet_is_waited_for(host, port):
    process = host.start(f"1=db1:{port}")
    host.wait_says(f"cannot listen on db1:{port} yet")
    host.knows("127.0.0.1 db1")
    host.wait_says("db1 resolves now")
    host.wait_says("leader 1")
    assert end(process) == 0


def test_while_it_waits_it_ends_as_it_is_asked_to(host, port):
    process = host.start(f"1=db1:{port}")
    host.wait_says(f"cannot listen on db1:{port} yet")
    assert end(process) == 0
