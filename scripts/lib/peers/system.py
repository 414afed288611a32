"""The interface of a system in the bench of the field. Each system is one file beside this one."""

import atexit
import dataclasses
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

from harness.events import now_ns
from harness.net import PortHolder
from harness.node import die_with_parent
from peers.observer import Observer, ObserverError

MEMBERS = (1, 2, 3)
ALWAYS = ("first start", "crash", "hang", "handover")


@dataclasses.dataclass(frozen=True)
class Setting:
    """How a system is set. Those that are not `shipped` are tried in order, the tightest first."""

    label: str
    values: dict
    shipped: bool = False
    kinds: tuple = ALWAYS


class System:
    """Three members on this host. A subclass says how they start and what their lines mean."""

    name = ""
    package = ""  # Whose version is told.
    programs = ()
    needs_root = False
    settings = ()
    recipe = ""  # The program that says who leads.
    # The longest time that any change of leader may take.
    longest_s = 30.0

    def __init__(self, setting):
        self.setting = setting
        self.values = setting.values
        self.observer = Observer()
        self.processes = {}
        self.stopped = []
        self.departing = []
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bullring-peers-"))
        self.ports = PortHolder()
        atexit.register(self.close)

    @classmethod
    def missing(cls):
        """The programs and rights that it lacks; empty if it can be measured."""
        absent = [program for program in cls.programs if not _is_there(program)]
        if cls.needs_root and os.geteuid() != 0:
            absent.append("root, for network namespaces")
        return absent

    @classmethod
    def version(cls):
        shown = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", cls.package], capture_output=True, text=True
        )
        return shown.stdout if shown.returncode == 0 else "not from a package"

    # A subclass defines these.

    def start(self):
        """Starts all that there is; each member by start_member()."""
        for member in MEMBERS:
            self.start_member(member)

    def start_member(self, member):
        """Starts what of this member does not run."""
        raise NotImplementedError

    def leader_processes(self, member):
        """The processes that are killed or stopped with a member."""
        raise NotImplementedError

    def member_processes(self, member):
        """All processes of a member, for what it costs."""
        return self.leader_processes(member)

    def healthy(self):
        """Whether another member could take over now."""
        return True  # All processes run: that has been seen to.

    @property
    def period_s(self):
        """How often the leader renews: a round begins anywhere within."""
        return 0.1

    # The faults of a member. Each returns the instant just before.

    def kill(self, member):
        self.departing = self.leader_processes(member)
        at_ns = now_ns()
        for pid in self.departing:
            os.kill(pid, signal.SIGKILL)
        self.observer.forget(member)
        return at_ns

    def hang(self, member):
        self.stopped = self.leader_processes(member)
        at_ns = now_ns()
        for pid in self.stopped:
            os.kill(pid, signal.SIGSTOP)
        return at_ns

    def resume(self, member):
        at_ns = now_ns()
        for pid in self.stopped:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass  # It was ended while it hung, and has been reaped.
        return at_ns

    def two_lead_until(self, member, resumed_ns):
        """The instant at which the resumed member's claim has ended, or that of the other one."""
        self.observer.wait(lambda: len(self.observer.leading) < 2, "one leads", self.longest_s)
        return self.observer.said[-1].at_ns

    def claims(self, member):
        """Whether a member that hung still leads as far as it knows; not if it has been ended."""
        return member in self.observer.leading

    def hand_over(self, member):
        pid = self.leader_processes(member)[0]
        self.departing = [pid]
        at_ns = now_ns()
        os.kill(pid, signal.SIGTERM)
        return at_ns

    def await_exit(self, member):
        """Waits until the processes that were killed, or asked to go, have ended."""
        for process in self.processes.values():
            if process.pid in self.departing:
                process.wait(self.longest_s)
        self.departing = []

    # The same for all.

    def spawn(self, key, command, parse=None, member=None, errors=False, environment=None):
        """Starts a process; parse is asked about the lines of its output, or of its errors."""
        if self.running(key):
            return
        log = open(self.directory / f"{key}.log", "ab")
        with log:
            read = subprocess.PIPE if parse else log
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=log if errors else read,
                stderr=read if errors else log,
                env=environment,
                cwd=self.directory,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        if parse:
            self.observer.watch(process.stderr if errors else process.stdout, member, parse)
        self.processes[key] = process

    def running(self, key):
        process = self.processes.get(key)
        return process is not None and process.poll() is None

    def all_run(self):
        return all(process.poll() is None for process in self.processes.values())

    def revive(self):
        """Starts what was killed or has ended."""
        for member in MEMBERS:
            self.start_member(member)

    def settle(self):
        """Waits until one leads and the others could; returns it at a random phase."""
        limit = time.monotonic() + self.longest_s
        while True:
            if time.monotonic() > limit:
                raise ObserverError(f"not settled; {self.observer.leading} lead")
            self.revive()
            self.observer.pause(0.05)
            if len(self.observer.leading) == 1 and self.all_run() and self.healthy():
                said = len(self.observer.said)
                self.observer.pause(random.uniform(0.2, 0.2 + self.period_s))
                if len(self.observer.leading) == 1 and len(self.observer.said) == said:
                    return next(iter(self.observer.leading))

    def close(self):
        for process in self.processes.values():
            if process.poll() is None:
                self.end(process)
        for process in self.processes.values():
            process.wait()
        self.processes.clear()
        self.observer.close()
        self.ports.release()
        atexit.unregister(self.close)
        shutil.rmtree(self.directory, ignore_errors=True)

    def end(self, process):
        process.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def children(pid):
    """The processes that a process with one thread, or its first one, has started."""
    listed = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]


def _is_there(program):
    return os.path.exists(program) if program.startswith("/") else shutil.which(program)
