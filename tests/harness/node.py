"""One member of a cluster: its process in each of its incarnations, and what can be done to it."""

import ctypes
import os
import pathlib
import re
import signal
import subprocess

from harness.events import EventFile, now_ns
from harness.safety import ProductFault
from harness.task import stopped
from harness.waiting import DEADLINE

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where Python finds this package, those of the scripts, and `bullring`: as scripts/lib/common.sh.
PYTHON_PATH = os.pathsep.join(str(ROOT / name) for name in ("scripts/lib", "tests", "src/python"))
_CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV}
_REPORT = re.compile(r"^.*(?:Sanitizer|runtime error: |terminate called|assertion).*$", re.M)
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


class ClusterError(Exception):
    """An awaited event did not come, or a node ended by itself."""


def find_program():
    """The program that ctest names by BULLRING_BIN, else the release program that scripts/build
    leaves.
    """
    program = pathlib.Path(os.environ.get("BULLRING_BIN", ROOT / "build" / "bullring"))
    if not os.access(program, os.X_OK):
        raise ClusterError(f"no program at {program}: run scripts/build or set BULLRING_BIN")
    return str(program.resolve())


def python_environment():
    """In which another Python finds what this one does."""
    return {**os.environ, "PYTHONPATH": PYTHON_PATH}


def clean_environment():
    """The caller's environment without what would configure a node."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("BULLRING_") and key != "STATE_DIRECTORY"
    }


def last_of_each(flags):
    """The flags with their values; of one that is given twice, the last."""
    chosen = {}
    for word in flags:
        if word.startswith("--"):
            name = word
            chosen[name] = [name]
        else:
            chosen[name].append(word)
    return [word for words in chosen.values() for word in words]


def die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Incarnation:
    """One run of one node: its process, its files, and what was done to it."""

    def __init__(self, process, started_ns, events_path, log_path, out_path):
        self.process = process
        self.stream = EventFile(events_path)
        self.log_path = log_path
        self.out_path = out_path
        self.started_ns = started_ns  # just before
        self.stopped_ns = None
        self.expected_to_run = True
        self.ended_by = None  # the signal that was sent to end it

    def log(self):
        return self.log_path.read_text(errors="replace")

    def fault(self):
        """The fault of the program, by the way in which it ended; None if there is none."""
        if report := _REPORT.search(self.log()):
            return report[0]
        crashed = self.process.poll() in _CRASHES
        if crashed and self.ended_by != -self.process.returncode:
            return f"it was ended by {signal.Signals(-self.process.returncode).name}"
        return None


class Node:
    """One member of a cluster, through all its incarnations."""

    def __init__(self, cluster, node_id, host, port):
        self.cluster = cluster
        self.id = node_id
        self.host = host
        self.port = port
        self.incarnations = []
        self.flags = []
        self.program = None  # in place of the cluster's
        self.task = None  # a command for `bullring run`
        self.held = None  # addresses and their flags for `bullring address`; neither: `node`
        self.peers = None
        self.join = None  # addresses that it asks to be added, in place of a peer list
        self.prefix = []
        self.environment = {}  # beside the cluster's
        self.data_dir = cluster.directory / f"node-{node_id}"

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    @property
    def current(self):
        return self.incarnations[-1] if self.incarnations else None

    @property
    def running(self):
        """Whether there is a process, be it stopped by SIGSTOP."""
        return self.current is not None and self.current.process.poll() is None

    @property
    def acting(self):
        return self.running and self.current.stopped_ns is None

    @property
    def leads(self):
        return self.acting and self.current.stream.role == "leader"

    @property
    def view(self):
        """(leader, epoch) as this node last told; (None, …) when it does not run."""
        if not self.acting:
            return (None, None)
        return (self.current.stream.leader, self.current.stream.epoch)

    def command(self, extra=()):
        if self.join:
            members = ["--join", ",".join(self.join), "--listen", self.address]
        else:
            members = ["--peers", self.peers or self.cluster.peers]
        flags = [
            "--id",
            str(self.id),
            *members,
            "--algorithm",
            self.cluster.algorithm,
            "--profile",
            self.cluster.profile,
            "--cluster",
            self.cluster.name,
            "--data-dir",
            str(self.data_dir),
            "--events",
            f"{self.data_dir}.{len(self.incarnations)}.events",
        ]
        chosen = last_of_each([*flags, *self.cluster.flags, *self.flags, *extra])
        program = self.program or self.cluster.program
        if self.held is not None:
            return [*self.prefix, program, "address", *chosen, *self.held]
        if self.task is None:
            return [*self.prefix, program, "node", *chosen]
        return [*self.prefix, program, "run", *chosen, "--", *self.task]

    def start(self, extra=()):
        if self.running and self.current.ended_by == signal.SIGKILL:
            # The others may have learnt of its end before it is all over.
            self.current.process.wait(DEADLINE)
        if self.running:
            raise ClusterError(f"node {self.id} runs already")
        command = self.command(extra)
        serial = len(self.incarnations)
        base = f"{self.data_dir}.{serial}"
        log_path, out_path = pathlib.Path(base + ".log"), pathlib.Path(base + ".out")
        started_ns = now_ns()
        with open(log_path, "wb") as log, open(out_path, "wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env=self.cluster.environment | self.environment,
                start_new_session=True,
                preexec_fn=None if self.cluster.kept else die_with_parent,
            )
        self.incarnations.append(
            Incarnation(process, started_ns, base + ".events", log_path, out_path)
        )
        return self

    def end_by(self, number):
        """A signal that ends it; returns the clock just before the signal."""
        self.current.expected_to_run = False
        self.current.ended_by = number
        at_ns = now_ns()
        self.current.process.send_signal(number)
        return at_ns

    def kill(self):
        """kill -9; returns the clock just before the signal."""
        return self.end_by(signal.SIGKILL)

    def crash(self):
        """kill -9, and waits until it has ended; returns the clock just before the signal."""
        at_ns = self.kill()
        self.wait_exit()
        return at_ns

    def stop(self):
        """SIGTERM, and waits until it has ended; returns its exit status."""
        self.terminate()
        return self.wait_exit()

    def hang(self):
        """SIGSTOP; returns the clock just before the signal."""
        self.current.stopped_ns = now_ns()
        self.current.process.send_signal(signal.SIGSTOP)
        return self.current.stopped_ns

    def hang_for_good(self):
        """SIGSTOP of one that is killed for it; returns the clock just before the signal."""
        self.current.expected_to_run = False
        return self.hang()

    def resume(self):
        """SIGCONT; returns the clock just before the signal."""
        at_ns = now_ns()
        self.current.stopped_ns = None
        self.current.process.send_signal(signal.SIGCONT)
        return at_ns

    def terminate(self):
        """SIGTERM; returns the clock just before the signal."""
        return self.end_by(signal.SIGTERM)

    def wait_exit(self, deadline=DEADLINE):
        """The exit status of the current incarnation, which is awaited."""
        try:
            status = self.current.process.wait(deadline)
        except subprocess.TimeoutExpired:
            late = f"node {self.id} did not end within {deadline} s"
            # One that is stopped and whose lease is over is left alone: that is right.
            stands = stopped(self.current.process.pid)
            raise (ClusterError if stands else ProductFault)(late) from None
        self.cluster.poll()
        self.current.stream.close()
        return status

    def ends_within(self, seconds):
        """Whether the current incarnation has ended by then."""
        try:
            self.current.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def restart(self, extra=()):
        self.wait_exit()
        return self.start(extra)
