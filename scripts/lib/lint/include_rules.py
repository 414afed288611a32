#!/usr/bin/env python3
"""The rules of includes. Reads the sources; changes nothing.

    protocol/  of the standard library what neither does I/O, waits, reads a clock nor draws entropy
    include/   the standard library, include/ itself and protocol's plain value types
    src/       include/, protocol/, libraries, and of src/ what the table of src/README.md says,
               which src/CMakeLists.txt has to say, too; cereal in src/wire/codec* only
    sim/       protocol/, sim/ and libraries; never src/
    tests/     everything

Usage: include_rules.py [ROOT]     exit 1 and one line for each breach
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*(?://.*)?$")
SUFFIXES = {".cpp", ".hpp", ".h", ".ipp", ".in"}

PURE_STANDARD = set(
    """algorithm array bit cassert charconv climits cmath compare concepts cstddef cstdint cstdlib
    cstring deque functional initializer_list iterator limits list map memory numeric optional queue
    ranges set span stack string string_view tuple type_traits utility variant vector
    version""".split()
)
STANDARD = PURE_STANDARD | set(
    """any atomic barrier bitset cctype cerrno chrono cinttypes clocale condition_variable coroutine
    csignal cstdio ctime cwchar exception filesystem forward_list fstream future iomanip ios iosfwd
    iostream istream latch locale mutex new ostream random ratio regex semaphore shared_mutex
    source_location sstream stdexcept stop_token streambuf system_error thread typeindex typeinfo
    unordered_map unordered_set""".split()
)
PROTOCOL_VALUES = {"protocol/values/ids.hpp", "protocol/values/time.hpp"}
BASE_VALUES = {
    f"protocol/values/{name}.hpp" for name in ("assert", "ids", "membership", "names", "time")
}
# The C interface is C; and what makes a file durable is the system's.
MORE_OF = {
    "include/bullring/bullring.h": {"stddef.h", "stdint.h"},
    "include/bullring/fencing_guard.hpp": {"fcntl.h", "sys/file.h", "unistd.h"},
}


def rule(room, path, kind, name):
    """The reason why this include is refused, or None. `kind` is '<' or '"'."""
    if room == "tests":
        return None
    if kind == '"' and (name.startswith(".") or "/../" in name):
        return "paths are written from the root of the project"
    if name.startswith("tests/") or name.startswith("scripts/"):
        return "only tests include tests"
    if room == "protocol":
        if kind == "<":
            if name in PURE_STANDARD:
                return None
            return "protocol/ may use only the pure part of the standard library"
        return None if name.startswith("protocol/") else "protocol/ includes protocol/ only"
    if room == "include":
        if name in STANDARD or name in PROTOCOL_VALUES or name.startswith("bullring/"):
            return None
        if name in MORE_OF.get(path, ()):
            return None
        return "include/ may use the standard library and protocol's value types only"
    if room == "src":
        if name.startswith("sim/"):
            return "src/ and sim/ never see each other"
        of_protocol = name.startswith("protocol/") and path.startswith("src/base/")
        if of_protocol and name not in BASE_VALUES:
            return "src/base/ knows of the protocol its plainest values only"
        if name.startswith("cereal/") and not re.fullmatch(r"src/wire/codec\w*\.[ch]pp", path):
            return "cereal is the codec's alone (src/wire/codec*)"
    if room == "sim" and (name.startswith("src/") or name.startswith("bullring/")):
        return "src/ and sim/ never see each other"
    return None


def breaches(root):
    root = pathlib.Path(root)
    for room in ("protocol", "include", "src", "sim", "tests"):
        for file in sorted((root / room).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                target = re.match(r'([<"])([^>"]+)[>"]$', found.group(1))
                if not target:
                    if room != "tests":
                        yield f"{path}:{number}: {line.strip()}: an include names a file"
                    continue
                kind, name = target.groups()
                why = rule(room, path, kind, name)
                if (
                    why is None
                    and kind == '"'
                    and not any((root / base / name).exists() for base in ("", "include"))
                ):
                    generated = root / "include" / (name + ".in")
                    if not generated.exists():
                        why = "no such file, seen from the root of the project"
                if why:
                    yield f"{path}:{number}: {kind}{name}{'>' if kind == '<' else kind}: {why}"


ROW = re.compile(r"^\| (`[^|]*`) \|[^|]*\| ([^|]*) \|$", re.MULTILINE)
LINKS = re.compile(r"^bullring_room\((\w+)[^)]*?LINKS ([^)]*)\)", re.MULTILINE)
TARGET_OF = {
    "task/supervisor": "supervisor",
    "task/address": "supervisor",
    "task/attach": "supervisor",
}


def room_table(root):
    """By each room of src/README.md the rooms that its row names."""
    readme = pathlib.Path(root) / "src" / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    table = {}
    for rooms, others in ROW.findall(text):
        for room in re.findall(r"`([\w/]+)`", rooms):
            table[room] = set(re.findall(r"`([\w/]+)`", others))
    return table


def room_of(path, table):
    """The row to which a file below src/ belongs: the longest that fits; None for src/main.cpp."""
    folders = path.removeprefix("src/").split("/")[:-1]
    names = ("/".join(folders[:n]) for n in range(len(folders), 0, -1))
    return next((name for name in names if name in table), None)


def open_to(room, table):
    """The room itself, and whatever it may include."""
    found = set()
    ahead = [room]
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += table.get(one, ())
    return found


def room_breaches(root):
    root = pathlib.Path(root)
    table = room_table(root)
    for file in sorted((root / "src").rglob("*")) if table else ():
        path = file.relative_to(root).as_posix()
        if file.suffix not in SUFFIXES or not file.is_file() or path == "src/main.cpp":
            continue
        own = room_of(path, table)
        if own is None:
            yield f"{path}: src/README.md has no room for it"
            continue
        peers = {room for room in table if TARGET_OF.get(room, room) == TARGET_OF.get(own, own)}
        allowed = open_to(own, table) | peers
        for line in file.read_text(encoding="utf-8").splitlines():
            include = re.match(r'\s*#\s*include "(src/[^"]+)"', line)
            other = room_of(include.group(1), table) if include else None
            if other is not None and other not in allowed:
                yield f"{path}: {include.group(1)}: src/README.md lets {own} not include {other}"


def link_breaches(root):
    """Where the links of src/CMakeLists.txt are not the rows of src/README.md."""
    table = room_table(root)
    cmake = pathlib.Path(root) / "src" / "CMakeLists.txt"
    text = cmake.read_text(encoding="utf-8") if table and cmake.exists() else ""
    told = {}
    for room, others in table.items():
        told.setdefault(TARGET_OF.get(room, room), set()).update(
            TARGET_OF.get(other, other) for other in others
        )
    linked = {
        name: set(re.findall(r"bullring::(\w+)", links)) & set(told)
        for name, links in LINKS.findall(text)
    }
    # These two are no rooms of bullring_room(): the library, and what embeds the manual.
    for name in sorted((set(told) | set(linked)) - {"api", "manual"}):
        if name not in linked:
            yield f"src/CMakeLists.txt: {name}, a row of src/README.md, is no target"
        elif name not in told:
            yield f"src/CMakeLists.txt: {name} has no row in src/README.md"
        elif linked[name] != told[name]:
            yield (
                f"src/CMakeLists.txt: {name} links {sorted(linked[name])}, "
                f"src/README.md says {sorted(told[name])}"
            )


# The state of a node, which it gathers from all folders of protocol/. It stands below their rules,
# which change it: for the order of the folders its own includes do not count.
GATHERED = "protocol/parts.hpp"


def folder(path):
    return "protocol/parts" if path.stem == "parts" else path.parent.as_posix()


def pair(path):
    """A header and the source of its name, which are one to those who include it."""
    return path.with_suffix("").as_posix()


def included(root, group):
    """For each group of files the other groups of the project that they include from."""
    found = {}
    for room in ("protocol", "src", "sim"):
        for file in sorted((root / room).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            own = group(file.relative_to(root))
            if group is folder and file == root / GATHERED:
                continue
            for line in file.read_text(encoding="utf-8").splitlines():
                include = INCLUDE.match(line)
                target = root / include.group(1).strip('"') if include else root
                if target.is_file() and group(target.relative_to(root)) != own:
                    found.setdefault(own, set()).add(group(target.relative_to(root)))
    return found


def circles(root, group):
    """The sets of groups each of which includes from each other, by way of others or not."""
    reached = included(pathlib.Path(root), group)
    before = {}
    while reached != before:
        before = reached
        reached = {
            own: others.union(*(before.get(other, ()) for other in others))
            for own, others in before.items()
        }
    return {
        frozenset(other for other in others if own in reached.get(other, ()))
        for own, others in reached.items()
        if own in others
    }


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3]
    found = [*breaches(root), *room_breaches(root), *link_breaches(root)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
