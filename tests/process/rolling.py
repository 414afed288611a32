"""A cluster whose nodes are restarted one after the other as another version, beside clients that
ask all the time; and how that is judged.
"""

import contextlib
import json
import threading

from harness.http import ask
from harness.waiting import wait_until

# A leader is not replaced because the machine is busy, and a better node waits for its turn.
FLAGS = ["--lease", "5s", "--no-preempt"]


class Clients:
    """Ask a cluster without a pause: status and watch by each program, and HTTP of each node."""

    def __init__(self, cluster, spawn, programs):
        self.cluster = cluster
        self.programs = programs
        self.ended = threading.Event()
        self.wrong = []
        self.asked = {}
        loops = [(f"status {program}", self._status, program) for program in programs]
        loops += [(f"http {node.id}", self._http, node) for node in cluster]
        self.threads = [
            threading.Thread(target=self._ask_on, args=loop, daemon=True) for loop in loops
        ]
        words = ["watch", "--peers", cluster.peers, "--cluster", cluster.name]
        for number, program in enumerate(programs):
            with open(cluster.directory / f"watch-{number}", "wb") as out:
                spawn([program, *words], stdout=out, stderr=out, env=cluster.environment)

    def _ask_on(self, what, question, of):
        self.asked[what] = 0
        try:
            while not self.ended.wait(0.05):
                self.asked[what] += question(of)
        except Exception as error:  # is told by the test's own thread
            self.wrong.append(f"{what}: {error!r}")

    def _status(self, program):
        """A majority is always there, so there is always an answer, if not always a leader."""
        done = self.cluster.command("status", "--json", program=program)
        nodes = json.loads(done.stdout)["nodes"]
        assert done.returncode in (0, 1), done.stderr
        assert sum(node["reachable"] for node in nodes) >= self.cluster.quorum, done.stdout
        return 1

    def _http(self, node):
        with contextlib.suppress(OSError):
            assert ask(node.http, "/leader").status in (200, 503)
            return 1
        return 0  # it is being restarted

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        if kind is not None:
            return
        assert not self.wrong, self.wrong
        assert len(self.asked) == len(self.threads) and all(self.asked.values()), self.asked
        leader, epoch = self.cluster.leader().view
        for number in range(len(self.programs)):
            told = self.cluster.directory / f"watch-{number}"
            wait_until(
                lambda told=told: _last(told) == (leader, epoch),
                lambda told=told: f"watch tells of {leader} and {epoch}: {told.read_text()}",
            )


def _last(path):
    """The last line of a watch, read."""
    lines = path.read_text().split("\n")[:-1]
    told = json.loads(lines[-1]) if lines else {}
    return told.get("leader"), told.get("epoch")


class Rolling:
    """Restarts nodes; the leadership changes only when its own node is restarted."""

    def __init__(self, cluster, ports, highest):
        self.cluster = cluster
        self.highest = highest  # of a node, what it speaks at most
        self.changes = 0
        for node in cluster:
            node.http = ports.take()
            node.flags = [*node.flags, "--http", f"127.0.0.1:{node.http}"]

    def restart_all(self, change):
        """change(node) before each start."""
        for node in self.cluster:
            before = self.cluster.leader().view
            self.changes += node.leads
            kept = not node.leads
            assert node.stop() == 0
            change(node)
            node.start()
            leader = self.cluster.wait_settled()
            assert not kept or leader.view == before
            self.check_versions()

    def check_versions(self):
        """Each pair speaks the highest version that both know, and both say so."""

        def as_expected():
            told = {node["id"]: node for node in self.cluster.status()["nodes"]}
            return all(self._is_told(node, told[node.id]) for node in self.cluster)

        wait_until(as_expected, lambda: f"the versions that are spoken: {self.cluster.status()}")

    def _is_told(self, node, told):
        mine = self.highest(node)
        if told["wire"] != mine:
            return False
        if node.program is not None:
            return True  # it knows nothing of versions to be told
        return told["wire_with"] == {
            str(peer.id): min(mine, self.highest(peer)) for peer in self.cluster if peer is not node
        }

    def check_leaderships(self):
        """One from the beginning, and one for each leader that was restarted."""
        held = self.cluster.check_intervals()
        assert len(held) == 1 + self.changes, held
        assert all(one.reason == "stopped" for one in held[:-1]), held
