#!/usr/bin/env python3
"""Measures a cluster whose members change: how soon a change is settled, that a leader stays
meanwhile, for how long nobody leads when the leader is removed, what 60 members without a vote cost
three voters, and how cost and time grow with the number of voters.
"""

import argparse
import importlib.util
import json
import pathlib
import signal
import statistics
import sys

from bench import growth
from bench.members_cases import changes, leader_removed, with_members_without_a_vote
from bench.members_cases import growth as measure_growth
from bench.report import summary
from bench.steady import conditions
from harness.node import ClusterError
from script_main import run_main

ALGORITHMS = ("bully", "ring")
PARTS = ("changes", "leader", "beside", "growth")
WITHOUT_A_VOTE = 60
# The goals of the design.
SETTLED_MS_MAX = 100  # after a new node listens, median
GAP_MS_MAX = 2
BESIDE_CPU_PERCENT_MAX, BESIDE_MIB_MAX, BESIDE_CRASH_RATIO_MAX = 3, 20, 3


class Told:
    """The figures, and which goals were met."""

    def __init__(self):
        self.results = {"conditions": conditions()}
        self.missed = []
        self.errors = 0

    def goal(self, text, met):
        if not met:
            self.missed.append(text)
        return f"  {'goal met' if met else 'GOAL MISSED'}: {text}"

    def part(self, show, *arguments):
        """One part that fails hides no other one."""
        try:
            show(self, *arguments)
        except ClusterError as error:
            self.errors += 1
            print(f"FAILED {show.__name__.removeprefix('show_')} {arguments[0]}: {error}")


def show_times(name, samples, goal=""):
    told = summary(samples)
    print(
        f"{name:<38} n {told['count']:>4}  median {told['median_ms']:8.3f}"
        f"  p99 {told['p99_ms']:8.3f}  max {told['max_ms']:8.3f} ms{goal}",
        flush=True,
    )


def show_changes(told, algorithm, rounds):
    times, leaderships = changes(algorithm, rounds)
    told.results[f"changes {algorithm}"] = {"times_ns": times, "leaderships": leaderships}
    for what, samples in times.items():
        met = statistics.median(samples) / 1e6 <= SETTLED_MS_MAX
        goal = told.goal(f"settled within {SETTLED_MS_MAX} ms, median", met)
        show_times(f"{algorithm} {what}", samples, goal)
    goal = told.goal("one, in one epoch", leaderships == 1)
    print(f"{algorithm} leaderships during all of them: {leaderships}{goal}", flush=True)


def show_leader(told, algorithm, rounds):
    gaps = leader_removed(algorithm, rounds)
    told.results[f"leader {algorithm}"] = gaps
    goal = told.goal(f"≤ {GAP_MS_MAX} ms, median", statistics.median(gaps) / 1e6 <= GAP_MS_MAX)
    show_times(f"{algorithm} leader removed, none leads", gaps, goal)


def show_beside(told, algorithm, rounds, seconds):
    found = with_members_without_a_vote(algorithm, WITHOUT_A_VOTE, seconds, rounds)
    told.results[f"beside {algorithm}"] = found
    name = f"{algorithm} 3 voters"
    for kind, text in (("alone", ""), ("beside", f" and {WITHOUT_A_VOTE} without a vote")):
        one = found[kind]
        cost = f"{one['cpu_percent']:.2f} % of a core, {one['resident_mib']:.1f} MiB a voter"
        goal = ""
        if kind == "beside":
            goal = told.goal(
                f"≤ {BESIDE_CPU_PERCENT_MAX} %, ≤ {BESIDE_MIB_MAX} MiB",
                one["cpu_percent"] <= BESIDE_CPU_PERCENT_MAX
                and one["resident_mib"] <= BESIDE_MIB_MAX,
            )
        print(f"{name}{text}: at most {cost}{goal}", flush=True)
    for what, goal_of in (("floor_ns", ""), ("crash_ns", f"× ≤ {BESIDE_CRASH_RATIO_MAX}")):
        alone, beside = (found[kind][what] for kind in ("alone", "beside"))
        text = "crash" if goal_of else "bare processes"
        show_times(f"{name}, {text}", alone)
        ratio = statistics.median(beside) / statistics.median(alone)
        goal = told.goal(goal_of, ratio <= BESIDE_CRASH_RATIO_MAX) if goal_of else ""
        show_times(f"{name} and {WITHOUT_A_VOTE}, {text}", beside, f"  × {ratio:.2f}{goal}")


def show_growth(told, algorithm, n, rounds, seconds):
    one = measure_growth(algorithm, n, seconds, rounds)
    one["failover_messages"] = growth.counted_messages(algorithm, n)
    told.results.setdefault("growth", {}).setdefault(algorithm, {})[n] = one
    print(growth.line(algorithm, n, one), flush=True)


def draw_growth(told, picture):
    cores = told.results["conditions"]["cores"]
    growth.draw(told.results.get("growth", {}), picture, f"{cores} cores for all nodes")
    print(f"the picture is {picture}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench members", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--picture", metavar="FILE", help="draw the growth there (SVG)")
    parser.add_argument("--json", metavar="FILE", help="write all samples there")
    arguments = parser.parse_args()
    if arguments.picture and arguments.only not in (None, "growth"):
        parser.error(f"--picture is of the growth, and --only {arguments.only} leaves that out")
    if arguments.picture and importlib.util.find_spec("matplotlib") is None:
        parser.error(
            f"--picture needs matplotlib for {sys.executable}: apt install python3-matplotlib"
        )
    return arguments


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rounds, seconds = (5, 3) if arguments.quick else (25, 10)
    parts = (arguments.only,) if arguments.only else PARTS
    told = Told()
    print(", ".join(f"{key} {value}" for key, value in told.results["conditions"].items()))
    print(f"profile lan; {rounds} rounds of each\n", flush=True)
    for algorithm in ALGORITHMS:
        if "changes" in parts:
            told.part(show_changes, algorithm, rounds)
        if "leader" in parts:
            told.part(show_leader, algorithm, rounds)
        if "beside" in parts:
            told.part(show_beside, algorithm, rounds, seconds)
    if "growth" in parts:
        for algorithm in ALGORITHMS:
            for n in growth.SIZES:
                told.part(show_growth, algorithm, n, max(3, rounds // 5), seconds)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(told.results, indent=1))
    if arguments.picture:
        draw_growth(told, arguments.picture)
    print(f"\n{len(told.missed)} goal(s) not met, {told.errors} error(s)")
    return 1 if told.errors else 0


if __name__ == "__main__":
    run_main(main, "scripts/bench")
