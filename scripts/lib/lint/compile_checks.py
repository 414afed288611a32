#!/usr/bin/env python3
"""Checks that need a compiler's eyes, side by side on all cores. What was found good is remembered,
for every checkout on this machine, and not looked at again until it, a project header that it
includes, the tool, its settings or the libraries change.

    headers  every header of protocol/, include/, src/, sim/ compiles alone; those that their own
             source includes first do so in every ordinary build, and are left out
    alone    every source of protocol/, src/, sim/ compiles by itself, with -Wshadow: in a build
             that joins sources one may lean on the includes of another, and -Wshadow is off
    syntax   the tests compile with the compiler of the build directory, warnings as errors, and the
             fuzz targets, which are built by a preset of their own, like them
    tidy     clang-tidy finds nothing in protocol/, src/, sim/, no warning of the compiler either

Usage: compile_checks.py KIND BUILD_DIR [--part K/M] [--tidy PROGRAM] [--jobs N] [--root ROOT]

BUILD_DIR is one that CMake configured: for `alone` without joined sources (preset dev), else with
Clang. Its compile_commands.json says how all compiles.
With --part 2/3 only every third of them, from the second on.
Exit 1 if anything is found.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from lint import found_good

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
ROOMS = ("protocol", "include", "src", "sim")


class Tree:
    """The project's sources, how each compiles, and a digest of all that each depends on."""

    def __init__(self, root, build):
        self.root, self.build = pathlib.Path(root), pathlib.Path(build)
        self.commands = {}
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            path = pathlib.Path(entry["file"])
            if path.is_relative_to(self.root):
                self.commands[path.relative_to(self.root).as_posix()] = self.flags(entry)
        self.digests = {}

    @staticmethod
    def flags(entry):
        """The compile command without its launcher, its input and its output."""
        words = shlex.split(entry["command"])
        while "ccache" in os.path.basename(words[0]):
            words.pop(0)
        kept, skip = [], False
        for word in words:
            if skip or word in ("-c", entry["file"]):
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word not in ("-MD", "-MMD"):
                kept.append(word)
        return kept

    def headers(self):
        for room in ROOMS:
            for suffix in ("*.hpp", "*.h"):
                yield from (
                    p.relative_to(self.root).as_posix()
                    for p in sorted((self.root / room).rglob(suffix))
                    if not self.stands_first_in_its_source(p)
                )

    def stands_first_in_its_source(self, header):
        source = header.with_suffix(".cpp")
        if not source.is_file():
            return False
        first = INCLUDE.search(source.read_text(encoding="utf-8"))
        return first is not None and self.root / first.group(1) == header

    def room(self, source):
        """Of a source, or of several that CMake has joined into one in the build directory."""
        path = self.root / source
        base = self.build if path.is_relative_to(self.build) else self.root
        return path.relative_to(base).parts[0]

    def flags_for(self, file):
        """A file that is compiled by itself compiles like its room's sources; the public headers
        like the runtime's."""
        room = "src" if file.startswith("include/") else file.split("/")[0]
        for path, flags in self.commands.items():
            if self.room(path) == room:
                return flags
        return next(iter(self.commands.values()))

    def find(self, name):
        for base in (self.root, self.root / "include", self.build / "include"):
            if (base / name).is_file():
                return base / name
        return None

    def digest(self, path):
        """Of a file and of the project's headers that it includes, however deep."""
        seen, waiting, whole = set(), [pathlib.Path(path)], hashlib.sha256()
        while waiting:
            file = waiting.pop()
            if file in seen:
                continue
            seen.add(file)
            if file not in self.digests:
                text = file.read_bytes()
                names = INCLUDE.findall(text.decode("utf-8", "replace"))
                found = [f for f in map(self.find, names) if f]
                self.digests[file] = (hashlib.sha256(text).digest(), found)
            waiting += self.digests[file][1]
        for file in sorted(seen):
            whole.update(self.anywhere(str(file)).encode() + self.digests[file][0])
        return whole.hexdigest()

    def anywhere(self, text):
        """Without the place where this checkout, and its build, happen to stand."""
        return text.replace(str(self.build), "BUILD").replace(str(self.root), "ROOT")


def tool_digest(program, *files):
    """The tool's version, its settings and the versions of the installed libraries."""
    whole = hashlib.sha256()
    for file in (*files, pathlib.Path(__file__)):
        whole.update(file.read_bytes())
    packages = ["lib*-dev", "doctest-dev", "nlohmann-json3-dev"]
    ask = ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages]
    # Elsewhere than on Debian the libraries' versions are not part of the memory.
    for command in [[program, "--version"], *([ask] if shutil.which(ask[0]) else [])]:
        whole.update(subprocess.run(command, stdout=subprocess.PIPE).stdout)
    return whole.hexdigest()


OPTIONS = {
    "headers": ["-Wno-pragma-once-outside-header", "-x", "c++"],
    "alone": ["-Wshadow"],
    "syntax": [],
}


def files_for(kind, tree):
    """Each file to look at, and the flags with which it compiles."""
    if kind == "headers":
        yield from ((header, tree.flags_for(header)) for header in tree.headers())
        return
    if kind == "syntax":
        for path in sorted((tree.root / "tests" / "fuzz").rglob("*.cpp")):
            source = path.relative_to(tree.root).as_posix()
            if source not in tree.commands:
                yield source, tree.flags_for(source)
    for source, flags in sorted(tree.commands.items()):
        of_room = tree.room(source) in ROOMS
        if kind == "alone" and source.split("/")[0] not in ROOMS:
            continue  # generated, or a test
        if kind == "syntax" and of_room:
            continue  # clang-tidy compiles these, and tells the compiler's warnings
        if kind == "tidy" and not (of_room and (tree.root / source).exists()):
            continue  # a test, or a generated source, which is not there before its build
        yield source, flags


def jobs_for(kind, tree, tidy):
    """(name, command, what the outcome depends on) for each thing to look at."""
    tool = None
    for name, flags in files_for(kind, tree):
        path = str(tree.root / name)
        if kind == "tidy":
            tool = tool or tool_digest(tidy, tree.root / ".clang-tidy")
            command = [tidy, "--quiet", "--warnings-as-errors=*", "-p", str(tree.build), path]
        else:
            tool = tool or tool_digest(flags[0])
            command = [*flags, "-fsyntax-only", "-Werror", *OPTIONS[kind], path]
        yield name, command, (tool, " ".join(flags), tree.digest(path))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("headers", "alone", "syntax", "tidy"))
    parser.add_argument("build")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--tidy", default="clang-tidy-16")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[3])
    args = parser.parse_args()

    tree = Tree(pathlib.Path(args.root).resolve(), pathlib.Path(args.build).resolve())
    first, step = map(int, args.part.split("/"))
    jobs = [
        found_good.Job(name, command, tree.anywhere(repr((command, inputs))))
        for name, command, inputs in list(jobs_for(args.kind, tree, args.tidy))[first - 1 :: step]
    ]
    return found_good.look(args.kind, jobs, args.jobs)


if __name__ == "__main__":
    sys.exit(main())
