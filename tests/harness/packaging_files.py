"""Where the files that are packaged stand, and how a command is run on them."""

import os
import pathlib
import subprocess

from harness.node import ROOT

SOURCES = ROOT / "scripts" / "packaging"
BUILD = pathlib.Path(os.environ.get("BULLRING_BUILD", ROOT / "build"))
UNITS = ["bullring@.service", "bullring-run@.service", "bullring-address@.service"]


def run(*words, **options):
    """The output of a command that has to succeed."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def unit_settings(name):
    """(key, value) of each line of a unit, in order."""
    for line in (BUILD / "packaging" / name).read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            yield tuple(line.split("=", 1))
