"""Processes that lead through the nodes (bullring-attach(7)), and faults of them and of what ties
them to their node. They work by every instant that their page gives them, and their own logs are
judged: never two at one time, and epochs rise.
"""

import os
import pathlib
import signal
import time

from harness.events import now_ns
from harness.safety import SafetyViolation
from harness.task import alive, stopped
from harness.worker import Worker, check_intervals
from chaos.fault import OnOneNode, kinds
from chaos.processes import Kill
from chaos.shim import BOOTTIME

PAUSE_S = 0.002
STALL_AFTER_S = 0.15
AGAIN_S = 0.1


class Crew:
    """One process beside each node that has been started, on its clocks. Every other one asks to be
    watched, so that the leadership is taken from it when it is stopped; and of each of the two
    sorts every other one to be killed with its node, whose lease is not waited for then."""

    def __init__(self, stage):
        self.stage = stage
        self.workers = {}
        self.ended_at = {}

    def mend(self):
        """Starts what has ended, whoever ended it."""
        now = time.monotonic()
        for node in self.stage.cluster:
            worker = self.workers.get(node.id)
            if worker is None and node.running:
                self.workers[node.id] = self._worker(node).start()
            elif worker is not None and not worker.running:
                if now >= self.ended_at.setdefault(node.id, now) + AGAIN_S:
                    del self.ended_at[node.id]
                    worker.bury()
                    worker.start()

    def _worker(self, node):
        page = self.stage.pages[node.id]
        return Worker(
            node,
            stall_after=STALL_AFTER_S if (self.stage.number + node.id) % 2 else 0,
            on_loss="kill" if (self.stage.number + node.id) % 4 < 2 else "tell",
            pause=PAUSE_S,
            environment=page.environment(self.stage.world.shim),
        )

    def of(self, node):
        """The one beside it that runs, or None."""
        worker = self.workers.get(node.id)
        return worker if worker and worker.running else None

    def works(self, node, epoch):
        worker = self.of(node)
        return worker is not None and worker.leads and worker.stream.epoch == epoch

    def judge(self):
        """At the end. Returns what is wrong."""
        for worker in self.workers.values():
            worker.kill()
            worker.bury()
        cluster = self.stage.cluster
        logs = []
        for node_id, worker in self.workers.items():
            logs.append(worker.events_path.with_suffix(".true"))
            self.stage.pages[node_id].true_stream(worker.events_path, logs[-1])
        try:
            check_intervals(cluster.program, logs, cluster.environment)
        except SafetyViolation as violation:
            return [str(violation)]
        return []

    def close(self):
        for worker in self.workers.values():
            worker.close()


class OnClient(OnOneNode):
    """Mostly of the one that leads."""

    claims = ("client",)

    def suits(self, node):
        worker = self.stage.crew.of(node)
        return worker is not None and (worker.leads or self.drawn.chances[0] > 0.8)

    def strike(self):
        self.worker = self.stage.crew.of(self.node)
        self.process = self.worker.process
        self.hit()
        return True


@kinds("client-kill")
class ClientKilled(OnClient):
    def hit(self):
        self.worker.kill()

    def undo(self):
        return self.process.poll() is not None


@kinds("client-stop")
class ClientStopped(OnClient):
    def hit(self):
        self.worker.signal(signal.SIGSTOP)

    def undo(self):
        stood = stopped(self.process.pid)
        self.worker.signal(signal.SIGCONT)
        return stood


@kinds("client-fork")
class ClientForks(OnClient):
    """Its child keeps the connection until it is all over."""

    def hit(self):
        self.before = len(self.worker.stream.of("forked"))
        self.worker.signal(signal.SIGUSR1)

    def undo(self):
        self.worker.stream.poll()
        children = [line["child"] for line in self.worker.stream.of("forked")[self.before :]]
        held = [child for child in children if alive(child)]
        for child in held:
            os.kill(child, signal.SIGKILL)
        return bool(held)


@kinds("socket-removed")
class SocketRemoved(OnOneNode):
    """Seen is that it is there again; the node looks after a second."""

    claims = ("socket",)

    def suits(self, node):
        return node.running and self.path_of(node).exists()

    @staticmethod
    def path_of(node):
        return pathlib.Path(node.data_dir) / "attach.sock"

    def strike(self):
        self.path_of(self.node).unlink()
        return True

    def undo(self):
        return self.path_of(self.node).exists()


@kinds("node-kill-under-client")
class NodeKilled(Kill):
    """Seen is that the one that leads through it led on."""

    claims = ("process", "client")

    def suits(self, node):
        worker = self.stage.crew.of(node)
        return super().suits(node) and worker is not None and worker.leads

    def targets(self):
        return [self.node.current.process.pid]

    def strike(self):
        self.killed_ns = self.stage.pages[self.node.id].lines[BOOTTIME].shown(now_ns())
        return super().strike()

    def undo(self):
        _, led_ns = self.stage.crew.workers[self.node.id].shown()
        return super().undo() and led_ns > self.killed_ns
