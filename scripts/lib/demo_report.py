"""What the demo shows: a timeline while it runs, the closing table, and the failed expectations."""

import os
import sys

from bullring_events import now_ns

_COLOURS = {"bold": "1", "green": "32", "red": "31", "yellow": "33", "cyan": "36", "dim": "2"}


def coloured(text, colour):
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{_COLOURS[colour]}m{text}\033[0m"


def ms(nanoseconds):
    value = nanoseconds / 1e6
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


class Report:
    """Collects the results of both algorithms by the name of the step."""

    def __init__(self):
        self.rows = []
        self.results = {}
        self.failures = []
        self.algorithm = None
        self._origin_ns = now_ns()
        self._last_epoch = None
        self._jump_explained = False

    def begin(self, algorithm):
        self.algorithm = algorithm
        self.section()

    def section(self):
        """Starts a new cluster's clock and epochs."""
        self._origin_ns = now_ns()
        self._last_epoch = None

    def heading(self, text):
        print("\n" + coloured(text, "bold"), flush=True)

    def line(self, ts_ns, text, colour=None):
        at_s = (ts_ns - self._origin_ns) / 1e9
        shown = coloured(text, colour) if colour else text
        print(f"  {coloured(f'{at_s:8.3f} s', 'dim')}  {shown}", flush=True)

    def act(self, text, ts_ns=None):
        self.line(ts_ns or now_ns(), text, "cyan")

    def result(self, row, text):
        """What the closing table shows for this step."""
        if row not in self.rows:
            self.rows.append(row)
        self.results[(row, self.algorithm)] = text

    def expect(self, condition, text):
        """Checks one of the demo's own expectations."""
        if condition:
            self.line(now_ns(), f"ok: {text}", "green")
        else:
            self.line(now_ns(), f"NOT AS EXPECTED: {text}", "red")
            self.failures.append(f"{self.algorithm}: {text}")

    def fail(self, text):
        self.failures.append(f"{self.algorithm}: {text}")
        print(coloured(f"  FAILED: {text}", "red"), flush=True)

    def show_event(self, event, prefix=""):
        """One event of one node, if it is one that a reader wants to see."""
        node, kind = event["node"], event["event"]
        if kind == "elected":
            grants = ", ".join(str(voter) for voter in event["grants"])
            self.line(
                event["ts_ns"],
                f"{prefix}node {node} is elected: epoch {event['epoch']}, granted by {grants}",
                "bold",
            )
            self._explain_jump(event["epoch"])
        elif kind == "deposed":
            self.line(
                event["ts_ns"],
                f"{prefix}node {node} leads no more: epoch {event['epoch']}, {event['reason']}",
                "yellow",
            )

    def _explain_jump(self, epoch):
        before, self._last_epoch = self._last_epoch, epoch
        if before is not None and epoch > before + 1000 and not self._jump_explained:
            self._jump_explained = True
            print(
                "              (the epoch jumps: a restarted node passes over the 1024 epochs that"
                " it had reserved, and so never uses one twice)"
            )

    def table(self, algorithms):
        self.heading("What happened")
        width = max(len(row) for row in self.rows)
        cells = {
            algorithm: max(
                [len(algorithm)]
                + [len(self.results.get((row, algorithm), "-")) for row in self.rows]
            )
            for algorithm in algorithms
        }
        print("  " + " " * width + "".join(f"  {name:<{cells[name]}}" for name in algorithms))
        print("  " + "-" * (width + sum(cell + 2 for cell in cells.values())))
        for row in self.rows:
            shown = "".join(
                f"  {self.results.get((row, name), '-'):<{cells[name]}}" for name in algorithms
            )
            print(f"  {row:<{width}}{shown}")

    def verdict(self):
        print()
        if self.failures:
            print(coloured(f"{len(self.failures)} expectation(s) failed:", "red"))
            for failure in self.failures:
                print(f"  {failure}")
            return 1
        print(coloured("Everything was as expected.", "green"))
        return 0
