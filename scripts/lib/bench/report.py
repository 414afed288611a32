"""Medians, the table, the goals, and the JSON of a run of the bench."""

import json
import math
import statistics

from harness.profiles import PROFILES

CRASH_RATIO_MAX = {"bully": 1.5, "ring": 2}
HANG_MEDIAN_MAX_MS = {"realtime": 10, "fast": 40, "lan": 115, "cloud": 220}
# By members, in `lan`: half as many as with an HB from each to each beside the renewals.
IDLE_MESSAGES = {3: 34, 5: 57}


def p99(samples):
    ordered = sorted(samples)
    return ordered[math.ceil(len(ordered) * 0.99) - 1]


def summary(samples_ns):
    """In ms; None when there is no sample."""
    if not samples_ns:
        return None
    return {
        "count": len(samples_ns),
        "median_ms": statistics.median(samples_ns) / 1e6,
        "p99_ms": p99(samples_ns) / 1e6,
        "max_ms": max(samples_ns) / 1e6,
    }


class Results:
    def __init__(self, where):
        self.where = where
        self.timed = {}
        self.idle = {}
        self.gaps = {}
        self.calm = {}
        self.errors = []
        self.contradictions = 0  # Runs in which two led at once, or an epoch did not rise.

    def add_timed(self, case, runner):
        told = summary(runner.samples)
        floor = summary(runner.floor)
        self.timed[case] = {
            "name": case.name,
            "kind": case.kind,
            "algorithm": case.algorithm,
            "nodes": case.nodes,
            "profile": case.profile,
            "loaded": case.loaded,
            "result": told,
            "floor": floor,
            "leaderships": runner.leaderships,
            "ratio": told["median_ms"] / floor["median_ms"] if told and floor else None,
            "notes": runner.notes,
            "samples_ns": runner.samples,
            "floor_samples_ns": runner.floor,
        }

    def print_timed(self, case):
        row = self.timed[case]
        told = row["result"]
        if told is None:
            print(f"{case.name:<38} no sample")
        else:
            ratio = ""
            if row["floor"]:
                ratio = f"  floor {row['floor']['median_ms']:6.3f}  x {row['ratio']:.2f}"
            print(
                f"{case.name:<38} n {told['count']:>4}  median {told['median_ms']:9.3f}"
                f"  p99 {told['p99_ms']:9.3f}  max {told['max_ms']:9.3f} ms{ratio}"
            )
        for note in row["notes"]:
            print(f"    {note}")

    # The goals: (what, met or not or None when it was not measured, the figure).

    def goals(self):
        found = []
        found += self._crash_goals()
        found += self._hang_goals()
        found += self._calm_goals()
        found += self._simple_goals()
        found += self._idle_goals()
        checked = sum(row["leaderships"] for row in self.timed.values())
        found.append(
            (
                "two leaders at once in any run: 0",
                self.contradictions == 0,
                f"{self.contradictions} runs; {checked} leaderships compared",
            )
        )
        return found

    def _rows(self, **wanted):
        return [
            row
            for row in self.timed.values()
            if row["result"] and all(row[key] == value for key, value in wanted.items())
        ]

    def _crash_goals(self):
        found = []
        for algorithm, factor in CRASH_RATIO_MAX.items():
            for row in self._rows(kind="crash", algorithm=algorithm, nodes=5):
                told, floor = row["result"], row["floor"]
                found.append(
                    (
                        f"{row['name']}: median <= {factor} x floor, p99 <= 3 x floor's p99",
                        row["ratio"] <= factor and told["p99_ms"] <= 3 * floor["p99_ms"],
                        f"x {row['ratio']:.2f}, p99 x {told['p99_ms'] / floor['p99_ms']:.2f}",
                    )
                )
        return found

    def _hang_goals(self):
        found = []
        for row in self._rows(kind="hang"):
            timing, told = PROFILES[row["profile"]], row["result"]
            median_max = HANG_MEDIAN_MAX_MS[row["profile"]]
            # A keeper that is late counts nothing; then the lease has to run out.
            p99_max = timing.promise + timing.campaign_timeout
            found.append(
                (
                    f"{row['name']}: median <= {median_max} ms, p99 <= {p99_max} ms",
                    told["median_ms"] <= median_max and told["p99_ms"] <= p99_max,
                    f"{told['median_ms']:.1f} ms, p99 {told['p99_ms']:.1f} ms",
                )
            )
        return found

    def _calm_goals(self):
        return [
            (
                f"{case.name}: none in {case.seconds_watched:.0f} s",
                not any(counts.values()),
                ", ".join(f"{name} {count}" for name, count in counts.items()),
            )
            for case, counts in self.calm.items()
        ]

    def _simple_goals(self):
        found = []
        for row in self._rows(kind="handover"):
            told = row["result"]["median_ms"]
            found.append((f"{row['name']}: median <= 0.35 ms", told <= 0.35, f"{told:.3f} ms"))
        for kind in ("cold start", "first start"):
            for row in self._rows(kind=kind):
                told = row["result"]
                found.append(
                    (
                        f"{row['name']}: median <= 10 ms, p99 <= 30 ms, the highest leads",
                        told["median_ms"] <= 10 and told["p99_ms"] <= 30 and not row["notes"],
                        f"{told['median_ms']:.1f} ms, p99 {told['p99_ms']:.1f} ms"
                        + (f", {row['notes'][0]}" if row["notes"] else ""),
                    )
                )
        for row in self._rows(kind="voter restart"):
            told = row["result"]["median_ms"]
            found.append((f"{row['name']}: median <= 10 ms", told <= 10, f"{told:.2f} ms"))
        for row in self._rows(kind="rolling restart"):
            told = row["result"]
            found.append(
                (
                    f"{row['name']}: <= 2 ms without a leader in a round (median)",
                    told["median_ms"] <= 2,
                    f"{told['median_ms']:.2f} ms, at most {told['max_ms']:.2f} ms",
                )
            )
        return found

    def _idle_goals(self):
        found = []
        for case, told in self.idle.items():
            if case.nodes not in IDLE_MESSAGES:
                continue
            shown = (
                f"{told['cpu_percent']:.2f} %, {told['resident_mib']:.1f} MiB,"
                f" {told['bytes_per_s'] / 1000:.1f} kB/s, {told['messages_per_s']:.0f} messages/s"
            )
            if case.profile == "lan":
                messages = IDLE_MESSAGES[case.nodes]
                met = (
                    told["cpu_percent"] <= 0.4
                    and told["resident_mib"] <= 6.5
                    and told["messages_per_s"] <= messages
                )
                goal = f"<= 0.4 %, <= 6.5 MiB, <= {messages} messages/s a node"
                found.append((f"{case.name}: {goal}", met, shown))
            elif case.profile == "cloud":
                met = told["cpu_percent"] <= 0.2
                found.append((f"{case.name}: <= 0.2 % of a core a node", met, shown))
        return found

    def print_goals(self):
        print("\nGoals")
        unmet = 0
        for text, met, figure in self.goals():
            word = {True: "met", False: "NOT MET", None: "-"}[met]
            unmet += met is False
            print(f"  {word:<8} {text}: {figure}")
        for error in self.errors:
            print(f"  ERROR    {error}")
        print(f"\n{unmet} goal(s) not met, {len(self.errors)} error(s)")

    def write_json(self, path):
        told = {
            "conditions": self.where,
            "cases": list(self.timed.values()),
            "gaps": [
                {"name": case.name, "result": summary(gaps), "samples_ns": gaps}
                for case, gaps in self.gaps.items()
            ],
            "idle": [{"name": case.name, **found} for case, found in self.idle.items()],
            "false_failovers": [
                {"name": case.name, "seconds": case.seconds_watched, "changes": counts}
                for case, counts in self.calm.items()
            ],
            "goals": [
                {"goal": text, "met": met, "measured": figure} for text, met, figure in self.goals()
            ],
            "errors": self.errors,
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump(told, file, indent=1)
            file.write("\n")
