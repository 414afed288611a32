#!/usr/bin/env python3
"""The style of the project's sources beyond what clang-format decides.

    length   no file of protocol/, src/, include/, sim/ is over 400 lines
    head     each header, and each source without one, begins with a comment that says what it owns
    once     each header has #pragma once
    thread   threads of src/ are made by quiet_thread() alone: none of them handles a signal
    pause    tests wait for events, never for time. Where time itself is tested, the line says
             so: `// pause: why` in C++, `# pause: why` in Python and shell
    replay   unit tests draw nothing from random_device and read no wall clock
    words    no comment begins with Who, What, Whoever or Whatever: it names its subject
    text     no tabs but in debian/rules, no spaces at the end of a line, no unfinished work, a
             newline at the end

Usage: style_rules.py [ROOT]       exit 1 and one line for each breach
"""

import pathlib
import re
import sys

LINES_MAX = 400
ROOMS = ("protocol", "src", "include", "sim")
CPP = {".cpp", ".hpp", ".h", ".in"}
TEXT = CPP | {".py", ".sh", ".cmake", ".txt"}

PAUSE = re.compile(
    r"\b(sleep_for|sleep_until|usleep|nanosleep)\s*\(|\btime\.sleep\s*\(|\basyncio\.sleep\s*\("
    r"|^\s*sleep\s+[\d.$]|\bsleep\s*\(\s*\d"
)
REPLAY = re.compile(r"\brandom_device\b|\bsystem_clock\b|\bhigh_resolution_clock\b")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
# A comment on a line, behind code or alone; and one that is alone.
COMMENT = re.compile(r"(?:^|\s)(?:///?|/\*\*?|#|\"\"\")\s*(.*)")
ONLY_COMMENT = {True: re.compile(r"\s*//"), False: re.compile(r"\s*#(?!!)")}  # of C++; of others
NO_SUBJECT = re.compile(r"(Who|What|Whoever|Whatever)\b")

THREAD = re.compile(r"\bstd::(jthread\b|async\s*\(|thread\s*\w*\s*[({])|\bpthread_create\b")
THREAD_MAKER = "src/base/os/quiet_thread.hpp"


def files_below(root, room):
    for file in sorted((root / room).rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


def room_breaches(file, path, lines):
    if file.suffix not in CPP:
        return
    if len(lines) > LINES_MAX:
        yield f"{path}: {len(lines)} lines, {LINES_MAX} are the most: split it by what it owns"
    # a.cpp and a_more.cpp do what a.hpp says; its head is theirs.
    words = file.stem.split("_")
    heads = ("_".join(words[:n]) + ".hpp" for n in range(1, len(words) + 1))
    headless = file.suffix == ".cpp" and any((file.parent / head).exists() for head in heads)
    if not headless and not (lines and lines[0].startswith(("//", "/* "))):
        yield f"{path}:1: a file begins with a comment that says what it owns"
    guarded = file.suffix == ".h" and any(line.startswith("#ifndef ") for line in lines)  # C
    if file.suffix != ".cpp" and "#pragma once" not in lines and not guarded:
        yield f"{path}: a header needs #pragma once"
    if path.startswith("src/") and path != THREAD_MAKER:
        for number, line in enumerate(lines, 1):
            if THREAD.search(line):
                yield f"{path}:{number}: threads are made by quiet_thread(): {line.strip()}"


def test_breaches(path, lines):
    unit = path.startswith("tests/unit/")
    for number, line in enumerate(lines, 1):
        if PAUSE.search(line) and not re.search(r"(//|#)\s*pause: \S", line):
            yield (
                f"{path}:{number}: wait for an event, not for time "
                f"(or say why time is what is tested: `pause: why`): {line.strip()}"
            )
        if unit and REPLAY.search(line):
            yield f"{path}:{number}: a test that can't be replayed: {line.strip()}"


def word_breaches(file, path, lines):
    """Of the first words of each comment; a line below another goes on with its sentence."""
    below = False
    for number, line in enumerate(lines, 1):
        alone = ONLY_COMMENT[file.suffix in CPP].match(line) is not None
        comment = COMMENT.search(line)
        if comment and NO_SUBJECT.match(comment[1]) and not (alone and below):
            yield f"{path}:{number}: a comment begins with its subject: {line.strip()}"
        below = alone


def text_breaches(path, text, lines):
    if text and not text.endswith("\n"):
        yield f"{path}: no newline at the end"
    for number, line in enumerate(lines, 1):
        if "\t" in line and not path.endswith("/rules"):  # a makefile is made of them
            yield f"{path}:{number}: a tab"
        if line != line.rstrip():
            yield f"{path}:{number}: spaces at the end of the line"
        if UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()}"


def breaches(root):
    root = pathlib.Path(root)
    for room in (*ROOMS, "tests", "scripts"):
        for file in files_below(root, room):
            if file.suffix not in TEXT and room != "scripts":
                continue
            path = file.relative_to(root).as_posix()
            text = file.read_text(encoding="utf-8", errors="replace")
            lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
            if room in ROOMS:
                yield from room_breaches(file, path, lines)
            # The test of these rules holds examples of what they refuse.
            if room == "tests" and not path.startswith("tests/house/"):
                yield from test_breaches(path, lines)
            yield from word_breaches(file, path, lines)
            yield from text_breaches(path, text, lines)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3]
    found = list(breaches(root))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
