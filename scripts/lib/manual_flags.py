#!/usr/bin/env python3
"""Keeps the lists of flags in the manual as `bullring COMMAND --help` has them.

A page holds a list between two comments, `<!-- flags: run without node -->` and
`<!-- end of flags -->`: the flags of `run`, without those that `node` has with the same words.

Usage: manual_flags.py PROGRAM [--check]

With --check it changes nothing; exit 1 and one line for each page that is behind.
"""

import pathlib
import re
import subprocess
import sys
import textwrap

PAGES = pathlib.Path(__file__).resolve().parents[2] / "src" / "manual"
LIST = re.compile(
    r"(<!-- flags: (\w+)(?: without (\w+))? -->\n).*?(<!-- end of flags -->\n)", re.DOTALL
)
FLAG = re.compile(r"  (--[\w-]+(?: \S+)?)(?: +(\S.*))?")
COLUMNS = 105


def flags_of(program, command):
    """The flags of a command with their words and their default (or None), as its help has them."""
    help_text = subprocess.run(
        [program, command, "--help"], check=True, capture_output=True, text=True
    ).stdout
    lines = help_text[help_text.index("\nOptions:\n") :].split("\n")[2:]
    flags = []
    for line in lines[: lines.index("")]:
        if begins := FLAG.fullmatch(line):
            flags.append((begins[1], [begins[2]] if begins[2] else []))
        elif flags:
            flags[-1][1].append(line.strip())
    for flag, words in flags:
        if flag == "--version":
            continue
        text, default = re.fullmatch(r"(.*?)(?: \[([^\[\]]*)\])?", " ".join(words)).groups()
        yield flag, text, default


def entry(flag, text, default):
    """One item of a definition list."""
    if default == "required":
        text += ". Required"
    elif default is not None:
        text += f". Default: {default}"
    text = re.sub(r"([*$])", r"\\\1", text)
    lines = textwrap.wrap(text + ".", COLUMNS, initial_indent=":   ", subsequent_indent="    ")
    return f"`{flag}`\n" + "\n".join(lines) + "\n"


def renewed(page_text, program):
    def flags(match):
        others = set(flags_of(program, match[3])) if match[3] else set()
        entries = [entry(*flag) for flag in flags_of(program, match[2]) if flag not in others]
        return match[1] + "\n" + "\n".join(entries) + "\n" + match[4]

    return LIST.sub(flags, page_text)


def main(program, check):
    behind = 0
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text()
        new_text = renewed(text, program)
        if text == new_text:
            continue
        behind += 1
        name = page.relative_to(PAGES.parents[1])
        print(
            f"{name}: its flags are not those of --help; scripts/manual writes them"
            if check
            else name
        )
        if not check:
            page.write_text(new_text)
    return 1 if check and behind else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--check" in sys.argv[2:]))
