"""A fault of safety in the program itself is found by the tests of real processes, and the gate is
red for it at the first attempt: the whole of it is built with a rule broken.
"""

import os
import subprocess
import sys

import pytest
from harness.node import ROOT, python_environment

sys.path.insert(0, str(ROOT / "tests" / "mutants"))
import run_mutants  # noqa: E402

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.limit(1800)]

# A leader that is cut off goes on by its own vote.
PATCH = "max_not_quorum"
SOURCES = ("CMakeLists.txt", "protocol", "sim", "include", "scripts", "src", "README.md", "LICENSE")
FILE, CASE = "test_relay.py", "the_side_without_a_majority"


def program_with(patch, folder):
    tree = run_mutants.Tree(folder, os.cpu_count() or 1, "bullring", SOURCES)
    tree.copy()
    tree.patch(run_mutants.Mutant.read(ROOT / "tests" / "mutants" / f"{patch}.patch"))
    tree.configure()
    tree.build()
    return tree.build_directory / "bullring"


def test_the_gate_is_red_for_two_leaders_at_the_first_attempt(tmp_path):
    program = program_with(PATCH, tmp_path)
    build = tmp_path / "build"
    build.mkdir()
    report = build / "junit" / "process.relay.xml"
    words = ["pytest-3", str(ROOT / "tests" / "process" / FILE), "-k", CASE, f"--junitxml={report}"]
    called = " ".join(f'"{word}"' for word in words)
    properties = f'LABELS process ENVIRONMENT "BULLRING_BUILD={build};BULLRING_BIN={program}"'
    (build / "CTestTestfile.cmake").write_text(
        f"add_test(process.relay {called})\n"
        f"set_tests_properties(process.relay PROPERTIES {properties})\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-m", "gate", build, "."],
        env=python_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    print(done.stdout)
    assert done.returncode == 1
    assert done.stdout.count("Start") == 1 and "once more" not in done.stdout
    assert f"SAFETY       tests/process/{FILE}::" in done.stdout
    assert "at the first attempt" in done.stdout.strip().split("\n")[-1]
    assert list((build / "safety").glob("*.json"))
