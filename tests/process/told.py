"""The answer of a command of the program: its exit status, and all that it prints."""

import subprocess

from harness.node import clean_environment, find_program


def told(*words, prefix=(), variables=(), cwd=None):
    done = subprocess.run(
        [*prefix, find_program(), *map(str, words)],
        cwd=cwd,
        env=clean_environment() | dict(variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def lines(text, level):
    """The lines of `doctor` of that level, without it."""
    return [line[6:] for line in text.splitlines() if line.startswith(level)]
