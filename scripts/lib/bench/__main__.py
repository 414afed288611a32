#!/usr/bin/env python3
"""Measures failovers of real clusters on this host beside the floor and compares with the goals."""

import argparse
import signal
import sys
import time

from bench.cases import Case, Runner, find_floor
from bench.failover import show_failover
from bench.gap import WAYS, Gap
from bench.report import Results, summary
from bench.steady import Calm, Idle, StepCost, conditions
from harness.events import EventError
from harness.node import ClusterError
from script_main import run_main

ALGORITHMS = ("bully", "ring")
SIZES = (3, 5, 7)


def plan(quick):
    """All cases in order. Quick: the same cases, fewer rounds."""

    def rounds(full, short):
        return short if quick else full

    cases = [StepCost()]
    for algorithm in ALGORITHMS:
        for size in SIZES:
            cases.append(Case("crash", algorithm, size, "lan", rounds(200, 12)))
        cases.append(Case("crash", algorithm, 5, "lan", rounds(200, 8), loaded=True))
        for profile in ("realtime", "fast", "cloud"):
            cases.append(Case("crash", algorithm, 5, profile, rounds(50, 6)))
    for algorithm in ALGORITHMS:
        for size in SIZES:
            cases.append(Case("hang", algorithm, size, "lan", rounds(30, 3)))
        for profile in ("realtime", "fast", "cloud"):
            cases.append(Case("hang", algorithm, 5, profile, rounds(30, 3)))
    for algorithm in ALGORITHMS:
        for size in SIZES:
            cases.append(Case("handover", algorithm, size, "lan", rounds(50, 10)))
            cases.append(Case("cold start", algorithm, size, "lan", rounds(50, 5)))
            cases.append(Case("first start", algorithm, size, "lan", rounds(50, 5)))
            cases.append(Case("voter restart", algorithm, size, "lan", rounds(50, 5)))
        cases.append(Case("rolling restart", algorithm, 5, "lan", rounds(20, 1)))
    for algorithm in ALGORITHMS:
        for way in WAYS:
            cases.append(Gap(way, algorithm, 3, "lan", rounds(30, 1)))
    for algorithm in ALGORITHMS:
        for profile in ("lan", "cloud"):
            cases.append(Idle(algorithm, 3, profile, rounds(60, 5)))
        for size in (5, 7):
            cases.append(Idle(algorithm, size, "lan", rounds(20, 3)))
    cases.append(Calm(("fast", "lan"), 5, rounds(600, 10), False))
    cases.append(Calm(("fast", "lan"), 5, rounds(300, 8), True))
    cases.append(Calm(("realtime",), 5, rounds(60, 5), False))
    cases.append(Calm(("realtime",), 5, rounds(20, 5), True))
    return cases


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: at most five minutes")
    parser.add_argument("--only", metavar="WORDS", help="only cases whose name has these words")
    parser.add_argument(
        "--failover", choices=ALGORITHMS, help="measure nothing: show one crash step by step"
    )
    parser.add_argument("--json", metavar="FILE", help="write the results and all samples there")
    return parser.parse_args()


def run_case(case, results, floor):
    if isinstance(case, Case):
        results.add_timed(case, Runner(case, floor).run())
        results.print_timed(case)
    elif isinstance(case, StepCost):
        print(case.run(), end="")
    elif isinstance(case, Gap):
        gaps = results.gaps[case] = case.run()
        told = summary(gaps)
        print(
            f"{case.name:<38} n {told['count']:>4}  median {told['median_ms']:9.3f}"
            f"  p99 {told['p99_ms']:9.3f}  max {told['max_ms']:9.3f} ms"
        )
    elif isinstance(case, Idle):
        told = results.idle[case] = case.run()
        print(
            f"{case.name:<38} cpu {told['cpu_percent']:.3f} %  {told['resident_mib']:.1f} MiB"
            f"  {told['bytes_per_s']:.0f} bytes/s  {told['messages_per_s']:.1f} messages/s a node"
        )
    else:
        counts = results.calm[case] = case.run()
        shown = ", ".join(f"{name} {count}" for name, count in counts.items())
        print(f"{case.name:<38} {shown} in {case.seconds_watched:.0f} s")


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if arguments.failover:
        show_failover(arguments.failover)
        return 0
    words = (arguments.only or "").split()
    cases = [case for case in plan(arguments.quick) if all(word in case.name for word in words)]
    if not cases:
        raise ClusterError(f"--only {arguments.only}: no such case")
    floor = find_floor()
    results = Results(conditions())
    print(", ".join(f"{key} {value}" for key, value in results.where.items()))
    expected = sum(case.seconds for case in cases)
    print(f"{len(cases)} cases, about {expected / 60:.0f} min {expected % 60:.0f} s\n", flush=True)
    began = time.monotonic()
    for case in cases:
        try:
            run_case(case, results, floor)
        except (ClusterError, EventError, OSError) as error:
            results.contradictions += isinstance(error, EventError)
            results.errors.append(f"{case.name}: {error}")
            print(f"{case.name:<38} FAILED: {error}")
        sys.stdout.flush()
    results.print_goals()
    print(f"{time.monotonic() - began:.0f} s")
    if arguments.json:
        results.write_json(arguments.json)
    return 1 if results.errors else 0


if __name__ == "__main__":
    run_main(main, "scripts/bench")
