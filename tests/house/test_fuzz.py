"""The fuzz targets: what is said of them, what the tree keeps for them, and that a find is told."""

import re
import zipfile

import fuzz
import pytest
from harness.node import ROOT

README = (ROOT / "tests" / "fuzz" / "README.md").read_text()
CORPUS = ROOT / "tests" / "fuzz" / "corpus"


def test_the_readme_names_each_target_once():
    assert sorted(re.findall(r"(?m)^\| `(\w+)` \|", README)) == fuzz.targets()


@pytest.mark.parametrize("name", fuzz.targets())
def test_a_target_has_inputs_and_not_many(name):
    with zipfile.ZipFile(fuzz.kept(name)) as archive:
        files = archive.infolist()
    assert 0 < len(files) <= fuzz.INPUTS_MAX
    assert sum(file.file_size for file in files) <= fuzz.BYTES_MAX


def test_no_inputs_are_kept_for_a_target_that_is_gone():
    assert sorted(file.name for file in CORPUS.iterdir()) == [
        f"{name}.zip" for name in fuzz.targets()
    ]


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes what stands in the place of a target's program."""
    monkeypatch.setattr(fuzz, "BUILD", tmp_path)

    def make(script):
        path = fuzz.program("codec")
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return make


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["fuzz", *words])
    return fuzz.main()


def test_a_find_is_told_with_its_input_and_ends_with_1(program, monkeypatch, capsys):
    program(
        "echo 'codec.cpp:7: broken: a frame has two encodings' >&2\n"
        "echo 'Test unit written to /somewhere/codec-crash-1' >&2\n"
        "echo 'stat::number_of_executed_units: 42' >&2\n"
        "exit 77"
    )
    assert run(monkeypatch, "codec", "--for", "1s") == 1
    told = capsys.readouterr().out
    assert "a frame has two encodings" in told
    assert "input:  /somewhere/codec-crash-1" in told
    assert f"replay: {fuzz.program('codec')} /somewhere/codec-crash-1" in told


def test_where_nothing_is_found_the_executions_are_told(program, monkeypatch, capsys):
    program("echo 'stat::number_of_executed_units: 4200' >&2")
    assert run(monkeypatch, "codec", "--for", "1s") == 0
    assert "4,200 executions" in capsys.readouterr().out


def test_a_program_that_fails_without_a_word_is_no_success(program, monkeypatch, capsys):
    program("exit 1")
    assert run(monkeypatch, "codec", "--for", "1s") == 1
    assert "codec: FOUND" in capsys.readouterr().out
