#!/usr/bin/env python3
"""Runs a program with the system calls that a unit allows; any other one kills it (SIGSYS).

Usage: under_filter.py UNIT PROGRAM [ARGUMENT…]
"""

import os
import subprocess
import sys

import seccomp


def members(name):
    """The system calls of a set as systemd has it: @system-service."""
    if not name.startswith("@"):
        return {name}
    words = ["systemd-analyze", "syscall-filter", "--no-pager", name]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    found = set()
    for word in (line.strip() for line in lines[1:]):
        if word and not word.startswith("#"):
            found |= members(word)
    return found


def allowed_by(unit):
    allowed = members("@default")  # systemd adds it to every list of what is allowed
    for line in open(unit, encoding="utf-8"):
        if not line.startswith("SystemCallFilter="):
            continue
        value = line.split("=", 1)[1].strip()
        for name in value.lstrip("~").split():
            if value.startswith("~"):
                allowed -= members(name)
            else:
                allowed |= members(name)
    return allowed


def main():
    unit, *command = sys.argv[1:]
    allowed = allowed_by(unit)
    rules = seccomp.SyscallFilter(seccomp.KILL_PROCESS)
    for call in allowed:
        try:
            rules.add_rule(seccomp.ALLOW, call)
        except (RuntimeError, ValueError):
            pass  # of another architecture
    rules.load()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
