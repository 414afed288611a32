"""Every scenario keeps its word: the rows of the failure table, the graphs of partial
connectivity, and one for each bug that was ever found."""


import re

import pytest
from simulator import SCENARIOS

FILES = sorted(SCENARIOS.rglob("*.txt"))


def test_all_are_kept(run_sim):
    shown = run_sim("scenario", *FILES).stdout
    assert f"{len(FILES)} scenarios, 0 broken" in shown


def test_a_directory_stands_for_the_scenarios_in_it(run_sim, tmp_path):
    files = len(list((SCENARIOS / "found").rglob("*.txt")))
    shown = run_sim("scenario", SCENARIOS / "found").stdout
    assert f"{files} scenarios, 0 broken" in shown
    empty = run_sim("scenario", tmp_path, status=1)
    assert "no scenario (*.txt) is in it" in empty.stderr


def test_one_of_both_algorithms_is_played_with_each_or_with_the_one_that_is_named(
    run_sim, tmp_path
):
    file = tmp_path / "both.txt"
    file.write_text("nodes 3\nalgorithm both\nat 0s start all\nat +0s expect leader within 5s\n")
    assert re.findall(r"kept .*\((bully|ring),", run_sim("scenario", file).stdout) == [
        "bully",
        "ring",
    ]
    named = run_sim("scenario", file, "--algorithm", "ring").stdout
    assert re.findall(r"kept .*\((bully|ring),", named) == ["ring"]
    picture = tmp_path / "a.html"
    run_sim("scenario", file, "--diagram", picture, status=2)
    run_sim("scenario", file, "--algorithm", "bully", "--diagram", picture)
    # An expectation that holds for one algorithm is broken for both: a returning Bully takes over,
    # in Ring it joins.
    file.write_text(
        "nodes 3\nalgorithm both\nquorum none\nat 0s start all\nat +0s expect leader 3 within 5s\n"
        "at +1s crash 3\nat +0s expect leader 2 within 5s\nat +1s start 3\n"
        "at +5s expect leader 3 within 1s\n"
    )
    shown = run_sim("scenario", file, status=1).stdout
    assert re.findall(r"BROKEN .*\((bully|ring)\)$", shown, re.MULTILINE) == ["ring"]
    assert "1 scenarios, 1 broken" in shown


def test_one_that_expects_too_much_is_broken_in_its_line(run_sim, tmp_path):
    file = tmp_path / "wrong.txt"
    file.write_text("nodes 3\nat 0s start all\nat +0s expect leader 1 within 5s\n")
    shown = run_sim("scenario", file, status=1).stdout
    assert f"BROKEN  {file}:3: L1" in shown


def test_what_is_not_understood_is_named_with_its_line(run_sim, tmp_path):
    file = tmp_path / "wrong.txt"
    file.write_text("nodes none\nat 1s explode 3\nat soon crash 1\ncolour red\n")
    complaint = run_sim("scenario", file, status=2).stderr
    for words in (
        f"{file}:1: nodes 'none'",
        f"{file}:2: 'explode'",
        f"{file}:3: 'at soon'",
        f"{file}:4: 'colour'",
    ):
        assert words in complaint


def test_a_file_that_is_no_scenario_is_not_told_in_full(run_sim, tmp_path):
    file = tmp_path / "wrong.txt"
    file.write_text(f"{'x' * 5000}\n" * 1000)
    complaint = run_sim("scenario", file, status=2).stderr
    assert "and 980 more" in complaint
    assert len(complaint) < 20_000


def test_a_missing_file_is_an_error(run_sim):
    assert "can't be read" in run_sim("scenario", "nowhere.txt", status=1).stderr


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_it_begins_with_what_it_is_about(file):
    assert file.read_text().startswith("# ")


FOUND = [file for file in FILES if file.parent.name == "found"]


@pytest.mark.parametrize("file", FOUND, ids=lambda file: file.stem)
def test_one_that_was_found_heals_and_requires_a_leader_at_the_end(file):
    last = [line for line in file.read_text().splitlines() if line.startswith("at ")][-3:]
    what = [re.sub(r" (within|for) \S+$", "", line.split(" ", 2)[2]) for line in last]
    assert what == ["calm", "expect leader", "expect steady"]
