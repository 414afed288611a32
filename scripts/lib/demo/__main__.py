#!/usr/bin/env python3
"""Shows leader elections between real processes on this host, and checks what it shows."""

import argparse
import signal
import sys
import time

from harness.cluster import Cluster, ClusterError
from harness.events import EventError
from demo.report import Report
from demo.secured import secured_crash
from demo.split import split_brain
from demo.steps import PREEMPT_DELAY_S, Steps
from script_main import run_main


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5, help="size of the cluster, 3 to 15 (5)")
    parser.add_argument(
        "--algorithm", choices=("bully", "ring", "both"), default="both", help="(both)"
    )
    parser.add_argument(
        "--keep", action="store_true", help="leave the cluster running and print how to talk to it"
    )
    arguments = parser.parse_args()
    if not 3 <= arguments.nodes <= 15:
        parser.error(f"--nodes {arguments.nodes}: must be 3 to 15, so that one can fail")
    return arguments


def run_one(algorithm, size, report, kept):
    """All steps with one algorithm; returns the cluster if it is to be kept."""
    report.begin(algorithm)
    report.heading(f"===== {algorithm.capitalize()}, {size} processes on 127.0.0.1 =====")
    flags = ["--first-epoch", "0", "--preempt-delay", f"{int(PREEMPT_DELAY_S * 1000)}ms"]
    cluster = Cluster(size, algorithm, flags=flags, name="demo", label="demo", kept=kept)
    cluster.on_event = report.show_event
    failed = True
    try:
        Steps(cluster, report).run()
        failed = False
    except (ClusterError, EventError) as error:
        report.fail(str(error))
    if kept and not failed:
        return cluster
    cluster.close(keep_files=failed)
    if failed:
        print(f"  logs and event streams are kept in {cluster.directory}")
    return None


def run_act(act, algorithm, size, report):
    """One that has clusters of its own."""
    try:
        act(size, algorithm, report)
    except (ClusterError, EventError) as error:
        report.fail(str(error))


def hand_over(cluster):
    """Leaves the cluster to the user."""
    for node in cluster:
        if not node.running:
            node.restart()
    cluster.on_event = None
    cluster.wait_settled()
    cluster.keep_running()
    program, peers = cluster.program, cluster.peers
    pids = " ".join(str(node.current.process.pid) for node in cluster)
    print("\nThe cluster goes on running. Talk to it:")
    for command in ("status", "watch", "resign"):
        print(f"  {program} {command} --cluster {cluster.name} --peers {peers}")
    for node in cluster:
        print(
            f"  node {node.id}: pid {node.current.process.pid}, events {node.current.stream.path}"
        )
    print(f"Stop it:\n  kill {pids}; rm -r {cluster.directory}")


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report()
    algorithms = ["bully", "ring"] if arguments.algorithm == "both" else [arguments.algorithm]
    started = time.monotonic()
    kept = None
    for algorithm in algorithms:
        last = algorithm == algorithms[-1]
        kept = run_one(algorithm, arguments.nodes, report, arguments.keep and last)
        for act in (secured_crash, split_brain):
            run_act(act, algorithm, arguments.nodes, report)
    report.table(algorithms)
    status = report.verdict()
    print(f"{time.monotonic() - started:.0f} s")
    if kept is not None:
        hand_over(kept)
    return status


if __name__ == "__main__":
    run_main(main, "scripts/demo")
