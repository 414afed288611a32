"""bullring-operations(7): each line of the checklist is typed, on three machines that are
directories of this one.
"""

import glob
import pathlib
import re
import shlex
import shutil
import signal
import subprocess

import pytest
from harness.events import EventFile
from harness.node import ROOT, Node, clean_environment, find_program
from harness.readme import sections
from harness.secrets import key_line, write_private
from harness.waiting import DEADLINE, wait_until
from secured import read_anew
from told import told

PAGE = ROOT / "src" / "manual" / "bullring-operations.7.md"
CONFIG = "/etc/bullring/poller.toml"
KEYS = "/etc/bullring/poller.key"
EVENTS = "/var/log/bullring/poller/events"
ELSEWHERE = "10.0.0.9:7100"


class Machine(Node):
    """A member with the files that the page names."""

    @property
    def files(self):
        return self.cluster.directory / f"machine-{self.id}"

    @property
    def config(self):
        return self.files / "poller.toml"

    @property
    def keys(self):
        return self.files / "poller.key"

    def set_up(self):
        self.files.mkdir(exist_ok=True)
        peers = ", ".join(f'"{one}"' for one in self.cluster.peers.split(","))
        self.config.write_text(
            f'cluster = "{self.cluster.name}"\nid = {self.id}\npeers = [{peers}]\n'
            f'security = "key"\nkey-file = "{self.keys}"\ndata-dir = "{self.data_dir}"\n'
            'algorithm = "bully"\nallow-drill = true\nlease-max = "2s"\n'
        )

    def command(self, extra=()):
        events = f"{self.data_dir}.{len(self.incarnations)}.events"
        return [self.cluster.program, "node", "--config", str(self.config), "--events", events]


class Operator:
    """Types lines of the page, as root of the machine that he is on."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.at = cluster[1]
        self.ids = {}  # of keys, by the names that the page has for them

    def type(self, line):
        line = line.partition("   #")[0]
        if line.startswith("# "):
            return self.do(line[2:])
        words = shlex.split(line)
        handlers = {"bullring": self.bullring, "systemctl": self.systemctl, "mv": self.move}
        if words[0] in handlers:
            return handlers[words[0]](words[1:])
        # The work of others, which is theirs to test.
        assert re.fullmatch(
            r"apt install \./bullring_[\d.]+_amd64\.deb|journalctl -u bullring@poller .*", line
        ), line
        return None

    def do(self, what):
        if what == f"copy {KEYS} to the other machines":
            for machine in self.cluster:
                if machine is not self.at:
                    write_private(machine.keys, self.at.keys.read_text())
        elif what == "systemctl reload bullring@poller on each machine":
            read_anew(self.cluster)
        elif what == "the disk of node 2 is lost":
            machine = self.cluster[2]
            machine.crash()
            shutil.rmtree(machine.data_dir)
            self.at = machine
        elif found := re.fullmatch(r"on machine (\d)", what):
            self.at = self.cluster[int(found[1])]
        else:
            raise AssertionError(what)

    def words(self, written):
        for word in written:
            if word.startswith(EVENTS):
                for machine in self.cluster:
                    yield from glob.glob(f"{machine.data_dir}.*.events*")
            else:
                for name, means in {
                    CONFIG: self.at.config,
                    KEYS: self.at.keys,
                    ELSEWHERE: self.cluster[2].address,
                    **self.ids,
                }.items():
                    word = word.replace(name, str(means))
                yield word

    def bullring(self, written):
        if written[1:] == ["--unit", "bullring@poller"]:
            # Systemd's part of it is judged by test_doctor_unit.
            written = [written[0], "--config", CONFIG]
        command = [find_program(), *self.words(written)]
        if written[0] == "key" and written[1] == "add":
            self.ids["OLD"] = key_ids(self.at)[0]
        done = None

        def well():
            nonlocal done
            done = self.run(command)
            # No line below the table, whose rows begin with IDs.
            rows = done.stdout.splitlines()[1:]
            well = written[0] != "status" or all(row[0].isdigit() for row in rows)
            return done.returncode == 0 and well

        if written[0] == "status":
            wait_until(well, lambda: f"{written} says that all is well: {done}", DEADLINE)
        else:
            assert well(), (command, done)
        if written[0] == "key" and written[1] == "add":
            self.ids["NEW"] = key_ids(self.at)[-1]
        return done.stdout

    def run(self, command):
        """While it runs, whoever dies is started again, as by systemd."""
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )
        while command[1] == "drill" and process.poll() is None:
            for machine in self.cluster:
                if machine.ends_within(0.01):
                    machine.restart()
        stdout, stderr = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)

    def systemctl(self, words):
        *what, unit = words
        assert unit == "bullring@poller"
        if what == ["enable", "--now"]:
            self.at.start()
        elif what == ["restart"]:
            self.at.stop()
            self.at.start()
        elif what == ["disable", "--now"]:
            assert self.at.stop() == 0
        else:
            assert what == ["reload"], what
            self.at.current.process.send_signal(signal.SIGHUP)
            before = self.at.current.stream
            wait_until(pathlib.Path(before.path).exists, "the file is there again", DEADLINE)
            self.at.current.stream = after = EventFile(before.path)
            after.role, after.leader, after.epoch = before.role, before.leader, before.epoch

    def move(self, words):
        assert words == [EVENTS, f"{EVENTS}.1"]
        path = pathlib.Path(self.at.current.stream.path)
        path.rename(f"{path}.1")


def key_ids(machine):
    _, listed = told("key", "list", machine.keys)
    return [line.split()[0] for line in listed.splitlines()[1:]]


@pytest.fixture
def site(new_cluster):
    cluster = new_cluster(3)
    for node in cluster:
        node.__class__ = Machine
        node.set_up()
    key = key_line()
    for node in cluster:
        write_private(node.keys, key)
    cluster.environment |= {"BULLRING_SECURITY": "key", "BULLRING_KEY_FILE": str(cluster[1].keys)}
    return Operator(cluster)


def test_the_checklist_is_typed(site):
    written = {
        heading: [
            line for language, text in blocks if language == "sh" for line in text.splitlines()
        ]
        for heading, blocks in sections(PAGE.read_text()).items()
    }
    assert sum(len(lines) for lines in written.values()) > 25
    cluster = site.cluster

    first, enable, *rest = written["BEFORE YOU START"]
    for machine in cluster:
        site.at = machine
        site.type(first)
        site.type(enable)
    for line in rest:
        site.type(line)
    told = site.bullring(["status", "--config", CONFIG])
    assert "leader" in told
    for line in [*written["EXAMPLE"], *written["EACH WEEK"]]:
        site.type(line)

    leader = cluster.wait_settled()
    site.at = next(node for node in cluster if node is not leader)
    for line in written["ROTATION"]:
        site.type(line)
    assert key_ids(cluster[3]) == [site.ids["NEW"]]

    leader = cluster.wait_settled()
    *upgrade, resign = written["UPGRADE"]
    for machine in [*(node for node in cluster if node is not leader), leader]:
        site.at = machine
        for line in upgrade:
            site.type(line)
    cluster.wait_settled()
    site.type(resign)
    cluster.wait_settled()

    for line in written["REPLACING A MACHINE"]:
        site.type(line)
        cluster.wait_leader(among=(1, 3))
    assert cluster.member_list()[1] == {1: True, 3: True}
    site.at = cluster[1]
    for line in written["AT 3 A.M."]:
        site.type(line)
