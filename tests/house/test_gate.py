"""The verdicts of scripts/test on failures: a small build of its own for ctest, whose tests fail as
they are told to.
"""

import datetime
import re
import subprocess
import sys
import textwrap

import pytest
from harness.node import ROOT, python_environment
from gate import unsteady
from gate.verdict import UNJUDGED_MAX, UNSTEADY_MAX, Outcome

TODAY = datetime.date.today()
FAILS_ONCE = """
import os, pathlib
def test_case():
    seen = pathlib.Path(__file__).with_suffix(".seen")
    first = not seen.exists()
    seen.touch()
    assert not first, "only the second time"
"""
FAILS = "def test_case():\n    assert 1 == 2\n"
PASSES = "def test_case():\n    pass\n"


class Build:
    """A folder that ctest takes for a build."""

    def __init__(self, folder):
        self.folder = folder
        self.listed = folder / "unsteady.txt"
        self.listed.write_text("")
        self.tests = []

    def add_program(self, name, script, labels="unit;realtime"):
        """A test that is no Python: a shell script."""
        file = self.folder / f"{name}.sh"
        file.write_text(script)
        self.tests.append(f'add_test("{name}" "sh" "{file}")')
        self.tests.append(f'set_tests_properties("{name}" PROPERTIES LABELS "{labels}")')
        return self

    def add(self, name, text, room="process"):
        file = self.folder / f"test_{name}.py"
        file.write_text(textwrap.dedent(text))
        report = self.folder / "junit" / f"{room}.{name}.xml"
        self.tests.append(f'add_test("{room}.{name}" "pytest-3" "{file}" "--junitxml={report}")')
        self.tests.append(
            f'set_tests_properties("{room}.{name}" PROPERTIES LABELS "{room}"'
            f' ENVIRONMENT "BULLRING_BUILD={self.folder}")'
        )
        return self

    def play(self):
        """(exit status, what is printed)"""
        (self.folder / "CTestTestfile.cmake").write_text("\n".join(self.tests) + "\n")
        words = [sys.executable, "-B", "-m", "gate", "--unsteady", self.listed, self.folder, "."]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=300, env=python_environment()
        )
        print(done.stdout, done.stderr)
        return done.returncode, done.stdout

    def times_played(self, printed, name):
        return len(re.findall(rf"(?:Start +\d+|once more, alone): process\.{name}\b", printed))


@pytest.fixture
def build(tmp_path):
    return Build(tmp_path)


def last_line(printed):
    return printed.strip().split("\n")[-1]


def test_what_passes_is_sound(build):
    status, printed = build.add("a", PASSES).add("b", PASSES, room="house").play()
    assert (status, last_line(printed)) == (0, "SOUND: 2 passed.")


def test_no_test_at_all_is_broken(build):
    status, printed = build.play()
    assert (status, last_line(printed)) == (1, "BROKEN: 0 passed, 1 failed.")


def test_what_fails_once_is_unsteady_and_says_what_to_write_down(build):
    status, printed = build.add("a", FAILS_ONCE).add("b", PASSES).play()
    assert (status, last_line(printed)) == (0, "SOUND: 1 passed, 1 unsteady.")
    (line,) = re.findall(rf"^  ({TODAY.isoformat()}  .*)$", printed, re.MULTILINE)
    build.listed.write_text(line + "\n")
    assert list(unsteady.read(build.listed)) == ["process.a::test_case"]
    assert list((build.folder / "unsteady").rglob("again.log"))


def test_what_fails_twice_is_broken(build):
    status, printed = build.add("a", FAILS).play()
    assert (status, build.times_played(printed, "a")) == (1, 2)
    assert last_line(printed).startswith("BROKEN: ")
    assert "FAILED       process.a::test_case: assert 1 == 2" in printed


@pytest.mark.parametrize("room", ["house", "sim", "unit"])
def test_what_starts_no_process_has_one_attempt(build, room):
    status, printed = build.add("a", FAILS_ONCE, room=room).play()
    assert status == 1
    assert "once more" not in printed


