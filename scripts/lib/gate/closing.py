#!/usr/bin/env python3
"""Prints the last lines of scripts/test: what each run of tests found, and one sentence about all.

Usage: closing.py STATUS SECONDS BUILD…     STATUS with which scripts/test ends; each build that
                                            has run tests has a gate.json
"""

import json
import pathlib
import sys


def main():
    status, seconds, *builds = sys.argv[1:]
    outcomes = {}
    for build in builds:
        report = pathlib.Path(build) / "gate.json"
        if report.exists():
            outcomes[build] = json.loads(report.read_text())
    for build, told in outcomes.items():
        for line in told["lines"]:
            print(f"{build}: {line}")
    if status == "0" and not outcomes:
        print("scripts/test: done; no part with tests was asked for.")
        return
    passed = sum(told["passed"] for told in outcomes.values())
    minutes = float(seconds) / 60
    if status == "0":
        others = sum(len(told["lines"]) for told in outcomes.values())
        noted = f", {others} noted above" if others else ""
        print(f"scripts/test: SOUND: {passed} cases passed in {minutes:.1f} min{noted}.")
        return
    told = [f"{build}: {told['sentence']}" for build, told in outcomes.items() if told["status"]]
    why = told[-1] if told else "a part failed that runs no test; its own words stand above."
    print(f"scripts/test: NOT SOUND after {minutes:.1f} min: {why}")


if __name__ == "__main__":
    main()
