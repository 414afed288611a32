"""Every script explains itself, refuses what it does not know, and fails where a part fails."""

import os
import re
import subprocess

from bench import __main__ as bench
import pytest
from harness.node import ROOT

SCRIPTS = sorted(p for p in (ROOT / "scripts").iterdir() if p.is_file())


def run(*command, **options):
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        stdin=subprocess.DEVNULL,
        **options,
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_it_is_executable_and_has_help(script):
    assert os.access(script, os.X_OK)
    done = run(script, "--help")
    assert done.returncode == 0, done.stdout
    assert f"scripts/{script.name}" in done.stdout
    assert "--help" in done.stdout


@pytest.mark.parametrize("name", ["setup", "build", "test", "check", "fuzz"])
def test_an_unknown_argument_is_refused_and_named(name):
    done = run(ROOT / "scripts" / name, "--no-such-flag")
    assert done.returncode == 2, done.stdout
    assert "--no-such-flag" in done.stdout


@pytest.mark.parametrize(
    "words",
    [["x"], ["--process", "-1"], ["--gate"], ["--gate", "0.5"]]
    + [["--attached", "0.5"], ["--attached", "--minutes", "x"]],
)
def test_the_soak_says_what_number_it_needs(words):
    done = run(ROOT / "scripts" / "soak", *words)
    assert done.returncode == 2, done.stdout
    assert "is needed" in done.stdout


def test_they_work_from_any_directory():
    done = run(ROOT / "scripts" / "setup", "--list", cwd="/")
    assert done.returncode == 0, done.stdout
    assert re.search(r"(?m)^(installed|missing) +libasio-dev$", done.stdout)


def test_the_estimates_of_the_bench_are_those_of_its_help():
    quick, whole = (sum(case.seconds for case in bench.plan(quick)) / 60 for quick in (True, False))
    assert quick < 5  # "at most five minutes"
    assert 50 < whole < 70  # "about an hour"


def shell(text):
    """Runs a text that has scripts/lib/common.sh."""
    return run("bash", "-c", f'source "{ROOT}/scripts/lib/common.sh"\n{text}')


def test_a_part_prints_its_time():
    done = shell("part 'say it' echo hello; parts_summary")
    assert done.returncode == 0
    assert re.search(r"=== say it\nhello\n=== say it: \d+\.\d s\n", done.stdout)
    assert re.search(r" \d+\.\d s  say it\n", done.stdout)


def test_the_first_failing_part_ends_the_script_with_its_status():
    done = shell(
        "fails() { false; echo not reached; }\npart first sh -c 'exit 7'; echo not reached"
    )
    assert done.returncode == 7
    assert "not reached" not in done.stdout
    done = shell("fails() { false; echo not reached; }\npart second fails")
    assert done.returncode == 1
    assert "not reached" not in done.stdout
