"""The clients of attach.sock in examples/: each runs a command on one machine at a time."""

import os
import shlex
import shutil
import subprocess
import time

import pytest
from attached import settled
from harness.node import ROOT, python_environment
from harness.task import alive
from harness.waiting import DEADLINE, wait_until

__all__ = ["settled"]  # a fixture

pytestmark = [pytest.mark.long]

EXAMPLES = ROOT / "examples"
GO = EXAMPLES / "go"
LONG_S, SHORT_S = 10, 4


def go(folder, *words):
    """With nothing of the network."""
    offline = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(folder / "cache")}
    return subprocess.run(
        ["go", *words],
        cwd=GO,
        env={**os.environ, **offline},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """The words by which a client in that language runs a command beside a node."""
    folder = tmp_path_factory.mktemp("clients")

    def words(language, node, command):
        if language == "python":
            table = folder / f"table-{node.data_dir.name}"
            table.write_text(f"0.1 exec {shlex.join(command)}\n")
            program = EXAMPLES / "python" / "scheduler.py"
            return ["/usr/bin/python3", program, table, node.data_dir]
        if language == "go" and not (folder / "leader").exists():
            done = go(folder, "build", "-o", str(folder / "leader"), ".")
            assert done.returncode == 0, done.stdout
        program = {
            "shell": ["sh", EXAMPLES / "shell" / "leader.sh"],
            "bash": ["bash", "--posix", EXAMPLES / "shell" / "leader.sh"],
            "go": [folder / "leader"],
            "node": ["nodejs", EXAMPLES / "node" / "leader.mjs"],
        }[language]
        return [*program, node.data_dir, *command]

    return words


@pytest.fixture
def client(build, spawn, journal):
    """Starts one beside a node, with a command of the journal."""

    def start(language, node, *words):
        environment = {**python_environment(), "BULLRING_NODE_ID": str(node.id)}
        started = build(language, node, journal.command(*words))
        return spawn(list(map(str, started)), env=environment)

    return start


LANGUAGES = pytest.mark.parametrize("language", ["shell", "bash", "go", "node", "python"])


@LANGUAGES
def test_the_command_runs_on_one_machine_and_then_on_another(settled, client, journal, language):
    """However it goes from one to the next, that is long before a lease is over."""
    cluster, _ = settled("--lease", f"{LONG_S}s")
    clients = {node.id: client(language, node) for node in cluster}
    wait_until(journal.begun, "a command")

    def goes_on(how):
        count, (leader, epoch, command) = len(journal.begun()), journal.begun()[-1]
        began = time.monotonic()
        how(leader)
        wait_until(lambda: len(journal.begun()) > count, "the next command")
        assert time.monotonic() - began < LONG_S / 2
        assert not alive(command)
        assert journal.begun()[-1][0] != leader and journal.begun()[-1][1] > epoch
        return leader

    # `done` alone can release it this early: its process lives.
    resigned = goes_on(lambda leader: cluster.resign())
    assert clients[resigned].poll() is None
    goes_on(lambda leader: clients[leader].kill())
    ended = goes_on(lambda leader: clients[leader].terminate())
    assert clients[ended].wait(DEADLINE) is not None
    if language != "python":  # whose scheduler kills it at once
        assert len(journal.lines("end")) == 2


@LANGUAGES
@pytest.mark.parametrize("how", ["dies", "resigns"])
def test_a_command_that_heeds_nothing_ends_before_the_lease(
    settled, client, journal, language, how
):
    cluster, _ = settled("--lease", f"{SHORT_S}s")
    fail = {"dies": lambda node: node.kill(), "resigns": lambda node: cluster.resign()}[how]
    ends_in_time(cluster, client, journal, language, fail)


@pytest.mark.parametrize("language", ["go", "python"])
def test_a_client_with_the_page_ends_it_also_if_the_node_stands_still(
    settled, client, journal, language
):
    cluster, _ = settled("--lease", f"{SHORT_S}s", "--hang-after", "off")
    ends_in_time(cluster, client, journal, language, lambda node: node.hang_for_good())


def ends_in_time(cluster, client, journal, language, fail):
    """A command that ignores SIGTERM. The journal finds it if `done` is said before its end."""
    for node in cluster:
        client(language, node, "ignore")
    leader, epoch, command = wait_until(journal.begun, "a command")[0]
    began = time.monotonic()
    fail(cluster[leader])
    wait_until(lambda: not alive(command), "the end of the command")
    assert time.monotonic() - began < SHORT_S
    assert len(journal.begun()) == 1
    wait_until(lambda: len(journal.begun()) > 1, "the next command")
    assert journal.begun()[1][1] > epoch


def test_the_sources_are_clean(tmp_path):
    assert subprocess.check_output(["gofmt", "-l", str(GO)], text=True) == ""
    vetted = go(tmp_path, "vet", "./...")
    assert (vetted.returncode, vetted.stdout) == (0, "")
    assert shutil.which("dash")
    subprocess.run(["dash", "-n", EXAMPLES / "shell" / "leader.sh"], check=True)
