"""How long no command runs when a leader under `bullring run` ends, for each way of ending."""

import dataclasses
import pathlib
import signal

from bench.cases import at_random_phase
from harness.cluster import Cluster, now_ns
from harness.node import ROOT
from harness.task import Family, signal_all

COMMAND = ROOT / "build" / "tests" / "bench" / "bullring_gap_command"
# A command that ends by itself is started again soon: what is measured is the handover.
FLAGS = ["--restart-delay", "50ms"]
# Each early end doubles the time for which its node stands back. After so many a new cluster is
# begun, or all nodes would stand back at once, and that would be measured.
FAILURES_OF_A_CLUSTER = 6


def _node_killed(cluster, leader, family):
    return leader.kill()


def _node_stopped(cluster, leader, family):
    return leader.hang_for_good()


def _guard_killed(cluster, leader, family):
    at_ns = now_ns()
    signal_all([family.guard])
    return at_ns


def _both_killed(cluster, leader, family):
    leader.current.expected_to_run = False
    at_ns = now_ns()
    signal_all([family.guard, family.node])
    return at_ns


def _terminated(cluster, leader, family):
    return leader.terminate()


def _resigned(cluster, leader, family):
    at_ns = now_ns()
    cluster.command("resign")
    return at_ns


def _ends(cluster, leader, family):
    at_ns = now_ns()
    signal_all([family.command], signal.SIGUSR1)
    return at_ns


WAYS = {
    "resign": _resigned,
    "sigterm": _terminated,
    "command ends": _ends,
    "node killed": _node_killed,
    "guard killed": _guard_killed,
    "both killed": _both_killed,
    "node stopped": _node_stopped,
}


@dataclasses.dataclass(frozen=True)
class Gap:
    way: str
    algorithm: str
    nodes: int
    profile: str
    rounds: int

    @property
    def name(self):
        return f"gap {self.way} {self.algorithm} {self.nodes} {self.profile}"

    @property
    def seconds(self):
        # A node that was restarted is silent for its longest promise, also when the next round is
        # to begin; after the last round nothing is waited for.
        silent = {"sigterm": 2.8, "node killed": 3.7, "both killed": 4.0, "node stopped": 3.8}
        late = 2.7 if self.way == "both killed" else 0
        clusters = len(list(self._shares()))
        return clusters * (2.8 + late) + (self.rounds - clusters) * silent.get(self.way, 0.2)

    def run(self):
        """The gaps in ns: from the old command's last instant to the new one's first."""
        return [gap for rounds in self._shares() for gap in self._run_cluster(rounds)]

    def _shares(self):
        """The rounds of each cluster."""
        fails = self.way in ("command ends", "guard killed")
        most = FAILURES_OF_A_CLUSTER if fails else self.rounds
        for first in range(0, self.rounds, most):
            yield min(most, self.rounds - first)

    def _run_cluster(self, rounds):
        gaps = []
        with Cluster(
            self.nodes, self.algorithm, self.profile, flags=FLAGS, label="bench"
        ) as cluster:
            file = pathlib.Path(cluster.directory) / "commands"
            file.touch()
            for node in cluster:
                node.task = [str(COMMAND), str(file)]
            cluster.start()
            for _ in range(rounds):
                leader = cluster.wait_settled()
                cluster.wait_for(lambda leader=leader: Family(leader).complete, "the command")
                at_random_phase()
                before = len(self._times(file, "begin"))
                ends = len(self._times(file, "end"))
                at_ns = WAYS[self.way](cluster, leader, Family(leader))
                cluster.wait_for(
                    lambda before=before: len(self._times(file, "begin")) > before, "the next"
                )
                ended = self._times(file, "end")[ends:]
                # Killed commands write no end: the signal was theirs, or came right after it.
                gaps.append(self._times(file, "begin")[before] - (ended[0] if ended else at_ns))
                if not leader.current.expected_to_run:
                    leader.restart()
        return gaps

    @staticmethod
    def _times(file, kind):
        lines = [line.split() for line in file.read_text().splitlines()]
        return [int(line[1]) for line in lines if line[0] == kind]
