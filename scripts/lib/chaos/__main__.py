"""The command line; `scripts/chaos --help` explains it."""

import argparse
import itertools
import os
import pathlib
import random
import signal
import tempfile
import time
import traceback

from harness import netns
from harness.node import ClusterError, find_program
from harness.profiles import PROFILES
from chaos import cell, groups, shim
from chaos.cases import CASES
from chaos.course import KINDS, SPARES, Course
from chaos.judge import judge
from chaos.network import Network
from chaos.play import Player
from chaos.report import Report
from script_main import run_main, seconds

VIOLATED = 3
ALGORITHMS = ("bully", "ring")
SECURITY = ("none", "key", "tls")
# The kernel takes no process with a realtime priority into a group with a quota.
POSSIBLE_PROFILES = [name for name in PROFILES if name != "realtime"]


def kinds(text):
    known = {kind.name for kind in KINDS}
    words = tuple(text.split(","))
    wrong = [word for word in words if word not in known]
    if wrong:
        raise argparse.ArgumentTypeError(f"no fault {wrong[0]!r}: {', '.join(sorted(known))}")
    return words


def arguments():
    parser = argparse.ArgumentParser(prog="chaos", add_help=False)
    parser.add_argument("--for", dest="seconds", type=seconds, default=600)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--algorithm", choices=ALGORITHMS, default=None)
    parser.add_argument("--security", choices=SECURITY, default=None)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--profile", choices=POSSIBLE_PROFILES, default="lan")
    parser.add_argument("--nodes", type=int, choices=range(3, 10), default=5)
    parser.add_argument("--rate", type=float, default=6.0)
    parser.add_argument("--round", type=seconds, default=20)
    parser.add_argument("--log", type=pathlib.Path, default=None)
    parser.add_argument("--only", type=kinds, default=())
    parser.add_argument("--case", choices=sorted(CASES), default=None)
    options = parser.parse_args()
    if not 0.1 <= options.rate <= 20:
        parser.error(f"argument --rate: {options.rate:g} is not between 0.1 and 20 faults a second")
    if options.round < 2:
        parser.error(f"argument --round: {options.round}s is too short; expected 2s or more")
    for one in ("algorithm", "security", "case"):
        if options.all and getattr(options, one) is not None:
            parser.error(f"argument --{one}: not together with --all")
    options.algorithm = options.algorithm or ALGORITHMS[0]
    options.security = options.security or SECURITY[0]
    for security in SECURITY if options.all else [options.security]:
        if options.only and not Course(0, options.nodes, security, 1, 1, options.only).kinds():
            never = ",".join(options.only)
            parser.error(f"argument --only: {never} does not happen with --security {security}")
    if options.case:
        options.nodes = CASES[options.case].nodes
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


class World:
    """The state that all rounds share."""

    def __init__(self, options, groups, directory, log):
        self.options = options
        self.groups = groups
        self.stopping = False
        self._log = log
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        self.shim = shim.build(directory)
        ids = range(1, options.nodes + SPARES + 1)
        self.network = Network(ids, directory, options.seed)

    def _stop(self, number, frame):
        self.stopping = True

    def log(self, line):
        if self._log is not None:
            print(f"{time.monotonic():.3f} {line}", file=self._log, flush=True)


def play(options, groups, directory, log):
    world = World(options, groups, directory, log)
    if options.case:
        outcome = show(CASES[options.case](world))
        seen = outcome.overlaps is None or outcome.overlaps > 0
        return status(outcome.violations, outcome.problems or not seen)
    course = Course(
        options.seed,
        options.nodes,
        options.security,
        options.rate,
        options.round * 1000,
        options.only,
    )
    report = Report(course.kinds())
    limit = time.monotonic() + options.seconds
    for a_round in course.rounds():
        if world.stopping or time.monotonic() >= limit:
            break
        report.add(show(Player(world, a_round)))
    return conclude(report)


def show(player):
    """Plays, has it judged, and prints a line."""
    try:
        player.play()
        judge(player)
    except Exception:
        player.outcome.problems.append(traceback.format_exc())
    finally:
        player.stage.close(keep_files=player.outcome.is_wrong())
    print(Report.line(player.outcome), flush=True)
    if player.outcome.is_wrong():
        print(f"  logs and event streams are kept in {player.stage.directory}", flush=True)
    return player.outcome


def conclude(report):
    print(f"\n{report.table()}\n{report.healing()}\n{report.verdict()}")
    violations, problems = report.violations(), report.problems()
    never = report.never_struck()
    for kinds_of_it, what in (
        (report.hardly_tried(), "too short a run for"),
        (never, "never struck"),
    ):
        if kinds_of_it:
            print(f"{what}: {', '.join(kinds_of_it)}")
    for found, what in ((violations, "violations of safety"), (problems, "other problems")):
        if found:
            print(f"{len(found)} {what}")
    print("failed" if violations or problems or never else "passed", flush=True)
    return status(violations, problems or never)


def status(violations, problems):
    return VIOLATED if violations else 1 if problems else 0


def main():
    options = arguments()
    options.program = find_program()
    reason = netns.unavailable() or groups.unavailable()
    if reason is not None:
        raise ClusterError(reason)
    if options.log is None and not options.case:
        log = tempfile.NamedTemporaryFile("w", prefix="bullring-chaos-", delete=False)
    else:
        log = open(options.log or os.devnull, "w")
    with log:
        return run_all(options, log) if options.all else run(options, log)


def run_all(options, log):
    statuses = []
    for options.algorithm, options.security in itertools.product(ALGORITHMS, SECURITY):
        statuses.append(cell.in_a_child(lambda: run(options, log)))
        if cell.was_ended():
            break
        print(flush=True)
    passed, wanted = statuses.count(0), len(ALGORITHMS) * len(SECURITY)
    print(f"{passed} of {wanted} runs passed", flush=True)
    return VIOLATED if VIOLATED in statuses else 0 if passed == wanted else 1


def run(options, log):
    if options.case:
        return in_a_cell(options, None)
    print(
        f"seed {options.seed}; again: scripts/chaos --seed {options.seed} --for "
        f"{options.seconds}s --algorithm {options.algorithm} --security {options.security} "
        f"--profile {options.profile} --nodes {options.nodes} --rate {options.rate:g} "
        f"--round {options.round}s" + (f" --only {','.join(options.only)}" if options.only else ""),
        flush=True,
    )
    print(f"a line for each fault: {log.name}", flush=True)
    return in_a_cell(options, log)


def in_a_cell(options, log):
    with tempfile.TemporaryDirectory(prefix="bullring-chaos-") as directory:
        return cell.run(lambda groups: play(options, groups, directory, log))


if __name__ == "__main__":
    run_main(main, "scripts/chaos")
