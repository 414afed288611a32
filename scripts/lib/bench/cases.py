"""The bench's faults, and how each of them is timed.

All times are differences of CLOCK_BOOTTIME: a signal's, read just before it is sent, and those of
the nodes' own event streams. Nothing here reads a file while an election runs: on two cores that
would be measured, too.
"""

import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

from harness.cluster import Cluster, now_ns
from harness.node import ROOT, ClusterError
from harness.profiles import PROFILES

# The longest election of this case, during which no file is read; far above any measured crash.
UNDISTURBED_S = 0.004
# The same for the start of all nodes and their first election.
STARTS_S = 0.1
# A leader that hangs is killed before another is elected, unless its lease is over first.
KILLED_LATE_S = 1.0


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    algorithm: str
    nodes: int
    profile: str
    rounds: int
    loaded: bool = False

    @property
    def name(self):
        load = ", loaded" if self.loaded else ""
        return f"{self.kind} {self.algorithm} {self.nodes} {self.profile}{load}"

    @property
    def seconds(self):
        """An estimate of how long it takes, from what was measured on two busy cores."""
        promise = PROFILES[self.profile].promise_s
        start = promise + 0.2
        each = {
            "crash": 0.3,
            "hang": 0.5,
            "handover": 0.12,
            "cold start": 0.3,
            "first start": 0.3,
            "voter restart": 0.3,
            "rolling restart": 0.3 * self.nodes,
        }[self.kind]
        return start + self.rounds * each * (1.1 if self.loaded else 1.0)


def find_floor():
    usual = ROOT / "build" / "tests" / "bench" / "bullring_floor"
    floor = pathlib.Path(os.environ.get("BULLRING_FLOOR", usual))
    if not os.access(floor, os.X_OK):
        raise ClusterError(f"no program at {floor}: build the target bullring_floor")
    return str(floor)


class Floor:
    """The bare processes of tests/bench/floor.cpp, one round at a time; all vote unless told."""

    def __init__(self, nodes, program, voters=None):
        self.process = subprocess.Popen(
            [program, str(nodes), str(voters or nodes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def round_ns(self):
        self.process.stdin.write("round\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise OSError("the floor's process ended")
        return int(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Load:
    """Keeps every core busy."""

    def __init__(self):
        if shutil.which("stress-ng") is None:
            raise OSError("stress-ng is not installed: scripts/setup --bench")
        self.process = subprocess.Popen(
            ["stress-ng", "--quiet", "--cpu", str(os.cpu_count())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def close(self):
        self.process.terminate()
        self.process.wait()


def at_random_phase():
    """Waits for some time of the heartbeats, of which a fault must know nothing."""
    time.sleep(random.uniform(0.02, 0.12))  # pause: the phase is part of what is measured


def crash(leader):
    """Kills the leader: the clock just before, and the next one's event."""
    killed_ns = leader.kill()
    time.sleep(UNDISTURBED_S)  # pause: nothing may run beside the election
    return killed_ns, leader.cluster.wait_elected(killed_ns)


def crash_ns(leader):
    """Kills the leader; until the line of the next one."""
    killed_ns, elected = crash(leader)
    return elected["ts_ns"] - killed_ns


class Runner:
    """Runs one case on one cluster: samples in ns, the floor's beside a crash's."""

    def __init__(self, case, floor_program):
        self.case = case
        self.floor_program = floor_program
        self.cluster = Cluster(case.nodes, case.algorithm, case.profile, label="bench")
        self.samples = []
        self.floor = []
        self.notes = []

    def run(self):
        load = Load() if self.case.loaded else None
        floor = Floor(self.case.nodes, self.floor_program) if self.case.kind == "crash" else None
        failed = True
        try:
            self.cluster.start()
            self.cluster.wait_settled()
            for _ in range(self.case.rounds):
                if floor is not None:
                    self.floor.append(floor.round_ns())
                getattr(self, self.case.kind.replace(" ", "_"))()
            self.leaderships = len(self.cluster.check_intervals())
            failed = False
        finally:
            for part in (load, floor):
                if part is not None:
                    part.close()
            self.cluster.close(keep_files=failed)
            if failed:
                print(f"logs and event streams are kept in {self.cluster.directory}")
        return self

    def _settled_leader(self):
        """The leader, at a random phase of the heartbeats."""
        self.cluster.wait_settled()
        at_random_phase()
        self.cluster.poll()
        return self.cluster.leader() or self.cluster.wait_settled()

    def crash(self):
        leader = self._settled_leader()
        self.samples.append(crash_ns(leader))
        leader.restart()

    def hang(self):
        leader = self._settled_leader()
        hung_ns = leader.hang_for_good()
        self.samples.append(self.cluster.wait_elected(hung_ns)["ts_ns"] - hung_ns)
        if not leader.ends_within(KILLED_LATE_S):
            # The host kept the keeper waiting, too, until the lease was over: no leader any more.
            self.notes.append(f"node {leader.id} lost its lease before it was killed")
            leader.kill()
        leader.restart()

    def handover(self):
        leader = self._settled_leader()
        asked_ns = now_ns()
        done = self.cluster.command("resign")
        if done.returncode != 0:
            self.notes.append(f"resign: {done.stderr.strip()}")
            return
        elected = self.cluster.wait_elected(asked_ns)
        self.cluster.wait_leader()
        deposed = leader.current.stream.of("deposed")[-1]
        self.samples.append(elected["ts_ns"] - deposed["held_until_ns"])

    def _start_all(self):
        began_ns = now_ns()
        for node in self.cluster:
            node.start()
        time.sleep(STARTS_S)
        elected = self.cluster.wait_elected(began_ns)
        # A node listens before it says that it has started.
        last_ns = max(_started_ns(node) for node in self.cluster)
        self.samples.append(elected["ts_ns"] - last_ns)
        if elected["node"] != max(self.cluster.nodes):
            self.notes.append(f"not the highest: node {elected['node']} leads first")
        self.cluster.wait_settled()

    def _stop_all(self):
        for node in self.cluster:
            node.terminate()
        for node in self.cluster:
            node.wait_exit()

    def cold_start(self):
        self._stop_all()
        self._start_all()

    def first_start(self):
        self._stop_all()
        for node in self.cluster:
            shutil.rmtree(node.data_dir)
        self._start_all()

    def voter_restart(self):
        leader = self._settled_leader()
        voter = random.choice([node for node in self.cluster if node is not leader])
        voter.kill()
        voter.wait_exit()
        trace = pathlib.Path(f"{voter.data_dir}.{len(voter.incarnations)}.trace")
        voter.flags = ["--trace", str(trace)]
        voter.start()
        granted_ns = self.cluster.wait_for(lambda: _first_grant_ns(trace), "it votes again")
        self.samples.append(granted_ns - _started_ns(voter))

    def rolling_restart(self):
        leader = self._settled_leader()
        before = len(self.cluster.check_intervals())
        for node in [*(node for node in self.cluster if node is not leader), leader]:
            node.terminate()
            node.wait_exit()
            node.start()
            self.cluster.wait_settled()
        held = self.cluster.check_intervals()[before - 1 :]
        self.samples.append(sum(b.start_ns - a.end_ns for a, b in zip(held, held[1:])))


def _started_ns(node):
    return node.current.stream.of("started")[0]["ts_ns"]


def _first_grant_ns(trace):
    for line in trace.read_text().splitlines(keepends=True) if trace.exists() else ():
        if '"GRANT"' in line and '"send"' in line and line.endswith("\n"):
            return json.loads(line)["ts_ns"]
    return None
