#!/usr/bin/env python3
"""Measures what processes that lead through their nodes (bullring-attach(7)) cost: the failover
after the one that leads was killed beside that after a node was killed, and what 200 clients of one
node cost a crash and an idle cluster. All in turns, so that both see the same machine.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import sys
import time

from bench.cases import UNDISTURBED_S, at_random_phase, crash_ns
from bench.report import p99
from bench.security import verdict
from bench.steady import conditions, cpu_ns, rates
from harness.attach import Client
from harness.cluster import Cluster
from harness.node import ROOT
from harness.waiting import wait_until
from harness.worker import Worker, next_told
from script_main import run_main

HOLDER = ROOT / "build" / "tests" / "bench" / "bullring_attached_holder"
NODES = 3
CLIENTS = 200
PAUSE_S = 0.05  # of the processes that lead: they work seldom
# The goals of the design.
HOLDER_RATIO_MAX = 1.5
CLIENTS_RATIO_MAX = 1.1
# Most of it is the kernel's time for the end of an interpreter.
WITHOUT_GOAL = ("a Python one",)


class Holders:
    """A cluster with a process beside each node; one of them leads."""

    def __init__(self, algorithm, program):
        self.cluster = Cluster(NODES, algorithm, label="bench")
        self.workers = {one.id: Worker(one, pause=PAUSE_S, program=program) for one in self.cluster}

    def __enter__(self):
        self.cluster.start().wait_settled()
        for worker in self.workers.values():
            worker.start()
        return self

    def __exit__(self, *error):
        for worker in self.workers.values():
            worker.close()
        self.cluster.__exit__(*error)

    def _holder(self):
        """The one that leads, once all nodes have said that they are asked, too."""
        status = self.cluster.status()
        asked = {row["id"]: row.get("attached", {}) for row in status["nodes"]}
        led_by = [node_id for node_id, told in asked.items() if told.get("holder")]
        all_ask = all(told.get("candidates") == 1 for told in asked.values())
        return (self.workers[led_by[0]], status["epoch"]) if all_ask and len(led_by) == 1 else None

    def kill_ms(self):
        """Kills the one that leads; until the next one, on another node, has been told."""
        holder, epoch = wait_until(self._holder, "a process that leads")
        at_random_phase()
        killed_ns = holder.kill()
        time.sleep(UNDISTURBED_S)  # pause: nothing may run beside the election
        told = wait_until(lambda: next_told(self.workers.values(), epoch), "the next one")
        holder.bury()
        holder.start()
        return (told["ts_ns"] - killed_ns) / 1e6


def holders(algorithm, rounds):
    """Times in ms: of killed nodes, and of killed processes that led."""
    found = {"a node": [], "a process": [], "a Python one": []}
    with contextlib.ExitStack() as made:
        plain = made.enter_context(Cluster(NODES, algorithm, label="bench"))
        quick = made.enter_context(Holders(algorithm, HOLDER))
        python = made.enter_context(Holders(algorithm, None))
        plain.start()
        for _ in range(rounds):
            leader = plain.wait_settled()
            at_random_phase()
            found["a node"].append(crash_ns(leader) / 1e6)
            leader.restart()
            found["a process"].append(quick.kill_ms())
            found["a Python one"].append(python.kill_ms())
        for cluster in (plain, quick.cluster, python.cluster):
            cluster.check_intervals()
    return found


@contextlib.contextmanager
def clients(node, attached=CLIENTS, campaign=0):
    """So many connections, which read no more than their greeting: what is measured is the node. So
    many of them campaign, and one leads."""
    made = [Client(node) for _ in range(attached)]
    try:
        for client in made:
            os.close(client.descriptor)
        for client in made[:campaign]:
            client.campaign()
        if campaign:
            made[0].wait_for("elected")
        yield
    finally:
        for client in made:
            client.close()


def crashes(algorithm, rounds):
    """Times in ms: of crashes where nobody is attached, and with so many at the next leader."""
    none, some = [], []
    with Cluster(NODES, algorithm, label="bench") as cluster:
        cluster.start()
        for number in range(2 * rounds):
            leader = cluster.wait_settled()
            likely = max((node for node in cluster if node is not leader), key=lambda one: one.id)
            with clients(likely, CLIENTS if number % 2 else 0):
                at_random_phase()
                (some if number % 2 else none).append(crash_ns(leader) / 1e6)
            leader.restart()
        cluster.check_intervals()
    return {"none": none, f"{CLIENTS} clients": some}


IDLE = {
    "none": (0, 0),
    f"{CLIENTS} clients": (CLIENTS, 0),
    "one that leads": (1, 1),
    f"{CLIENTS} that campaign": (CLIENTS, CLIENTS),
}


def idle_percent(windows, seconds):
    """The processor of the leader, in each window."""
    found = {kind: [] for kind in IDLE}
    with Cluster(NODES, label="bench") as cluster:
        cluster.start()
        for _ in range(windows):
            for kind, (attached, campaign) in IDLE.items():
                leader = cluster.wait_settled()
                pids = [leader.current.process.pid]
                with clients(leader, attached, campaign):
                    used = rates(seconds, lambda pids=pids: {"cpu": cpu_ns(pids)})
                found[kind].append(used["cpu"] / 1e7)
    return found


def show(what, samples_by_kind, unit, ratio_max):
    """The first kind is what the others are compared with."""
    plain = None
    for name, samples in samples_by_kind.items():
        median = statistics.median(samples)
        plain = plain or median
        ratio = median / plain
        goal = f"  × {ratio:.2f}"
        if name not in WITHOUT_GOAL:
            goal += f"  {verdict(ratio <= ratio_max)}: × ≤ {ratio_max:g}"
        print(
            f"{what:<12} {name:<18} n {len(samples):>4}  median {median:7.3f}"
            f"  p99 {p99(samples):8.3f}  max {max(samples):8.3f} {unit}"
            f"{'' if samples is next(iter(samples_by_kind.values())) else goal}",
            flush=True,
        )


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench attached", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: two minutes")
    parser.add_argument("--rounds", type=int, metavar="N", help="of each kind; 100")
    parser.add_argument("--json", metavar="FILE", help="write all samples there")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rounds = arguments.rounds or (20 if arguments.quick else 100)
    windows, seconds = (5, 3) if arguments.quick else (10, 6)
    results = {"conditions": conditions(), "failover_ms": {}, "crash_ms": {}}
    print(", ".join(f"{key} {value}" for key, value in results["conditions"].items()))
    print(f"{NODES} nodes, profile lan; {rounds} rounds of each kind, in turns\n", flush=True)
    for algorithm in ("bully", "ring"):
        times = results["failover_ms"][algorithm] = holders(algorithm, rounds)
        show(f"killed {algorithm}", times, "ms", HOLDER_RATIO_MAX)
        times = results["crash_ms"][algorithm] = crashes(algorithm, rounds)
        show(f"crash {algorithm}", times, "ms", CLIENTS_RATIO_MAX)
    results["idle_percent"] = idle_percent(windows, seconds)
    show("idle", results["idle_percent"], "% of a core", CLIENTS_RATIO_MAX)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    run_main(main, "scripts/bench")
