"""Faults of processes: they end, stand still, or get no time.

Of the three processes that watch over a command (src/task/supervisor/README.md) one or two are
struck at a time, never all three: against that only fencing helps, and nothing is promised.
"""

import os
import signal

from harness.events import now_ns
from harness.task import Family, child_named, signal_all, stopped
from chaos.fault import OnOneNode, kinds


class OnProcesses(OnOneNode):
    def targets(self):
        """Some of the node's processes; the node is among them three times of four."""
        node = self.node.current.process.pid
        draw = self.drawn.chances[0]
        if self.node.task is None:
            keeper = child_named(node, "bullring-keeper")
            return [node, keeper] if keeper and draw < 0.2 else [node]
        family = Family(self.node)
        choice = [family.node]
        if draw < 0.12:
            choice = [family.guard]
        elif draw < 0.24:
            choice = [family.shield]
        elif draw < 0.4:
            choice = [family.guard, family.node]
        found = [pid for pid in choice if pid]
        return found or [node]

    @property
    def strikes_node(self):
        return self.node.current.process.pid in self.pids


@kinds("kill")
class Kill(OnProcesses):
    def strike(self):
        self.pids = self.targets()
        self.handles = [os.pidfd_open(pid) for pid in self.pids if os.path.exists(f"/proc/{pid}")]
        if self.strikes_node:
            self.stage.keep_down(self.node)
        signal_all(self.pids)
        return bool(self.handles)

    def undo(self):
        gone = [self.stage.has_ended(handle) for handle in self.handles]
        for handle in self.handles:
            os.close(handle)
        self.stage.let_up(self.node)
        return any(gone)


@kinds("terminate")
class Terminate(OnOneNode):
    """SIGTERM, and a start afterwards: it hands over."""

    def strike(self):
        self.process = self.node.current.process
        self.stage.keep_down(self.node)
        self.node.terminate()
        return True

    def undo(self):
        self.stage.let_up(self.node)
        return self.process.poll() is not None


class StandStill(OnProcesses):
    """Stands still for a while. A leader that does is killed for it by its keeper."""

    def strike(self):
        self.pids = self.targets()
        self.incarnation = self.node.current
        if self.strikes_node:
            self.incarnation.stopped_ns = now_ns()
        return self.hold()

    def undo(self):
        struck = self.let_go()
        self.incarnation.stopped_ns = None
        return struck


@kinds("stop")
class Stop(StandStill):
    def hold(self):
        signal_all(self.pids, signal.SIGSTOP)
        self.seen = any(stopped(pid) or not os.path.exists(f"/proc/{pid}") for pid in self.pids)
        return True

    def let_go(self):
        # It stands, or stood until it was killed for that.
        seen = self.seen or any(stopped(pid) for pid in self.pids)
        signal_all(self.pids, signal.SIGCONT)
        return seen


@kinds("freeze")
class Freeze(StandStill):
    """By the freezer, of which a process knows nothing; with cgroup v1 it can't even be killed."""

    def hold(self):
        self.group = self.stage.groups.make("freezer", self.node.id)
        for pid in self.pids:
            self.group.move(pid)
        self.group.freeze()
        return True

    def let_go(self):
        frozen = self.group.thaw()
        return self.group.let_go() > 0 and frozen


@kinds("quota")
class Quota(OnProcesses):
    """A millisecond of a processor in each tenth to half of a second."""

    def strike(self):
        self.group = self.stage.groups.make("cpu", self.node.id)
        self.period_us = int(self.between(1, 100, 500)) * 1000
        self.group.limit(1000, self.period_us)
        self.before = self.group.throttled()
        self.group.move(self.node.current.process.pid)
        return True

    def undo(self):
        struck = self.group.throttled() > self.before
        self.group.limit(None, self.period_us)
        self.group.let_go()
        return struck
