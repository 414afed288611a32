#!/usr/bin/env python3
"""Measures what security costs: a crash of the leader with a key and with certificates beside one
without, in turns; the processor of an idle cluster; and the lateness of a leader's loop while
strangers begin handshakes and callers complete them.
"""

import argparse
import contextlib
import json
import pathlib
import signal
import sys
import tempfile
import time

from bench.cases import at_random_phase, crash_ns
from bench.report import summary
from bench.steady import conditions, cpu_ns, rates
from harness.cluster import Cluster
from harness.secrets import Authority, key_environment, key_line, write_private
from bench.handshake_load import HandshakeLoad, loop_lateness
from script_main import run_main

NODES = 3
HALF_OPEN_PER_S = 1000
COMPLETE_PER_S = 200
# The goals of the design.
CRASH_RATIO_MAX, CRASH_MS_MAX = 2.0, 2.0
IDLE_RATIO_MAX = 1.3
LATENESS_MS_MAX = 5.0


class Kind:
    """A way to secure a cluster, and what releases a dead leader's lease."""

    def __init__(self, name, security, release):
        self.name = name
        self.security = security
        self.release = release

    def cluster(self, directory, algorithm, http=False):
        cluster = Cluster(NODES, algorithm, label="bench")
        if self.security == "key":
            key = write_private(directory / "cluster.key", key_line())
            cluster.environment |= key_environment(key)
        authority = Authority(directory / f"ca-{time.monotonic_ns()}", cluster.name)
        for node in cluster:
            node.flags = ["--fast-release", self.release]
            if self.security == "tls":
                node.flags += authority.flags(f"node/{node.id}")
            if http:
                node.http = cluster.ports.take()
                node.flags += ["--http", f"127.0.0.1:{node.http}"]
        cluster.observer = (
            authority.flags("observer", uses="clientAuth") if self.security == "tls" else []
        )
        cluster.authority = authority
        return cluster


KINDS = (
    Kind("none, fin", "none", "fin"),
    Kind("none, notice", "none", "notice"),
    Kind("key, notice", "key", "notice"),
    Kind("tls, notice", "tls", "notice"),
)
PLAIN = KINDS[0]


def crashes(directory, algorithm, rounds):
    """Times in ns by kind. The clusters take turns, so that all see the same machine."""
    with contextlib.ExitStack() as open_clusters:
        clusters = {
            kind: open_clusters.enter_context(kind.cluster(directory, algorithm)) for kind in KINDS
        }
        times = {kind: [] for kind in KINDS}
        for cluster in clusters.values():
            cluster.start()
        for _ in range(rounds):
            for kind, cluster in clusters.items():
                leader = cluster.wait_settled(credentials=cluster.observer)
                at_random_phase()
                times[kind].append(crash_ns(leader))
                leader.restart()
        for cluster in clusters.values():
            cluster.check_intervals()
    return times


def idle_percent(directory, kind, seconds):
    with kind.cluster(directory, "bully") as cluster:
        cluster.start()
        cluster.wait_settled(credentials=cluster.observer)
        pids = [node.current.process.pid for node in cluster]
        return rates(seconds, lambda: {"cpu": cpu_ns(pids)})["cpu"] / len(pids) / 1e7


def lateness(directory, seconds):
    """Of the loop of a leader with certificates while handshakes come; and what came."""
    kind = KINDS[-1]
    with kind.cluster(directory, "bully", http=True) as cluster:
        cluster.start()
        leader = cluster.wait_settled(credentials=cluster.observer)
        before = leader.view
        caller = cluster.authority.issue("admin", uses="clientAuth")
        quiet = loop_lateness(leader.http, lambda: time.sleep(seconds / 4))
        load = HandshakeLoad((leader.host, leader.port), caller, HALF_OPEN_PER_S, COMPLETE_PER_S)
        loaded = loop_lateness(leader.http, lambda: load.run(seconds))
        cluster.poll()
        return {
            "quiet_p99_ms": quiet,
            "loaded_p99_ms": loaded,
            "half_open_per_s": load.half_open / seconds,
            "complete_per_s": load.complete / seconds,
            "leader_kept": leader.view == before and leader.leads,
        }


def verdict(met):
    return "goal met" if met else "GOAL MISSED"


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench security", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: two minutes")
    parser.add_argument("--rounds", type=int, metavar="N", help="crashes of each kind; 100")
    parser.add_argument("--json", metavar="FILE", help="write all samples there")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rounds = arguments.rounds or (12 if arguments.quick else 100)
    seconds = 6 if arguments.quick else 20
    results = {"conditions": conditions(), "crash_ns": {}, "idle_percent": {}}
    print(", ".join(f"{key} {value}" for key, value in results["conditions"].items()))
    print(f"{NODES} nodes, profile lan; {rounds} crashes of each kind and algorithm\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="bullring-bench-") as place:
        directory = pathlib.Path(place)
        for algorithm in ("bully", "ring"):
            times = crashes(directory, algorithm, rounds)
            plain = summary(times[PLAIN])["median_ms"]
            for kind, samples in times.items():
                results["crash_ns"][f"{algorithm} {kind.name}"] = samples
                told = summary(samples)
                ratio = told["median_ms"] / plain
                goal = ""
                if kind.security != "none":
                    met = ratio <= CRASH_RATIO_MAX and told["median_ms"] <= CRASH_MS_MAX
                    goal = f"  {verdict(met)}: × ≤ {CRASH_RATIO_MAX:g} and ≤ {CRASH_MS_MAX:g} ms"
                print(
                    f"crash {algorithm:<6} {kind.name:<13} n {told['count']:>4}"
                    f"  median {told['median_ms']:7.3f}  p99 {told['p99_ms']:8.3f}"
                    f"  max {told['max_ms']:8.3f} ms  × {ratio:.2f}{goal}",
                    flush=True,
                )
        for kind in KINDS:
            results["idle_percent"][kind.name] = idle_percent(directory, kind, seconds)
        plain = results["idle_percent"][PLAIN.name]
        for kind in KINDS:
            used = results["idle_percent"][kind.name]
            goal = f"  {verdict(used / plain <= IDLE_RATIO_MAX)}: × ≤ {IDLE_RATIO_MAX:g}"
            print(
                f"idle         {kind.name:<13} {used:.3f} % of a core a node  × {used / plain:.2f}"
                f"{goal if kind.security != 'none' else ''}",
                flush=True,
            )
        told = results["lateness"] = lateness(directory, seconds)
        print(
            f"lateness of a leader's loop, p99: quiet ≤ {told['quiet_p99_ms']:g} ms; with"
            f" {told['half_open_per_s']:.0f} half-open and {told['complete_per_s']:.0f} complete"
            f" handshakes a second ≤ {told['loaded_p99_ms']:g} ms, leader"
            f" {'kept' if told['leader_kept'] else 'LOST'}"
            f"  {verdict(told['loaded_p99_ms'] <= LATENESS_MS_MAX and told['leader_kept'])}:"
            f" ≤ {LATENESS_MS_MAX:g} ms"
        )
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    run_main(main, "scripts/bench")
