"""The load while the bench of HTTP kills leaders, by h2load and stream_reader.py; and the loads in
its place.

Every process of it logs to memory (/dev/shm), and nothing reads the logs before a block is over.
"""

import dataclasses
import itertools
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness.node import ClusterError, clean_environment, die_with_parent
from harness.waiting import DEADLINE, wait_until

PROGRAMS = {"h2load": "h2load", "haproxy": "/usr/sbin/haproxy"}
# For who reads streams: it runs when no node wants the core, as on another machine. It would else
# take its end of a killed node's streams before the others have elected the next one.
WHEN_IDLE = ("chrt", "--idle", "0")
CONNECTIONS = 4  # of h2load to each target; kept alive, as those of a load balancer
STREAMS = 16  # at each node, which takes no more
# A server of one thread that answers from memory, as a node's endpoint does.
OTHER_SERVER = """
global
    nbthread 1
defaults
    mode http
    timeout client 60s
frontend other
    bind 127.0.0.1:{port}
    http-request return status 200 content-type application/json string '{body}'
"""
# As long as a node's answer.
OTHER_BODY = '{"id":3,"leader":3,"epoch":7,"advertised":"","lease_left_ms":412}'


def check_programs():
    missing = [name for name, program in PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        raise ClusterError(f"not installed: {', '.join(missing)}; scripts/setup --bench")


@dataclasses.dataclass(frozen=True)
class Request:
    """One line of h2load's log."""

    sent_ns: int  # by the wall clock
    status: int  # -1: no answer
    took_ns: int


class Place:
    """Where the logs are."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="bullring-bench-", dir="/dev/shm")
        self._serial = itertools.count()

    def new(self, name):
        return pathlib.Path(self.directory.name) / f"{next(self._serial)}.{name}"

    def close(self):
        self.directory.cleanup()


def _start(command, out):
    with open(out, "wb") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=clean_environment(),
            start_new_session=True,
            preexec_fn=die_with_parent,
        )


def _end(process):
    process.kill()
    process.wait()


class Generator:
    """h2load, which asks one port for /leader at a steady rate until it is closed."""

    def __init__(self, place, port, rate):
        self._log = place.new("requests")
        self._out = place.new("h2load")
        self._process = _start(
            [
                *(PROGRAMS["h2load"], "--h1", "--clients", str(CONNECTIONS)),
                *("--rps", f"{rate / CONNECTIONS:.2f}", "--duration", "1h"),
                *("--log-file", str(self._log), f"http://127.0.0.1:{port}/leader"),
            ],
            self._out,
        )

    def asks(self):
        """Whether it has had answers."""
        if self._process.poll() is not None:
            raise ClusterError(f"h2load has ended:\n{self._out.read_text()}")
        return self._log.exists() and self._log.stat().st_size > 0

    def close(self):
        _end(self._process)

    @staticmethod
    def events():
        return 0

    def requests(self):
        """All that were done, once it is closed."""
        for line in self._log.read_text().splitlines():
            sent_us, status, took_us = map(int, line.split("\t"))
            yield Request(sent_us * 1000, status, took_us * 1000)


class Streams:
    """stream_reader.py, which reads as many event streams of one node as it gives."""

    def __init__(self, place, port):
        self._out = place.new("events")
        reader = pathlib.Path(__file__).with_name("stream_reader.py")
        command = [*WHEN_IDLE, sys.executable, str(reader), str(port), str(STREAMS)]
        self._process = _start(command, self._out)

    def asks(self):
        """Whether each stream has told its first event."""
        if self._process.poll() is not None:
            raise ClusterError(f"stream_reader.py has ended:\n{self._out.read_text()[-2000:]}")
        return self.events() >= STREAMS

    def close(self):
        _end(self._process)

    def events(self):
        return self._out.read_bytes().count(b"event: leader\n")


class OtherServer:
    """haproxy, which answers by itself: it stands for a server that is no node."""

    def __init__(self, place, port):
        self.port = port
        configuration = place.new("cfg")
        configuration.write_text(OTHER_SERVER.format(port=port, body=OTHER_BODY))
        self._process = _start(
            [PROGRAMS["haproxy"], "-db", "-q", "-f", str(configuration)], place.new("haproxy")
        )

    def close(self):
        _end(self._process)


def wait_until_all_ask(askers):
    def all_ask():
        return all(one.asks() for one in askers)

    wait_until(
        all_ask, "answers to h2load and stream_reader.py", DEADLINE, every=0.005, error=ClusterError
    )
