"""The checks that compile can fail, and forget what they found good as soon as it changes."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from harness.node import ROOT

CHECKS = ROOT / "scripts" / "lib" / "lint" / "compile_checks.py"

pytestmark = pytest.mark.skipif(not shutil.which("clang++-16"), reason="clang 16 is not installed")
with_tidy = pytest.mark.skipif(
    not shutil.which("clang-tidy-16"), reason="clang-tidy 16 is not installed"
)


@pytest.fixture
def build(tree):
    """The build directory of a tree with one source in src/ and one in tests/."""
    build = tree.root / "build-clang"
    build.mkdir(parents=True)
    shutil.copy(ROOT / ".clang-tidy", tree.root)
    tree.plant("src/doors.hpp", "#pragma once\ninline int doors() { return 2; }\n")
    for room in ("src", "tests"):
        text = '#include "src/doors.hpp"\nint windows() { return doors(); }\n'
        add_source(tree, build, f"{room}/room.cpp", text)
    return build


def add_source(tree, build, path, text):
    source = str(tree.plant(path, text))
    commands = build / "compile_commands.json"
    entries = json.loads(commands.read_text()) if commands.exists() else []
    compiler = f"clang++-16 -std=c++20 -Wall -I{tree.root} -o room.o -c"
    entries.append({"directory": str(build), "command": f"{compiler} {source}", "file": source})
    commands.write_text(json.dumps(entries))


@pytest.fixture
def check(tree, build):
    """Runs one kind of check: its exit status and its output, without how long it took."""

    def run(kind):
        done = subprocess.run(
            [sys.executable, "-B", CHECKS, kind, build, "--root", tree.root],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"BULLRING_CACHE": str(tree.root / "good")},
        )
        return done.returncode, re.sub(r"; slowest .*", "", done.stdout)

    return run


@pytest.mark.parametrize(
    "kind", ["headers", "alone", "syntax", pytest.param("tidy", marks=with_tidy)]
)
def test_good_sources_are_remembered_until_something_below_them_changes(tree, check, kind):
    assert check(kind) == (0, f"{kind}: 1 good (0 remembered), 0 bad\n")
    assert check(kind) == (0, f"{kind}: 1 good (1 remembered), 0 bad\n")
    tree.plant("src/doors.hpp", "#pragma once\ninline int doors() { return 3; }\n")
    assert check(kind) == (0, f"{kind}: 1 good (0 remembered), 0 bad\n")


@with_tidy
def test_a_header_that_its_source_includes_first_is_left_to_tidy(tree, build, check):
    tree.plant("src/window.hpp", "#pragma once\ninline std::string name() { return {}; }\n")
    add_source(tree, build, "src/window.cpp", '#include "src/window.hpp"\n')
    assert check("headers")[0] == 0
    status, output = check("tidy")
    assert status == 1
    assert "src/window.hpp" in output


def test_a_header_that_leans_on_another_is_found(tree, check):
    tree.plant("src/lazy.hpp", "#pragma once\ninline std::string name() { return {}; }\n")
    status, output = check("headers")
    assert status == 1
    assert "headers: src/lazy.hpp" in output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int f(int a) { if (a > 0) { int a = 2; return a; } return a; }\n", "shadow"),
        ("std::string name();\n", "std"),
    ],
)
def test_a_source_that_is_bad_alone_is_found(tree, check, text, words):
    tree.plant("src/room.cpp", text)
    status, output = check("alone")
    assert status == 1
    assert words in output


@pytest.mark.parametrize(
    ("room", "kind"), [("tests", "syntax"), pytest.param("src", "tidy", marks=with_tidy)]
)
def test_a_warning_of_clang_is_found(tree, check, room, kind):
    tree.plant(f"{room}/room.cpp", "int windows() { int unused = 1; return 2; }\n")
    status, output = check(kind)
    assert status == 1
    assert "unused variable" in output


@with_tidy
def test_a_name_or_a_bug_that_clang_tidy_knows_is_found(tree, check):
    tree.plant("src/doors.hpp", "#pragma once\ninline int CountDoors() { return 2; }\n")
    tree.plant(
        "src/room.cpp",
        """#include "src/doors.hpp"
        #include <string>
        #include <utility>
        std::string twice(std::string a) {
            std::string b = std::move(a);
            return a + b + std::string(static_cast<unsigned>(CountDoors()), 'x');
        }
        """,
    )
    status, output = check("tidy")
    assert status == 1
    assert "readability-identifier-naming" in output
    assert "bugprone-use-after-move" in output
