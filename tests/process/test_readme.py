"""The commands of the README do what it says. Only what belongs to a reader's machine is replaced:
the addresses, the program's place, and the home directory.
"""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess

import pytest
from harness import readme
from harness.node import PYTHON_PATH, ROOT, clean_environment, find_program
from harness.waiting import DEADLINE, wait_until

pytestmark = pytest.mark.limit(300)

ALL = os.environ.get("BULLRING_TEST_ALL", "") not in ("", "0")


class Terminals:
    """The surroundings of a reader: some terminals, and a home directory."""

    def __init__(self, home, ports, spawn):
        self.home = home
        self.ports = ports
        self.spawn = spawn
        self.program = pathlib.Path(find_program())
        self.environment = clean_environment()
        self.environment.pop("XDG_STATE_HOME", None)
        self.environment["HOME"] = str(home)
        self.environment["PATH"] = f"{self.program.parent}:{os.environ['PATH']}"
        self.addresses = {}
        self.opened = 0

    def here(self, text):
        """With loopback addresses that are this test's own."""

        def address(match):
            if match[0] not in self.addresses:
                self.addresses[match[0]] = f"127.0.0.1:{self.ports.take()}"
            return self.addresses[match[0]]

        text = re.sub(r"\b(?:10\.0\.0\.\d|127\.0\.0\.1):7\d\d\d\b", address, text)
        return text.replace("build/bullring", str(self.program))

    def open(self, commands):
        """Runs the last of the commands as the process itself; what it prints goes into a file."""
        *before, last = self.here(commands).splitlines()
        self.opened += 1
        printed = self.home / f"printed-{self.opened}"
        with open(printed, "wb") as out:
            process = self.spawn(
                ["bash", "-c", "\n".join([*before, "exec " + last])],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
            )
        process.printed = printed
        return process

    def type(self, command):
        """The output of a command that has to succeed."""
        done = subprocess.run(
            ["bash", "-c", self.here(command)],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=10 * DEADLINE,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture
def terminals(tmp_path, ports, spawn):
    return Terminals(tmp_path, ports, spawn)


@pytest.mark.skipif(
    pathlib.Path(find_program()) != ROOT / "build" / "bullring", reason="another build is tested"
)
def test_the_two_commands(terminals):
    with readme.commands("Two commands") as block:
        demo = block.take("scripts/demo$") + ("" if ALL else " --nodes 3 --algorithm bully")
        assert "kill -9 of the leader" in terminals.type(demo)
        # The suite that this test belongs to: what it says of itself has to be enough.
        assert "--all" in terminals.type(block.take("scripts/test$") + " --help")


def follow_a_job(terminals, commands):
    """Three nodes run it one at a time, and one that is killed is replaced. Returns what the first
    one printed."""
    nodes = [terminals.open(commands.replace("--id 1 ", f"--id {i} ")) for i in (1, 2, 3)]

    def working(among):
        return [node for node in among if node.printed.stat().st_size > 0]

    (first,) = wait_until(lambda: working(nodes), "the job runs")
    first.kill()
    rest = [node for node in nodes if node is not first]
    (second,) = wait_until(lambda: working(rest), "the job runs elsewhere")
    assert working(rest) == [second]
    for node in rest:
        node.terminate()
    for node in rest:
        node.wait(DEADLINE)
    return first.printed.read_text().splitlines()[0]


def test_a_job_on_three_machines(terminals, tmp_path):
    poller = tmp_path / "poller"
    poller.write_text('#!/bin/sh\necho "$BULLRING_EPOCH" "$@"\nexec sleep 1000\n')
    poller.chmod(0o755)
    key = str(tmp_path / "poller.key")
    with readme.commands("A job on exactly one of three machines", 0) as block:
        terminals.type(block.take("bullring key new ").replace("poller.key", key))
    with readme.commands("A job on exactly one of three machines", 1) as block:
        command = block.take("bullring run ").replace("/usr/local/bin/poller", str(poller))
        command = command.replace("poller.key", key)
        assert re.fullmatch(r"[1-9]\d* --fast", follow_a_job(terminals, command))


def test_a_job_in_three_terminals(terminals):
    with readme.commands("A job on exactly one of three machines", 2) as block:
        lines = block.take("P="), block.take("build/bullring run ")
        assert re.search(r"\d\d:\d\d:\d\d", follow_a_job(terminals, "\n".join(lines)))


def table(text):
    """The output of `status`, as far as it does not depend on the time."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
    for cells in rows[1:]:
        assert re.fullmatch(r"\d+ms", cells[6]) and re.fullmatch(r"\d+s", cells[7])
    return [cells[:6] for cells in rows]


@pytest.fixture
def nodes(terminals):
    """Those of the cluster by hand, by their ids; with the epochs that the README shows."""
    with (
        readme.commands("A cluster by hand", 0) as first,
        readme.commands("A cluster by hand", 1) as second,
        readme.commands("A cluster by hand", 2) as third,
    ):
        lines = [
            block.take(f"build/bullring node --id {i} --peers ")
            for i, block in enumerate((first, second, third), 1)
        ]
    return {i: terminals.open(f"{line} --first-epoch 0") for i, line in enumerate(lines, 1)}


def test_a_cluster_by_hand(terminals, nodes):
    with readme.commands("A cluster by hand", 3) as fourth:
        peers = terminals.here(fourth.take("export BULLRING_PEERS="))
        terminals.environment["BULLRING_PEERS"] = peers.partition("=")[2]
        terminals.type(f"build/bullring status --wait --timeout {int(DEADLINE)}s")
        shown = terminals.here(readme.blocks("A cluster by hand", "")[0])
        assert table(terminals.type(fourth.take("build/bullring status$"))) == table(shown)

        # Not typed, so that it can never meet anybody else; but it is seen whom it would meet.
        *kill, pattern = shlex.split(terminals.here(fourth.take("pkill -9 -f ")))
        assert kill == ["pkill", "-9", "-f"]
        met = {int(pid) for pid in terminals.type(f"pgrep -f {shlex.quote(pattern)}").split()}
        assert nodes[3].pid in met
        assert not met & {nodes[1].pid, nodes[2].pid, os.getpid()}
        nodes[3].kill()

        status = terminals.type(fourth.take("build/bullring status --wait$"))
        assert re.search(r"(?m)^2 .* leader +2 ", status)
        resigned = terminals.type(fourth.take("build/bullring resign$"))
        assert re.fullmatch(r"node 1 leads, epoch \d+\n", resigned)
        watch = terminals.open(fourth.take("build/bullring watch$"))
    wait_until(lambda: watch.printed.read_text().endswith("\n"), "watch prints a line")
    assert json.loads(watch.printed.read_text().splitlines()[-1])["leader"] == 1
    watch.send_signal(signal.SIGINT)
    assert watch.wait(DEADLINE) == 0
    with readme.commands("A cluster by hand", 4) as later:
        fourth = terminals.open(later.take("build/bullring node --id 4 --join "))
        listed = later.take("build/bullring member list$")
    wait_until(
        lambda: re.search(r"(?m)^4 .* no +yes +follower$", terminals.type(listed)), "node 4 is in"
    )
    fourth.terminate()
    assert fourth.wait(DEADLINE) == 0


def test_from_python(terminals, tmp_path, spawn):
    """Each machine is a home of its own."""
    homes = [tmp_path / f"machine-{i}" for i in (1, 2, 3)]
    key = tmp_path / "rows.key"
    with readme.commands("From Python") as commands:
        node = commands.take("bullring node --cluster rows --id 1 ").replace("rows.key", str(key))
        program = commands.take("python3 rows.py$").split()
    terminals.type(f"bullring key new --out {key}")
    (text,) = readme.blocks("From Python", "python")
    (tmp_path / "rows.py").write_text(text)
    rows = []
    for i, home in enumerate(homes, 1):
        home.mkdir()
        terminals.environment["HOME"] = str(home)
        terminals.open(node.replace("--id 1 ", f"--id {i} "))
        socket = home / ".local/state/bullring/rows" / f"node-{i}" / "attach.sock"
        wait_until(socket.exists, "the node's socket")
        environment = terminals.environment | {"PYTHONPATH": PYTHON_PATH}
        printed = home / "printed"
        with open(printed, "wb") as out:
            rows.append((spawn(program, cwd=tmp_path, env=environment, stdout=out), printed))

    def printing(among):
        return next((one for one in among if one[1].stat().st_size > 0), None)

    first = wait_until(lambda: printing(rows), "a row")
    first[0].kill()
    second = wait_until(lambda: printing([one for one in rows if one != first]), "another row")
    epochs = [int(one[1].read_text().split()[3]) for one in (first, second)]
    assert epochs[0] < epochs[1]


def test_the_failover_is_told_by_these_lines(new_cluster):
    quoted = re.findall(r"node (\d)  (\{.*\})", readme.blocks("One failover", "")[0])
    assert len(quoted) > 7
    cluster = new_cluster(3, flags=["--first-epoch", "0"]).start()
    assert cluster.wait_settled().id == 3
    killed_ns = cluster[3].kill()
    cluster.wait_elected(killed_ns)
    cluster.wait_leader()

    def missing():
        seen = [event for event in cluster.events() if event["ts_ns"] >= killed_ns]
        return [
            line
            for node, line in quoted
            if not any(
                event | json.loads(line) == event and event["node"] == int(node) for event in seen
            )
        ]

    cluster.wait_for(lambda: not missing(), f"these lines: {quoted}")
