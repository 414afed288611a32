#!/usr/bin/env python3
"""Every checker of the simulator can fail: each *.patch of this folder breaks one rule of
protocol/, and the simulator has to find it.

The sources are copied once. For each patch: apply it to the copy (without fuzz: a patch that does
not apply any more is a failure), build the simulator, run a sweep that stops at its first failure,
take the patch back. The head of a patch says what it breaks and by which check it has to be found:

    Breaks: R3
    Caught by: I5 I1        one of these checks has to fire first
    Seeds: 1..1000          within these seeds
    Sweep: --nodes 3        more arguments for the sweep; may be left out
    Scenario: FILE…         below tests/; these are played instead, and one of them has to break
    Explore: --faults 1     the exhaustive search with these arguments has to find it too

Usage: run_mutants.py [NAME…] [--part K/M] [--jobs N] [--work DIR] [--apply-only] [--list]

One line a mutant. Exit 1 if one is not caught, is caught by another check, does not apply or does
not build, or if the simulator finds anything in the sources as they are. --apply-only builds
nothing.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = "bullring_sim"
# The sources of the simulator; without those of src/ its CMakeLists.txt builds nothing.
SOURCES = (
    "CMakeLists.txt",
    "protocol",
    "sim",
    "include",
    "scripts/cmake",
    "src/CMakeLists.txt",
    "src/viewer",
)
SEEDS = "1..1000"
CONTROL_SEEDS = "1..300"
SWEEP_SECONDS_MAX = 900
HEAD = re.compile(r"^(Breaks|Caught by|Seeds|Sweep|Scenario|Explore): *(\S.*?) *$", re.MULTILINE)
DIFF = re.compile(r"^--- a/protocol/", re.MULTILINE)
END_OF_PATH = re.compile(r"^([IL]\d+): (.*)$", re.MULTILINE)
BROKEN = re.compile(r"^BROKEN +(\S+?\.txt)(?::\d+)?: (\S+) is broken (.*)$", re.MULTILINE)


class MutantError(Exception):
    """A mutant that could not be tried."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    patch: pathlib.Path
    what: str
    breaks: str
    checks: tuple
    seeds: str
    sweep: tuple
    scenarios: tuple
    explore: tuple

    @staticmethod
    def read(patch):
        text = patch.read_text(encoding="utf-8")
        diff = DIFF.search(text)
        head = text[: diff.start()] if diff else text
        said = dict(HEAD.findall(head))
        if not diff or "Breaks" not in said or "Caught by" not in said:
            raise MutantError(
                f"{patch.name}: no diff of protocol/, or a head without "
                "`Breaks:` and `Caught by:`"
            )
        what = " ".join(head.split("\n\n")[0].split())
        scenarios = tuple(HERE.parent / name for name in said.get("Scenario", "").split())
        for scenario in scenarios:
            if not scenario.is_file():
                raise MutantError(f"{patch.name}: there is no {scenario}")
        return Mutant(
            patch.stem,
            patch,
            what,
            said["Breaks"],
            tuple(said["Caught by"].split()),
            said.get("Seeds", SEEDS),
            tuple(said.get("Sweep", "").split()),
            scenarios,
            tuple(said.get("Explore", "").split()),
        )


def all_mutants():
    return [Mutant.read(patch) for patch in sorted(HERE.glob("*.patch"))]


def run(command, where=None, limit=None, env=None):
    """Its exit status and what it said; None for a status when it took too long."""
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=where,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=limit)
        return process.returncode, said
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        return None, said
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def last_lines(text, count=12):
    return "\n".join("    " + line for line in text.rstrip().splitlines()[-count:])


