"""The manual: what `bullring help` shows, and what the pages say of flags, files and refusals."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from harness.node import ROOT, find_program
from harness.readme import FENCE
from harness.waiting import DEADLINE


MANUAL = ROOT / "src" / "manual"
FILES = [*MANUAL.glob("*.md"), ROOT / "include" / "libbullring.3.md"]
NAMES = {file.name.removesuffix(".md").rpartition(".")[0]: file for file in FILES}
# "run" for bullring-run
TOPICS = {re.sub(r"^bullring[-.]", "", name): name for name in NAMES}
UPDATER = ROOT / "scripts" / "lib" / "manual_flags.py"


def run_help(*arguments):
    return subprocess.run(
        [find_program(), "help", *arguments], capture_output=True, text=True, timeout=DEADLINE
    )


def test_all_pages_are_listed_with_what_they_are_about():
    listed = run_help()
    assert listed.returncode == 0
    assert set(dict(re.findall(r"(?m)^  (\S+) +(\S.*)$", listed.stdout))) == set(TOPICS)
    assert run_help("--help").stdout == listed.stdout


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_printed_as_plain_text(topic):
    shown = run_help(topic)
    assert (shown.returncode, shown.stderr) == (0, "")
    name = re.search(r"(?m)^\S+ - .*$", NAMES[TOPICS[topic]].read_text())[0]
    assert f"\nNAME\n\n{name}\n" in shown.stdout
    marks = r"(?m)^#+ [A-Z].*|^[|`].*|.*<!--.*|.*\]\([\w./#-]+\).*"
    assert re.findall(marks, shown.stdout) == []
    assert run_help(TOPICS[topic]).stdout == shown.stdout


@pytest.mark.parametrize("arguments", [["paxos"], [""], ["run", "lead"], ["--json"]])
def test_an_unknown_topic_is_refused_by_one_line(arguments):
    refused = run_help(*arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    if len(arguments) == 1:
        for topic in TOPICS:
            assert topic in refused.stderr


def help_on_a_terminal(**environment):
    """The output of `help run` on a terminal."""
    reader, terminal = pty.openpty()
    with os.fdopen(reader, "rb", buffering=0) as shown:
        process = subprocess.Popen(
            [find_program(), "help", "run"],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={"TERM": "dumb", "MANPAGER": "cat", **environment},
        )
        os.close(terminal)
        written = b""
        try:
            while more := shown.read(4096):
                written += more
        except OSError:  # how Linux tells that nobody has the terminal open any more
            pass
        assert process.wait(DEADLINE) == 0
    return re.sub(".\x08", "", written.decode().replace("\r", ""))


@pytest.mark.skipif(
    not shutil.which("man")
    or not (pathlib.Path(find_program()).parent / "share" / "man" / "man1").exists(),
    reason="man(1), or pandoc, is not installed",
)
def test_on_a_terminal_man_shows_the_page():
    shown = help_on_a_terminal(PATH=os.environ["PATH"])
    assert re.search(r"bullring-run\(1\) +Bullring +bullring-run\(1\)", shown)


def test_on_a_terminal_without_man_it_is_plain_text():
    assert help_on_a_terminal(PATH="/nowhere") == run_help("run").stdout


def check_flags(updater=UPDATER):
    return subprocess.run(
        [sys.executable, updater, find_program(), "--check"], capture_output=True, text=True
    )


def test_the_flags_in_the_pages_are_those_of_help():
    done = check_flags()
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    lists = {
        command for file in FILES for command in re.findall(r"<!-- flags: (\w+)", file.read_text())
    }
    assert lists == {
        "node",
        "run",
        "address",
        "lead",
        "status",
        "watch",
        "resign",
        "member",
        "doctor",
        "drill",
        "audit",
        "key",
        "cert",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("`--lease D`\n", "`--least D`\n"),
        ("Default: 10s.", "Default: 11s."),
        ("`--lease D`\n:", "`--lease D`\n\n:"),
    ],
)
def test_a_page_that_is_behind_is_found(tmp_path, old, new):
    shutil.copytree(MANUAL, tmp_path / "src" / "manual")
    (tmp_path / "scripts" / "lib").mkdir(parents=True)
    updater = shutil.copy(UPDATER, tmp_path / "scripts" / "lib")
    page = tmp_path / "src" / "manual" / "bullring-node.1.md"
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new))
    done = check_flags(updater)
    assert done.returncode == 1, done.stderr
    assert "bullring-node.1.md" in done.stdout


def refusal(home, *words, **environment):
    """The complaint of the program about a wrong command line."""
    done = subprocess.run(
        [find_program(), *words],
        env={"HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_the_configuration_file_and_the_environment_mean_the_same(tmp_path):
    (language, toml), (_, variables) = FENCE.findall((MANUAL / "bullring.toml.5.md").read_text())
    assert language == "toml"
    environment = dict(line.split("=", 1) for line in variables.splitlines())
    assert set(environment) == {f"BULLRING_{key.upper()}" for key in tomllib.loads(toml)}
    file = tmp_path / "bullring.toml"
    file.write_text(toml)
    # All of it is taken: what is complained about is only what this test makes wrong.
    for said in (
        refusal(tmp_path, "node", "--config", str(file), "--heartbeat", "5"),
        refusal(tmp_path, "node", "--heartbeat", "5", **environment),
    ):
        assert said.count("\n") == 1 and "--heartbeat" in said


def test_an_unsafe_timing_is_refused_by_the_lines_that_tuning_quotes(tmp_path):
    blocks = FENCE.findall((MANUAL / "bullring-tuning.7.md").read_text())
    (quoted,) = [block for _, block in blocks if block.startswith("$ ")]
    command, said = quoted.split("\n", 1)
    words = command.replace("…", "1=127.0.0.1:1,2=127.0.0.1:2,3=127.0.0.1:3").split()[2:]
    assert refusal(tmp_path, *words) == said
