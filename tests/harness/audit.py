"""Has event streams judged by `bullring audit`: no two leaderships overlap, epochs rise with time.

The program is the one judge; nothing here judges by itself.
"""

import dataclasses
import json
import os
import subprocess
import typing

from harness.events import EventError


@dataclasses.dataclass
class Leadership:
    """From its election to its end, by the clock of the streams; None where that was not seen."""

    node: int
    epoch: int
    start_ns: typing.Optional[int]
    end_ns: typing.Optional[int]
    reason: typing.Optional[str]


class Audit:
    """The program's verdict on some streams; those that are empty yet are left out."""

    def __init__(self, program, paths, environment=None):
        self.leaderships = []
        self.contradictions = []
        self.gaps = {}
        self.proved = True
        self.seconds = 0.0
        paths = [path for path in paths if os.path.exists(path) and os.path.getsize(path)]
        if not paths:
            return
        done = subprocess.run(
            [program, "audit", "--json", "--", *paths],
            capture_output=True,
            text=True,
            env=environment,
        )
        if done.returncode not in (0, 1) or not done.stdout:
            raise EventError(f"bullring audit: {done.returncode}: {done.stderr}")
        said = json.loads(done.stdout)
        self.leaderships = [
            Leadership(
                held["node"],
                held["epoch"],
                held["elected_ns"],
                held["held_until_ns"],
                held["reason"],
            )
            for held in said["leaderships"]
        ]
        self.contradictions = said["contradictions"]
        self.gaps = {gap["kind"]: gap["what"] for gap in said["gaps"]}
        self.proved = said["proved"]
        self.seconds = said["seconds"]
        if (done.returncode == 1) != bool(self.contradictions):
            raise EventError(f"bullring audit: {done.returncode}: {done.stdout}")

    def unproved(self):
        """One line for each thing that the streams do not show."""
        return [what for kind in self.gaps.values() for what in kind]

    def __str__(self):
        return "\n".join(
            f"{one['what']}:\n"
            + "\n".join(f"  {line['at']}: {line['line']}" for line in one["lines"])
            for one in self.contradictions
        )