def test_more_failures_than_four_have_one_attempt(build):
    for name in "abcde":
        build.add(name, FAILS_ONCE)
    status, printed = build.play()
    assert status == 1
    assert "once more" not in printed


def test_more_than_two_unsteady_ones_are_broken(build):
    for name in "abc":
        build.add(name, FAILS_ONCE)
    status, printed = build.play()
    assert status == 1
    assert f"more than {UNSTEADY_MAX} tests are unsteady" in last_line(printed)


def test_what_breaks_safety_ends_the_run_at_once(build):
    violates = """
        from harness.safety import SafetyViolation, record
        def test_case():
            record("process.a", SafetyViolation("two leaders"))
    """
    waits = "import select\ndef test_case():\n    select.select([], [], [], 200)\n"
    status, printed = build.add("a", violates).add("b", waits).play()
    assert status == 1
    assert "SAFETY       process.a: two leaders" in printed
    assert "at the first attempt" in last_line(printed)


@pytest.mark.parametrize(
    "said",
    [
        "ERROR: AddressSanitizer: heap-use-after-free",
        "WARNING: ThreadSanitizer: data race",
        "x.cpp:1:2: runtime error: signed integer overflow",
        "bullring_safety.ProductFault: node 1 did not end",
    ],
)
def test_a_fault_of_the_product_has_one_attempt(build, said):
    text = FAILS_ONCE.replace("assert not", f"print({said!r})\n    assert not")
    status, printed = build.add("a", text).play()
    assert (status, build.times_played(printed, "a")) == (1, 1)


@pytest.mark.parametrize(
    ("labels", "end", "expected"),
    [
        ("unit;realtime", "exit 1", 0),
        ("unit", "exit 1", 1),
        ("unit;realtime", "kill -SEGV $$", 1),
        ("unit;realtime", "exec /no/such/program", 0),
        ("unit;realtime", "kill -ABRT $$", 1),
    ],
)
def test_a_unit_test_in_real_time_is_tried_again_unless_it_crashed(build, labels, end, expected):
    once = f'test -e "$0.seen" && exit 0; touch "$0.seen"; {end}'
    status, printed = build.add_program("a", once, labels).play()
    assert status == expected
    assert ("once more, alone: a" in printed) == (expected == 0)


def test_a_program_says_which_of_its_cases_are_in_real_time(build):
    script = """
        case "$1" in
            --test-suite=realtime) echo "clock: it waits" ;;
            *) test -e "$0.seen" && exit 0; touch "$0.seen"; exit 1 ;;
        esac
    """
    for name, expected in (("clock: it waits", 0), ("clock: it steps", 1)):
        file = build.folder / "program.sh"
        file.write_text(f"#!/bin/sh\n{script}")
        file.chmod(0o755)
        (build.folder / "program.sh.seen").unlink(missing_ok=True)
        build.tests = [f'add_test("{name}" "{file}")']
        build.tests.append(f'set_tests_properties("{name}" PROPERTIES LABELS "unit")')
        assert build.play()[0] == expected


def test_a_test_whose_program_is_missing_has_failed(build):
    build.tests.append('add_test("a" "/no/such/program")')
    build.tests.append('set_tests_properties("a" PROPERTIES LABELS "unit")')
    status, printed = build.add("b", PASSES).play()
    assert status == 1
    assert "FAILED       a: Not Run" in printed


def test_a_file_that_takes_too_long_has_one_attempt(build):
    build.add("a", "import select\ndef test_case():\n    select.select([], [], [], 60)\n")
    build.tests.append('set_tests_properties("process.a" PROPERTIES TIMEOUT 1)')
    status, printed = build.play()
    assert (status, build.times_played(printed, "a")) == (1, 1)
    assert "FAILED       process.a: Timeout" in printed


