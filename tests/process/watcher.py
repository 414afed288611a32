"""`bullring watch` beside a cluster, for tests of real processes."""

import json
import queue
import subprocess
import threading

from harness.waiting import DEADLINE


class Watcher:
    """A `bullring watch` whose lines are read as they come."""

    def __init__(self, spawn, cluster, peers=None, *flags, stderr=subprocess.DEVNULL, prefix=()):
        self.process = spawn(
            [
                *prefix,
                cluster.program,
                "watch",
                "--peers",
                peers or cluster.peers,
                "--cluster",
                cluster.name,
                *flags,
            ],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=cluster.environment,
        )
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def until(self, condition):
        """Reads lines until one fulfils the condition; returns it."""
        while True:
            line = self.lines.get(timeout=DEADLINE)
            if line is None:
                raise AssertionError("the watcher ended")
            self.seen.append(line)
            if condition(line):
                return line
