"""The verdict on a run of the tests, as scripts/test prints it at its end.

Judges, and runs nothing.
"""

import dataclasses
import datetime
import json

from gate import unsteady

FAILED_MAX = 4  # more failures of real processes than these have one cause: no second try
UNSTEADY_MAX = 2  # that are not known yet
UNJUDGED_MAX = 20  # then the machine was no machine to test on


@dataclasses.dataclass
class Outcome:
    """The findings; each list holds names, or (name, why)."""

    passed: int = 0
    judged: tuple = (0, 0)  # clusters, and their leaderships, by the audit
    violations: list = dataclasses.field(default_factory=list)
    failed: list = dataclasses.field(default_factory=list)
    unsteady: list = dataclasses.field(default_factory=list)
    quarantined: list = dataclasses.field(default_factory=list)
    unjudged: list = dataclasses.field(default_factory=list)
    overdue: list = dataclasses.field(default_factory=list)

    def found_fault(self):
        return bool(self.violations or self.failed or self.overdue) or (
            len(self.unsteady) > UNSTEADY_MAX
        )

    @property
    def status(self):
        return 1 if self.found_fault() or len(self.unjudged) > UNJUDGED_MAX else 0

    def findings(self):
        """A line for each thing that is not as it should be."""
        for name, why in self.violations:
            yield f"SAFETY       {name}: {why}"
        for name, why in self.failed:
            yield f"FAILED       {name}: {why}"
        for name, why in self.unsteady:
            yield f"UNSTEADY     {name}: {why}"
        for name, why in self.quarantined:
            yield f"QUARANTINED  {name}: {why}"
        for name, why in self.unjudged:
            yield f"NOT JUDGED   {name}: {why}"
        for line in self.overdue:
            yield f"OVERDUE      {line.name}: in tests/unsteady.txt since {line.day}"

    def lines(self, today=None):
        """The report; the last line says it in one sentence."""
        today = today or datetime.date.today()
        yield from self.findings()
        if self.unsteady:
            yield "For tests/unsteady.txt, until it is known why:"
            for name, why in self.unsteady:
                yield "  " + unsteady.line_for(name, why, today)
        yield self.sentence()

    def write(self, path):
        """For the end of scripts/test (closing.py)."""
        told = {
            "status": self.status,
            "passed": self.passed,
            "leaderships": self.judged[1],
            "sentence": self.sentence(),
            "lines": list(self.findings()),
        }
        path.write_text(json.dumps(told, indent=1) + "\n")

    def sentence(self):
        counts = f"{self.passed} passed"
        for count, word in (
            (len(self.failed), "failed"),
            (len(self.unsteady), "unsteady"),
            (len(self.quarantined), "quarantined"),
            (len(self.unjudged), "not judged"),
        ):
            counts += f", {count} {word}" if count else ""
        if self.judged[0]:
            counts += f"; {self.judged[1]} leaderships of {self.judged[0]} clusters judged"
        if self.violations:
            return f"BROKEN: a safety violation, at the first attempt ({counts})."
        if self.failed:
            return f"BROKEN: {counts}."
        if len(self.unsteady) > UNSTEADY_MAX:
            return f"BROKEN: more than {UNSTEADY_MAX} tests are unsteady ({counts})."
        if self.overdue:
            return f"BROKEN: an unsteady test was not mended in {unsteady.DAYS} days ({counts})."
        if len(self.unjudged) > UNJUDGED_MAX:
            return f"NOT TO BE TOLD: this machine stood still too often ({counts})."
        return f"SOUND: {counts}."