class Tree:
    """A copy of the sources and its build directory, in which one patch at a time is applied."""

    def __init__(self, work, jobs, target=TARGET, sources=SOURCES):
        # Laid out and built as in CI, so that a compiler cache knows all objects but the mutants'.
        self.sources, self.build_directory = work / "tree", work / "tree" / "build"
        self.jobs, self.target, self.copied = jobs, target, sources
        self.env = {**os.environ, "CCACHE_BASEDIR": str(self.sources), "CCACHE_NOHASHDIR": "1"}

    def copy(self):
        """Files that are as they were keep their time, so that they are not built again."""
        wanted = set()
        for name in self.copied:
            source = ROOT / name
            files = [source] if source.is_file() else [f for f in source.rglob("*") if f.is_file()]
            if not files:
                raise MutantError(f"there is no {name}")
            wanted |= {f.relative_to(ROOT) for f in files if "__pycache__" not in f.parts}
        if self.sources.exists():
            for old in [f for f in self.sources.rglob("*") if f.is_file()]:
                path = old.relative_to(self.sources)
                if path not in wanted and path.parts[0] != self.build_directory.name:
                    old.unlink()
        for path in wanted:
            source, target = ROOT / path, self.sources / path
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def patch(self, mutant, *flags):
        status, said = run(
            [
                "patch",
                "-p1",
                "--fuzz=0",
                "--forward",
                "--no-backup-if-mismatch",
                "--reject-file=-",
                *flags,
                "-i",
                mutant.patch,
            ],
            where=self.sources,
        )
        if status != 0:
            raise MutantError(f"the patch does not apply:\n{last_lines(said)}")

    def configure(self):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        self.must(
            [
                "cmake",
                "-S",
                self.sources,
                "-B",
                self.build_directory,
                *generator,
                "-DBULLRING_TESTS=OFF",
                "-DCMAKE_BUILD_TYPE=Release",
                "-DBULLRING_WERROR=ON",
            ]
        )

    def build(self):
        """The seconds that it took."""
        began = time.monotonic()
        self.must(
            [
                "cmake",
                "--build",
                self.build_directory,
                "--target",
                self.target,
                "--parallel",
                str(self.jobs),
            ]
        )
        return time.monotonic() - began

    def must(self, command):
        status, said = run(command, env=self.env)
        if status != 0:
            raise MutantError(f"`{' '.join(map(str, command[:2]))} …` failed:\n{last_lines(said)}")

    def sweep(self, seeds, more=()):
        """The violations in the order of their seeds, and the seconds that it took."""
        found = self.build_directory / "mutant.json"
        found.unlink(missing_ok=True)
        began = time.monotonic()
        status, said = run(
            [
                self.build_directory / "bullring-sim",
                "sweep",
                "--seeds",
                seeds,
                "--jobs",
                str(self.jobs),
                "--stop-at-first",
                "--json",
                found,
                *more,
            ],
            where=self.build_directory,  # what it cuts down stays there
            limit=SWEEP_SECONDS_MAX,
        )
        took = time.monotonic() - began
        if status is None:
            raise MutantError(f"the sweep was not done after {SWEEP_SECONDS_MAX} s")
        if status not in (0, 1) or not found.exists():
            raise MutantError(f"the sweep ended with status {status}:\n{last_lines(said)}")
        violations = json.loads(found.read_text(encoding="utf-8"))["violations"]
        if (status == 0) == bool(violations):
            raise MutantError(
                f"the sweep ended with status {status} and "
                f"{len(violations)} violations:\n{last_lines(said)}"
            )
        for violation in violations:
            violation["where"] = f"at seed {violation['seed']}"
        return sorted(violations, key=lambda violation: violation["seed"]), took

    def play(self, scenarios):
        """The violations of the scenarios, and the seconds that it took."""
        began = time.monotonic()
        status, said = run(
            [self.build_directory / "bullring-sim", "scenario", *scenarios], limit=SWEEP_SECONDS_MAX
        )
        took = time.monotonic() - began
        violations = [
            {"check": check, "what": what, "where": f"in {pathlib.Path(file).name}"}
            for file, check, what in BROKEN.findall(said)
        ]
        if status not in (0, 1) or (status == 0) == bool(violations):
            raise MutantError(
                f"the scenarios ended with status {status} and "
                f"{len(violations)} violations:\n{last_lines(said)}"
            )
        return violations, took

    def explore(self, arguments):
        """The check by which the exhaustive search ends, or None, and the seconds that it took."""
        began = time.monotonic()
        status, said = run(
            [self.build_directory / "bullring-sim", "explore", *arguments], limit=SWEEP_SECONDS_MAX
        )
        end = END_OF_PATH.search(said)
        if status not in (0, 1) or (status == 0) == bool(end):
            raise MutantError(f"the search ended with status {status}:\n{last_lines(said)}")
        return end and end[1], time.monotonic() - began


def seeds_until(seeds, last=None):
    """How many seeds there are, or until the last one that was tried."""
    first, _, end = seeds.partition("..")
    return (int(end or first) if last is None else last) - int(first) + 1


def control(tree, scenarios):
    """The sources as they are pass, or nothing that a mutant shows would mean anything."""
    built = tree.build()
    violations, took = tree.sweep(CONTROL_SEEDS)
    if not violations and scenarios:
        violations, more = tree.play(scenarios)
        took += more
    said = f"{'(unchanged)':<26} built {built:5.1f} s   "
    if not violations:
        print(
            f"{said}passes seeds {CONTROL_SEEDS} and {len(scenarios)} scenarios ({took:.1f} s)",
            flush=True,
        )
        return True
    first = violations[0]
    print(f"{said}FAILS {first['where']}: {first['check']}: {first['what']}", flush=True)
    return False


