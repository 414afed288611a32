"""tests/unsteady.txt: tests that were seen to fail and then to pass, while somebody finds out why.

A line each: the day on which it was seen first, the case's name, and what it said.

    2026-11-25  process.run::test_two_and_a_witness  waited 60 s for: command number 2 to begin

What stands there may fail without making the run red. A line has 14 days; then its test is mended,
or the run is red. A line whose test no longer exists is an error, too.
"""

import dataclasses
import datetime
import pathlib

DAYS = 14


class WrongLine(Exception):
    """A line that is not understood."""


@dataclasses.dataclass(frozen=True)
class Line:
    day: datetime.date
    name: str
    why: str

    def days_left(self, today):
        return DAYS - (today - self.day).days


def read(path):
    """The lines of the file, {name: Line}."""
    lines = {}
    for number, text in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        try:
            day, name, why = text.split(maxsplit=2)
            lines[name] = Line(datetime.date.fromisoformat(day), name, why)
        except ValueError:
            raise WrongLine(f"{path}:{number}: expected DAY NAME WHY, like 2026-11-25 …") from None
    return lines


def line_for(name, why, today):
    """The line for a case."""
    return f"{today.isoformat()}  {name}  {why[:100] or 'no word'}"