def test_a_file_that_ends_without_a_report_has_one_attempt(build):
    status, printed = build.add("a", "import os\ndef test_case():\n    os.abort()\n").play()
    assert (status, build.times_played(printed, "a")) == (1, 1)


def test_what_is_listed_may_fail_for_fourteen_days(build):
    build.add("a", FAILS).add("b", PASSES)
    for days, expected in ((0, 0), (14, 0), (15, 1)):
        day = TODAY - datetime.timedelta(days)
        build.listed.write_text(unsteady.line_for("process.a::test_case", "assert", day) + "\n")
        status, printed = build.play()
        assert status == expected, days
        assert "QUARANTINED  process.a::test_case" in printed


def test_what_is_listed_may_not_break_safety(build):
    violates = FAILS + "    from harness.safety import SafetyViolation, record\n"
    violates = violates.replace("    assert 1 == 2\n", "") + (
        '    record("process.a", SafetyViolation("two leaders"))\n'
    )
    build.listed.write_text(unsteady.line_for("process.a::test_case", "assert", TODAY) + "\n")
    status, printed = build.add("a", violates).play()
    assert (status, "SAFETY" in printed) == (1, True)


def test_not_judged_is_counted_and_too_many_are_no_answer(build):
    skips = """
        import pytest
        def test_case():
            pytest.skip("not judged: this machine stood still for 300 ms")
    """
    status, printed = build.add("a", skips).add("b", PASSES).play()
    assert (status, last_line(printed)) == (0, "SOUND: 1 passed, 1 not judged.")
    many = Outcome(passed=5, unjudged=[("a", "")] * (UNJUDGED_MAX + 1))
    assert many.status == 1
    assert many.sentence().startswith("NOT TO BE TOLD")


def closing(folder, status):
    """The last lines of scripts/test on the builds in a folder."""
    words = [sys.executable, "-B", ROOT / "scripts" / "lib" / "gate" / "closing.py"]
    builds = [folder / name for name in ("build", "build-asan")]
    done = subprocess.run([*words, str(status), "90", *builds], capture_output=True, text=True)
    return done.stdout.strip().split("\n")


def test_the_last_line_of_all_is_one_sentence(tmp_path):
    for name in ("build", "build-asan"):
        (tmp_path / name).mkdir()
    assert closing(tmp_path, 0) == ["scripts/test: done; no part with tests was asked for."]
    assert closing(tmp_path, 3)[-1].startswith(
        "scripts/test: NOT SOUND after 1.5 min: a part failed"
    )
    Outcome(passed=7, unjudged=[("a", "why")]).write(tmp_path / "build" / "gate.json")
    Outcome(passed=3).write(tmp_path / "build-asan" / "gate.json")
    told = closing(tmp_path, 0)
    assert told[0].endswith("NOT JUDGED   a: why")
    assert told[-1] == "scripts/test: SOUND: 10 cases passed in 1.5 min, 1 noted above."
    Outcome(passed=3, failed=[("b", "why")]).write(tmp_path / "build-asan" / "gate.json")
    assert closing(tmp_path, 1)[-1].endswith("build-asan: BROKEN: 3 passed, 1 failed.")


@pytest.mark.parametrize("line", ["process.a 2026-11-25 why", "2026-11-25 process.a", "x"])
def test_a_line_that_is_not_understood_is_refused(tmp_path, line):
    (tmp_path / "unsteady.txt").write_text(line + "\n")
    with pytest.raises(unsteady.WrongLine):
        unsteady.read(tmp_path / "unsteady.txt")


def test_each_listed_case_exists():
    for name in unsteady.read(ROOT / "tests" / "unsteady.txt"):
        room, module, case = re.fullmatch(r"(\w+)\.(\w+)::(?:\w+::)?(test_\w+).*", name).groups()
        file = ROOT / "tests" / room / f"test_{module}.py"
        assert f"def {case}(" in file.read_text(), f"{name}: no such case"