def try_mutant(tree, mutant):
    """(caught, the line that says so)."""
    tree.patch(mutant)
    try:
        built = tree.build()
        if mutant.scenarios:
            violations, took = tree.play(mutant.scenarios)
        else:
            violations, took = tree.sweep(mutant.seeds, mutant.sweep)
        end, searched = tree.explore(mutant.explore) if mutant.explore else (None, 0)
    finally:
        tree.patch(mutant, "--reverse")
    said = f"{mutant.name:<26} built {built:5.1f} s   "
    wanted = " ".join(mutant.checks)
    if not violations:
        tried = (
            f"{len(mutant.scenarios)} scenarios"
            if mutant.scenarios
            else f"{seeds_until(mutant.seeds)} seeds"
        )
        return False, f"{said}NOT CAUGHT by {wanted} in {tried} ({took:.1f} s)"
    expected = [violation for violation in violations if violation["check"] in mutant.checks]
    first = (expected or violations)[0]
    where = first["where"]
    if "seed" in first:
        where += f", after {seeds_until(mutant.seeds, first['seed'])} seeds"
    where += f" ({took:.1f} s)"
    if not expected:
        return False, (
            f"{said}NOT CAUGHT by {wanted} but by {first['check']} {where}: " f"{first['what']}"
        )
    if mutant.explore:
        if end not in mutant.checks:
            return False, f"{said}NOT FOUND by explore, which ended with {end} ({searched:.1f} s)"
        where += f", and by explore ({end}, {searched:.1f} s)"
    return True, f"{said}caught by {first['check']} {where}"


def apply_only(mutants, work):
    """Each patch applies to the sources as they are, is taken back, and stands in README.md."""
    tree = Tree(work, 1)
    shutil.copytree(ROOT / "protocol", tree.sources / "protocol")
    listed = (HERE / "README.md").read_text(encoding="utf-8")
    failed = 0
    for mutant in mutants:
        try:
            tree.patch(mutant)
            tree.patch(mutant, "--reverse")
            if f"`{mutant.name}`" not in listed:
                raise MutantError("README.md does not name it")
        except MutantError as error:
            failed += 1
            print(f"{mutant.name}: {error}")
    print(f"{len(mutants) - failed} of {len(mutants)} mutants apply")
    return failed


def run_all(mutants, work, jobs):
    tree = Tree(work, jobs)
    tree.copy()
    tree.configure()
    scenarios = sorted({scenario for mutant in mutants for scenario in mutant.scenarios})
    if not control(tree, scenarios):
        return 1
    failed = []
    began = time.monotonic()
    for mutant in mutants:
        try:
            caught, line = try_mutant(tree, mutant)
        except MutantError as error:
            caught, line = False, f"{mutant.name:<26} FAILED: {error}"
            tree.copy()
        print(line, flush=True)
        if not caught:
            failed.append(mutant.name)
    print(
        f"{len(mutants) - len(failed)} of {len(mutants)} mutants caught "
        f"in {time.monotonic() - began:.0f} s" + (f"; not: {' '.join(failed)}" if failed else "")
    )
    return len(failed)


def part_of(text):
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError("K/M with 1 ≤ K ≤ M")
    return int(match[1]), int(match[2])


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="these mutants only")
    parser.add_argument(
        "--part",
        type=part_of,
        metavar="K/M",
        default=(1, 1),
        help="each M-th mutant, from the K-th on",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--work",
        type=pathlib.Path,
        metavar="DIR",
        help="copy and build here and keep it, instead of in a temporary folder",
    )
    parser.add_argument("--apply-only", action="store_true", help="only see that the patches apply")
    parser.add_argument("--list", action="store_true", help="say what each mutant breaks")
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        mutants = all_mutants()
        unknown = set(args.names) - {mutant.name for mutant in mutants}
        if unknown:
            raise MutantError(f"no such mutant: {' '.join(sorted(unknown))}")
        if args.names:
            mutants = [mutant for mutant in mutants if mutant.name in args.names]
        mutants = mutants[args.part[0] - 1 :: args.part[1]]
        if args.list:
            for mutant in mutants:
                print(
                    f"{mutant.name:<26} {mutant.breaks:<8} {' '.join(mutant.checks):<18} "
                    f"{mutant.what}"
                )
            return 0
        with tempfile.TemporaryDirectory(prefix="bullring-mutants-") as temporary:
            work = (args.work or pathlib.Path(temporary)).resolve()
            if args.apply_only:
                return 1 if apply_only(mutants, pathlib.Path(temporary)) else 0
            return 1 if run_all(mutants, work, args.jobs) else 0
    except MutantError as error:
        print(f"run_mutants: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
