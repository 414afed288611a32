"""Measures a cluster while nothing happens: its cost, and whether it stays calm."""

import dataclasses
import os
import pathlib
import re
import subprocess
import tempfile
import time

from bench.cases import Load
from harness.cluster import Cluster
from harness.net import PortHolder
from harness.node import ROOT

# An IPv4 header, a TCP header and its timestamps.
HEADER_BYTES = 52
_COUNTED = re.compile(r"\b(bytes_sent|segs_out|data_segs_out):(\d+)")


class StepCost:
    """The cost of one step, and the speed of the simulator; no cluster runs."""

    name = "step cost"
    seconds = 10

    def run(self):
        programs = ROOT / "build" / "tests" / "bench"

        def output(name, *words):
            command = [programs / name, *words]
            return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

        with tempfile.TemporaryDirectory(prefix="bullring-bench-") as place:
            valid = output("bullring_valid_cost", str(PortHolder().take()), place)
        return output("bullring_step_cost") + valid


@dataclasses.dataclass(frozen=True)
class Idle:
    """CPU, memory and traffic of one node."""

    algorithm: str
    nodes: int
    profile: str
    seconds_watched: float

    @property
    def name(self):
        return f"idle {self.algorithm} {self.nodes} {self.profile}"

    @property
    def seconds(self):
        return self.seconds_watched + 1

    def run(self):
        with Cluster(self.nodes, self.algorithm, self.profile, label="bench") as cluster:
            cluster.start()
            cluster.wait_settled()
            pids = [node.current.process.pid for node in cluster]
            ports = [node.port for node in cluster]
            used = rates(self.seconds_watched, lambda: {"cpu_ns": cpu_ns(pids), **_traffic(ports)})
            of_one = {key: rate / len(pids) for key, rate in used.items()}
            return {
                "cpu_percent": of_one["cpu_ns"] / 1e7,
                "resident_mib": max(map(resident_kib, pids)) / 1024,
                "bytes_per_s": of_one["bytes_sent"] + of_one["segs_out"] * HEADER_BYTES,
                "messages_per_s": of_one["data_segs_out"],
            }


def rates(seconds, read):
    """The growth a second of each value that read() gives by a key."""
    before, began = read(), time.monotonic()
    time.sleep(seconds)  # pause: a time is measured in which nothing happens
    after, took = read(), time.monotonic() - began
    return {key: (after[key] - before[key]) / took for key in before}


def cpu_ns(pids):
    total = 0
    for pid in pids:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise OSError(f"no VmRSS of {pid}")


def _traffic(ports):
    """The bytes that all the nodes' connections have sent so far; each connection is seen from both
    ends.
    """
    ways = " or ".join(f"sport = :{port} or dport = :{port}" for port in ports)
    shown = subprocess.run(
        ["ss", "-tinH", "state", "established", f"( {ways} )"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    total = {"bytes_sent": 0, "segs_out": 0, "data_segs_out": 0}
    for key, value in _COUNTED.findall(shown):
        total[key] += int(value)
    return total


@dataclasses.dataclass(frozen=True)
class Calm:
    """Counts the leaderships that end though nothing has failed."""

    profiles: tuple
    nodes: int
    seconds_watched: float
    loaded: bool

    @property
    def name(self):
        load = "loaded" if self.loaded else "idle"
        return f"false failovers {'/'.join(self.profiles)} {self.nodes}, {load}"

    @property
    def seconds(self):
        return self.seconds_watched + 2

    def run(self):
        clusters = [
            Cluster(self.nodes, algorithm, profile, label="bench")
            for profile in self.profiles
            for algorithm in ("bully", "ring")
        ]
        load = None
        try:
            for cluster in clusters:
                cluster.start()
            for cluster in clusters:
                cluster.wait_settled()
            before = [_changes(cluster) for cluster in clusters]
            if self.loaded:
                load = Load()
            time.sleep(self.seconds_watched)
            return {
                f"{cluster.profile} {cluster.algorithm}": _changes(cluster) - known
                for cluster, known in zip(clusters, before)
            }
        finally:
            if load is not None:
                load.close()
            for cluster in clusters:
                cluster.close()


def _changes(cluster):
    """Changes of leadership so far; two leaders at once are an error."""
    cluster.poll()
    return len(cluster.check_intervals())


def conditions():
    """Where this is measured."""
    cpu = next(
        (
            line.split(":", 1)[1].strip()
            for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown processor",
    )
    return {
        "kernel": os.uname().release,
        "processor": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg()[0],
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "scheduling": "SCHED_FIFO permitted" if _may_fifo() else "SCHED_FIFO not permitted",
    }


def _may_fifo():
    """Tried in a child, so that the bench itself keeps its own scheduling."""
    tried = subprocess.run(["chrt", "-f", "1", "true"], capture_output=True)
    return tried.returncode == 0
