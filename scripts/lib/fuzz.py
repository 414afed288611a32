#!/usr/bin/env python3
"""Runs the fuzz targets, which scripts/fuzz has built, and says what came of it.

Usage: see scripts/fuzz. --check only reads the arguments.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from script_main import seconds

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "fuzz"
BUILD = ROOT / "build-fuzz"
# The limits of the inputs that the tree keeps for a target.
INPUTS_MAX = 200
BYTES_MAX = 100_000

# The options that differ from target to target. A frame makes no larger allocation than itself; a
# picture or a run of a cluster takes longer, and inputs that mean more than so many bytes find
# nothing new.
USUAL = {"rss_limit_mb": 512, "malloc_limit_mb": 64, "timeout": 20, "max_len": 4096}
OPTIONS = {
    "codec": {"rss_limit_mb": 256, "malloc_limit_mb": 16, "max_len": 2048},
    "frames": {"rss_limit_mb": 256, "malloc_limit_mb": 16},
    "step": {"max_len": 512},
    "cluster": {"max_len": 512, "timeout": 60},
    "schedule": {"max_len": 512, "timeout": 60},
    "observers": {"max_len": 2048},
    "http": {"max_len": 16384},
    "key_files": {"max_len": 1024, "malloc_limit_mb": 16},
    "certificates": {"malloc_limit_mb": 16},
    "state_file": {"max_len": 256, "malloc_limit_mb": 16},
    "durations": {"max_len": 64},
    "peers": {"max_len": 512},
    "tls": {"max_len": 1024},
}


def targets():
    return sorted(source.stem for source in SOURCES.glob("*.cpp"))


def target(text):
    if text not in targets():
        names = ", ".join(targets())
        raise argparse.ArgumentTypeError(f"there is no target '{text}'; the targets are: {names}")
    return text


def arguments():
    parser = argparse.ArgumentParser(prog="fuzz", add_help=False)
    parser.add_argument("targets", nargs="*", type=target)
    parser.add_argument("--for", dest="time", type=seconds, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_intermixed_args()
    given.targets = given.targets or targets()
    given.jobs = max(given.jobs, 1)
    return given


def environment():
    symbolizer = shutil.which("llvm-symbolizer-19") or ""
    return {
        **os.environ,
        # Short traces of allocations take less time; a replay has long ones.
        "ASAN_OPTIONS": "detect_stack_use_after_return=0:quarantine_size_mb=16"
        ":malloc_context_size=4",
        "ASAN_SYMBOLIZER_PATH": symbolizer,
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "UBSAN_SYMBOLIZER_PATH": symbolizer,
    }


def program(name):
    return BUILD / "fuzz" / name


def flags(name):
    return [f"-{key}={value}" for key, value in {**USUAL, **OPTIONS.get(name, {})}.items()]


def kept(name):
    """The inputs that the tree keeps for a target, in one file: there are thousands."""
    return SOURCES / "corpus" / f"{name}.zip"


def keep(name, inputs):
    """Writes them down; the same inputs make the same file."""
    with zipfile.ZipFile(kept(name), "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(inputs):
            archive.writestr(zipfile.ZipInfo(file), inputs[file], zipfile.ZIP_DEFLATED)


def corpus(name):
    """Where new inputs go, and where they come from."""
    own, tree = BUILD / "corpus" / name, BUILD / "kept" / name
    own.mkdir(parents=True, exist_ok=True)
    if not kept(name).exists():
        return [own]
    shutil.rmtree(tree, ignore_errors=True)
    with zipfile.ZipFile(kept(name)) as archive:
        archive.extractall(tree)
    return [own, tree]


def start(name, *words):
    """Runs the program of a target; what it says is on its standard error."""
    return subprocess.run(
        [program(name), *flags(name), *words, *corpus(name)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )


def number(pattern, output):
    found = re.findall(pattern, output)
    return int(found[-1]) if found else 0


class Run:
    """One process of a target, from its beginning to its end."""

    def __init__(self, name, time):
        self.name = name
        found = BUILD / "found"
        found.mkdir(exist_ok=True)
        done = start(
            name,
            f"-max_total_time={time}",
            f"-artifact_prefix={found}/{name}-",
            "-print_final_stats=1",
        )
        self.output = done.stderr.decode(errors="replace")
        self.good = done.returncode == 0
        self.executions = number(r"stat::number_of_executed_units: +(\d+)", self.output)
        self.rate = number(r"stat::average_exec_per_sec: +(\d+)", self.output)
        self.added = number(r"stat::new_units_added: +(\d+)", self.output)
        self.coverage = number(r" cov: (\d+)", self.output)
        self.features = number(r" ft: (\d+)", self.output)
        self.inputs = number(r" corp: (\d+)/", self.output)

    def complaint(self):
        written = re.findall(r"Test unit written to (\S+)", self.output)
        lines = self.output.splitlines()
        begin = next(
            (n for n, line in enumerate(lines) if re.search("broken:|ERROR:|runtime error", line)),
            max(len(lines) - 40, 0),
        )
        text = [f"{self.name}: FOUND", *(f"    {line}" for line in lines[begin : begin + 60])]
        for path in written:
            text += [f"input:  {path}", f"replay: {program(self.name)} {path}"]
        return "\n".join(text)


def report(name, runs):
    executions = sum(run.executions for run in runs)
    rate = sum(run.rate for run in runs)
    best = max(runs, key=lambda run: run.features)
    added = sum(run.added for run in runs)
    print(
        f"{name:14} {executions:>13,} executions {rate:>8,}/s   coverage {best.coverage:>5} edges, "
        f"{best.features:>6} features   corpus {best.inputs:>5} inputs, {added} new",
        flush=True,
    )


def fuzz(given):
    """Whether nothing was found."""
    each = max(given.jobs // len(given.targets), 1)
    print(f"{len(given.targets)} targets, {given.time} s each, {given.jobs} processes", flush=True)
    good = True
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        started = [
            (name, [pool.submit(Run, name, given.time) for _ in range(each)])
            for name in given.targets
        ]
        for name, futures in started:
            runs = [future.result() for future in futures]
            report(name, runs)
            for run in runs:
                if not run.good:
                    print(run.complaint(), flush=True)
                    good = False
    return good


def merged(name, folder):
    """As few inputs as reach each place of the code that any reaches; small ones are preferred."""
    # How often a place is reached does not matter.
    start(name, "-set_cover_merge=1", "-use_counters=0", folder).check_returncode()
    return sorted(folder.iterdir(), key=lambda file: (file.stat().st_size, file.name))


def minimise(name):
    inputs, size = {}, 0
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        for file in merged(name, pathlib.Path(folder))[:INPUTS_MAX]:
            size += file.stat().st_size
            if size > BYTES_MAX:
                break
            # Shorter names than libFuzzer's are unique enough.
            inputs[file.name[:12]] = file.read_bytes()
    keep(name, inputs)
    size = sum(map(len, inputs.values()))
    print(
        f"{name:14} {len(inputs)} inputs, {size:,} bytes in {kept(name).relative_to(ROOT)}",
        flush=True,
    )


def main():
    given = arguments()
    if given.list:
        print("\n".join(targets()))
        return 0
    if given.check:
        return 0
    if not fuzz(given):
        return 1
    if given.minimise:
        for name in given.targets:
            minimise(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
