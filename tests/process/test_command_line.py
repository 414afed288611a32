"""Wrong command lines and configurations: exit 2, every problem named with its value."""

import re
import socket
import subprocess

import pytest
from harness.node import ROOT, find_program
from harness.waiting import DEADLINE


# One change of a sound command line, and the words that the complaint must contain; all others
# are in tests/unit/options_*_test.cpp.
WRONG = [
    ({"--id": None}, ["--id"]),
    ({"--id": "4"}, ["4"]),
    ({"--peers": "nonsense"}, ["nonsense"]),
    ({"--algorithm": "paxos"}, ["paxos", "bully", "ring"]),
    ({"--heartbeat": "50"}, ["50"]),
    ({"--heartbeat": "100ms", "--suspect-after": "200ms"}, ["300", "200"]),
    ({"--no-such-flag": "1"}, ["--no-such-flag"]),
    ({"--config": "/no/such/file"}, ["/no/such/file"]),
    ({"--quorum": "none", "--on-elected": "true"}, ["none", "on-elected"]),
]


@pytest.fixture
def program(tmp_path):
    """Runs the program to its end."""

    def run(*arguments, environment=None):
        return subprocess.run(
            [find_program(), *arguments],
            cwd=tmp_path,
            env=environment or {},
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )

    return run


@pytest.fixture
def node(program, ports, tmp_path):
    """Runs `bullring node` with a sound command line in which something is changed."""
    peers = ",".join(f"{i}=127.0.0.1:{ports.take()}" for i in (1, 2, 3))

    def run(changes, environment=None):
        flags = {"--id": "1", "--peers": peers, "--data-dir": str(tmp_path / "data"), **changes}
        chosen = [word for pair in flags.items() if pair[1] is not None for word in pair]
        return program("node", *chosen, environment=environment)

    return run


@pytest.fixture
def config(tmp_path):
    return tmp_path / "node.toml"


def check_refused(done, words, status=2):
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr
    for trace in ("terminate called", "std::", "Assertion"):
        assert trace not in done.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    WRONG,
    ids=[" ".join(map(str, next(iter(changes.items()))))[:40] for changes, _ in WRONG],
)
def test_wrong_flags_of_node(node, tmp_path, changes, words):
    check_refused(node(changes), words)
    assert not (tmp_path / "data").exists(), "a wrong line leaves no trace"


def test_the_line_wins_over_the_environment_and_that_over_the_file(node, config):
    config.write_text('algorithm = "from-file"\nprofile = "from-file"\n')
    environment = {"BULLRING_PROFILE": "from-variable", "BULLRING_HEARTBEAT": "from-variable"}
    done = node({"--config": str(config), "--heartbeat": "from-line"}, environment)
    check_refused(done, ["from-line", "from-variable", "from-file"])
    for name, source in (
        ("algorithm", "from-file"),
        ("profile", "from-variable"),
        ("heartbeat", "from-line"),
    ):
        line = next(x for x in done.stderr.splitlines() if name in x.lower())
        assert source in line


def test_no_subcommand_and_an_unknown_one(program):
    check_refused(program(), [])
    check_refused(program("elect"), ["elect"])


@pytest.mark.parametrize(
    "line", ["--help", "--version", "node --help", "status --help", "watch --help", "resign --help"]
)
def test_help_and_version(program, line):
    done = program(*line.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_port_in_use_is_a_failure_while_running(node):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        done = node({"--peers": f"1=127.0.0.1:{port}"})
    check_refused(done, [str(port)], status=1)
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_an_events_file_that_cannot_be_opened(node, tmp_path):
    done = node({"--events": str(tmp_path / "no" / "such" / "file")})
    check_refused(done, ["no/such/file"], status=1)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["nod"], "did you mean node?"),
        (["staus"], "did you mean status?"),
        (["help", "stauts"], "did you mean status?"),
        (["help", "troubleshoting"], "did you mean troubleshooting?"),
        (["--verison"], "did you mean --version?"),
        (["xyzzy"], "help, completion"),
        (["run", "--id", "1", "--peers", "1=127.0.0.1:7", "--", "sleep 3"], "no shell is used"),
    ],
)
def test_what_was_probably_meant_is_told(words, meant):
    done = subprocess.run(
        [find_program(), *words], capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 2 and meant in done.stderr, done


def test_a_variable_that_is_nearly_a_setting_is_told_and_stops_nothing():
    done = subprocess.run(
        [find_program(), "node", "--help"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={"BULLRING_LEESE": "2s", "BULLRING_PORT": "tcp://10.0.0.9:7100"},
    )
    assert done.returncode == 0 and "bullring node" in done.stdout
    assert done.stderr == (
        "bullring: the environment variable BULLRING_LEESE sets nothing; did you mean "
        "BULLRING_LEASE?\n"
    )


def test_the_variables_of_the_scripts_are_near_to_no_setting():
    """A program below a script, as these tests are, has them in its environment."""
    texts = [
        path.read_text()
        for folder in ("scripts", "tests/process", "tests/packaging")
        for path in [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.sh")]
        if path.name not in ("test_command_line.py", "test_doctor.py")
    ]
    names = {name for text in texts for name in re.findall("BULLRING_[A-Z_]+[A-Z]", text)}
    assert {"BULLRING_ROOT", "BULLRING_TALLY"} <= names
    environment = {name: "" for name in names}
    for subcommand in ("node", "run", "status", "audit", "drill", "key", "cert"):
        done = subprocess.run(
            [find_program(), subcommand, "--help"],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            env=environment,
        )
        assert (done.returncode, done.stderr) == (0, ""), subcommand
