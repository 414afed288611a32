"""Prints the demo: a timeline while it runs, the closing table, and the failed expectations."""

import os
import sys

from harness.events import now_ns

_COLOURS = {"bold": "1", "green": "32", "red": "31", "yellow": "33", "cyan": "36", "dim": "2"}


def coloured(text, colour):
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{_COLOURS[colour]}m{text}\033[0m"


def ms(nanoseconds):
    value = nanoseconds / 1e6
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


class Report:
    """Collects the results of both algorithms by the name of the step.

    Events wait until something else is said, so that they come in the order of their clock: streams
    are read one after the other, and a node's lines may be some milliseconds on their way.
    """

    def __init__(self):
        self.rows = []
        self.results = {}
        self.failures = []
        self.algorithm = None
        self._origin_ns = now_ns()
        self._last_epoch = None
        self._jump_explained = False
        self._waiting = []

    def begin(self, algorithm):
        self.algorithm = algorithm
        self.section()

    def section(self):
        """Starts a new cluster's clock and epochs."""
        self._show_events()
        self._origin_ns = now_ns()
        self._last_epoch = None

    def heading(self, text):
        self._show_events()
        print("\n" + coloured(text, "bold"), flush=True)

    def line(self, ts_ns, text, colour=None):
        self._show_events(ts_ns)
        self._print(ts_ns, text, colour)

    def _print(self, ts_ns, text, colour=None):
        at_s = (ts_ns - self._origin_ns) / 1e9
        shown = coloured(text, colour) if colour else text
        print(f"  {coloured(f'{at_s:8.3f} s', 'dim')}  {shown}", flush=True)

    def act(self, text, ts_ns=None):
        self.line(ts_ns or now_ns(), text, "cyan")

    def result(self, row, text, below=None):
        """Adds a row of this step to the closing table, below another row or at its end."""
        if row not in self.rows:
            self.rows.insert(self.rows.index(below) + 1 if below else len(self.rows), row)
        self.results[(row, self.algorithm)] = text

    def expect(self, condition, text):
        """Checks one of the demo's own expectations."""
        if condition:
            self.line(now_ns(), f"ok: {text}", "green")
        else:
            self.line(now_ns(), f"NOT AS EXPECTED: {text}", "red")
            self.failures.append(f"{self.algorithm}: {text}")

    def fail(self, text):
        self._show_events()
        self.failures.append(f"{self.algorithm}: {text}")
        print(coloured(f"  FAILED: {text}", "red"), flush=True)

    def show_event(self, event, prefix=""):
        """One event of one node, if it is one that a reader wants to see."""
        if event["event"] in ("elected", "deposed"):
            self._waiting.append((event["ts_ns"], event["node"], event, prefix))

    def _show_events(self, until_ns=None):
        """Those that were until then, or all."""
        due = [one for one in self._waiting if until_ns is None or one[0] <= until_ns]
        self._waiting = [one for one in self._waiting if one not in due]
        for _, _, event, prefix in sorted(due, key=lambda one: one[:2]):
            self._print_event(event, prefix)

    def _print_event(self, event, prefix):
        node, kind = event["node"], event["event"]
        if kind == "elected":
            grants = ", ".join(str(voter) for voter in event["grants"])
            self._print(
                event["ts_ns"],
                f"{prefix}node {node} is elected: epoch {event['epoch']}, granted by {grants}",
                "bold",
            )
            self._explain_jump(event["epoch"])
        else:
            self._print(
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
