#!/usr/bin/env python3
"""Measures Bullring beside what Debian has for choosing a leader, in one run and by one clock."""

import argparse
import os
import signal
import sys
import time

from bench import peers_cases as cases
from bench.peers_report import BASE, number, table, two_leaders, write_json
from bench.report import summary
from bench.steady import conditions
from harness.node import ClusterError
from peers.observer import ObserverError
from peers.registry import SYSTEMS
from script_main import run_main

FAILURES = (ObserverError, OSError, RuntimeError)
TIMED = {
    "crash": cases.crash,
    "hang": cases.hang,
    "handover": cases.handover,
    "service crash": cases.service_crash,
}


class Bench:
    def __init__(self, quick, seconds):
        self.rounds, self.least = (4, 1) if quick else (25, 3)
        self.starts = 2 if quick else 8
        self.seconds_a_case = seconds or (8 if quick else 25)
        self.watched_s = 4 if quick else 20
        self.rows, self.tried, self.errors = [], [], []

    def budget(self, rounds):
        return cases.Budget(rounds, self.seconds_a_case, self.least)

    def measure(self, system_class):
        print(f"{system_class.name} {system_class.version()}: {system_class.recipe}", flush=True)
        for setting in system_class.settings:
            if setting.shipped:
                self.measure_setting(system_class, setting, {})
        found = self.tightest(system_class)
        if found is not None:
            self.measure_setting(system_class, *found)

    def tightest(self, system_class):
        """The first setting that changes no leader, idle and with all cores loaded; those runs."""
        for setting in system_class.settings:
            if setting.shipped:
                continue
            name = f"{system_class.name}, {setting.label}"
            try:
                with system_class(setting) as system:
                    system.start()
                    found = {"idle": cases.idle(system, self.watched_s)}
                    found["loaded"] = cases.loaded(system, self.watched_s)
                changes = [found[kind]["false_failovers"] for kind in ("idle", "loaded")]
                shown = f"{changes[0]} changes of leader idle, {changes[1]} under load"
            except FAILURES as error:
                changes = [None, None]
                shown = f"not usable: {error}"
            self.tried.append({"setting": name, "seconds": self.watched_s, "changes": changes})
            print(f"  tried {setting.label}: {shown}", flush=True)
            if changes == [0, 0]:
                return setting, found
        self.errors.append(f"{system_class.name}: no tight setting is stable")
        return None

    def measure_setting(self, system_class, setting, known):
        row = {
            "system": system_class.name,
            "setting": setting.label,
            "shipped": setting.shipped,
            "cases": dict(known),
        }
        self.rows.append(row)
        whole = len(setting.kinds) > 1
        if "first start" in setting.kinds:
            try:
                self.run(row, "first start", cases.first_start, system_class, setting)
            except FAILURES:
                pass  # It has been noted.
        if whole and not known:
            self.run_on(row, system_class, setting, {"idle": cases.idle, "loaded": cases.loaded})
        timed = {kind: TIMED[kind] for kind in setting.kinds if kind in TIMED}
        self.run_on(row, system_class, setting, timed)

    def run(self, row, kind, function, *words):
        rounds = self.starts if kind == "first start" else self.rounds
        steady = kind in ("idle", "loaded")
        last = self.watched_s if steady else self.budget(rounds)
        try:
            row["cases"][kind] = found = function(*words, last)
        except FAILURES as error:
            self.errors.append(f"{row['system']}, {row['setting']}, {kind}: {error}")
            print(f"  {row['setting']}, {kind}: FAILED: {error}", flush=True)
            raise
        print(f"  {row['setting']}, {kind}: {describe(found)}", flush=True)

    def run_on(self, row, system_class, setting, kinds):
        """Several cases on one cluster; after one that failed the next gets a new one."""
        left = dict(kinds)
        while left:
            try:
                with system_class(setting) as system:
                    system.start()
                    while left:
                        kind = next(iter(left))
                        self.run(row, kind, left.pop(kind), system)
            except FAILURES:
                continue  # It has been noted.


def describe(found):
    if "samples_ns" not in found:
        shown = f"{found['false_failovers']} changes in {found['seconds']} s"
        if "cpu_percent" in found:
            shown += f", {found['cpu_percent']:.2f} % CPU, {found['resident_mib']:.0f} MiB a member"
        return shown
    told = summary(found["samples_ns"])
    shown = (
        f"n {told['count']}, median {number(told['median_ms'])}, p99 {number(told['p99_ms'])},"
        f" max {number(told['max_ms'])} ms"
    )
    if "two_leaders" in found:
        shown += f"; two leaders {two_leaders(found)}"
    if "leaderships_interrupted" in found:
        shown += f"; leaderships interrupted {found['leaderships_interrupted']}"
    return shown


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--seconds", type=int, metavar="S", help="the most that a case takes, after three rounds"
    )
    parser.add_argument("--only", metavar="WORDS", help="only systems with one of these words")
    parser.add_argument("--json", metavar="FILE", help="write all samples there")
    parser.add_argument("--list", action="store_true", help="say what is here, measure nothing")
    return parser.parse_args()


def chosen(only):
    words = (only or "").split()
    found = [one for one in SYSTEMS if not words or any(word in one.name for word in words)]
    if not found:
        names = ", ".join(one.name for one in SYSTEMS)
        raise ClusterError(f"--only {only}: no such system; there are {names}")
    return found


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    absent = {}
    present = []
    for system in chosen(arguments.only):
        if missing := system.missing():
            absent[system.name] = missing
            print(f"{system.name}: not here: {', '.join(missing)}; scripts/bench peers --install")
        else:
            present.append(system)
    where = conditions() | {"members": 3, "versions": {one.name: one.version() for one in present}}
    print(", ".join(f"{key} {value}" for key, value in where.items()), flush=True)
    if arguments.list:
        return 0
    bench = Bench(arguments.quick, arguments.seconds)
    began = time.monotonic()
    try:
        for system in present:
            bench.measure(system)
    finally:
        # Also what an interrupted run has measured.
        print(f"\nIn ms: median, longest (rounds). x: to the crash of {BASE} in this run.\n")
        print(table(bench.rows))
        for error in bench.errors:
            print(f"ERROR {error}")
        load = where["load_average_at_end"] = os.getloadavg()[0]
        print(f"\n{time.monotonic() - began:.0f} s; load average {load:.1f}")
        if arguments.json:
            write_json(arguments.json, where, bench.rows, bench.tried, absent, bench.errors)
    return 1 if bench.errors else 0


if __name__ == "__main__":
    run_main(main, "scripts/bench")
