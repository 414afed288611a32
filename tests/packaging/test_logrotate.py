"""Log rotation: logrotate itself, with the file of the package, on the event streams of real nodes
that are killed meanwhile. No line is lost, and the audit of all files proves the history.
"""

import json
import os
import shutil
import signal
import subprocess

import pytest
from harness.audit import Audit
from harness.net import PortHolder
from harness.node import clean_environment, die_with_parent, find_program
from harness.packaging_files import SOURCES, run
from harness.waiting import DEADLINE, wait_until

LOGROTATE = shutil.which("logrotate", path="/usr/sbin:/usr/bin")
pytestmark = [
    pytest.mark.beside,
    pytest.mark.skipif(not LOGROTATE, reason="logrotate is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="logrotate takes settings from root alone"),
]

SETTINGS = (SOURCES / "debian" / "bullring.logrotate").read_text()
UNITS = ["bullring@*.service", "bullring-run@*.service", "bullring-address@*.service"]
# In the place of systemctl: says how it was called, and does what the units' ExecReload= does.
SYSTEMCTL = """#!/bin/sh
printf '%s\\n' "$*" >>"$TOLD"
for file in "$NODES"/*.pid; do kill -HUP "$(cat "$file")"; done
"""


class Member:
    def __init__(self, place, node_id, peers):
        self.place, self.id = place, node_id
        (place / f"{node_id}").mkdir()
        self.events = place / f"{node_id}" / "events"
        self.words = [find_program(), "node", "--id", str(node_id), "--peers", peers]
        self.words += ["--events", self.events, "--data-dir", place / f"state{node_id}"]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [*self.words, "--lease", "2s"],
            stderr=open(self.place / f"{self.id}.log", "ab"),
            env=clean_environment(),
            preexec_fn=die_with_parent,
        )
        self.running.write_text(str(self.process.pid))

    @property
    def running(self):
        return self.place / f"{self.id}.pid"

    def kill(self):
        self.running.unlink(missing_ok=True)
        self.process.kill()
        self.process.wait()

    def files(self):
        return sorted(self.events.parent.iterdir())

    def deaths(self):
        lines = [line for file in self.files() for line in file.read_text().splitlines()]
        events = map(json.loads, lines)
        return sum(event["event"] == "deposed" and event["reason"] == "died" for event in events)


@pytest.fixture
def members(tmp_path):
    ports = PortHolder()
    peers = ",".join(f"{i}=127.0.0.1:{ports.take()}" for i in (1, 2, 3))
    made = {i: Member(tmp_path, i, peers) for i in (1, 2, 3)}
    for member in made.values():
        member.start()
    yield made
    for member in made.values():
        member.kill()
    ports.release()


class Rotation:
    """The package's settings, for the files of this test."""

    def __init__(self, place):
        tools = place / "tools"
        tools.mkdir()
        systemctl = tools / "systemctl"
        systemctl.write_text(SYSTEMCTL)
        systemctl.chmod(0o755)
        self.told = place / "told"
        self.settings = place / "settings"
        assert "/var/log/bullring/*/events {" in SETTINGS
        text = SETTINGS.replace("/var/log/bullring/", f"{place}/")
        assert "[ -d /run/systemd/system ]" in text
        # Debian's own settings have `create` for all, and an administrator may have more.
        general = "create\ncompress\n"
        self.settings.write_text(general + text.replace("/run/systemd/system", str(place)))
        self.settings.chmod(0o644)
        path = f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin"
        self.environment = {"PATH": path, "TOLD": str(self.told), "NODES": str(place)}
        self.words = [LOGROTATE, "--state", place / "rotated", self.settings]

    def __call__(self, *flags):
        run(*self.words, *flags, env=self.environment)


def leader(members):
    """The one that all follow; None: not yet."""
    peers = members[1].words[members[1].words.index("--peers") + 1]
    words = [find_program(), "status", "--json", "--peers", peers]
    done = subprocess.run(words, capture_output=True, text=True, env=clean_environment())
    told = json.loads(done.stdout)
    same = {node["leader"] for node in told["nodes"]} == {told["leader"]}
    return members[told["leader"]] if same and told["leader"] else None


def wait_leader(members):
    return wait_until(lambda: leader(members), "a leader that all follow", every=0.02)


def test_nothing_is_lost_while_leaders_die(members, tmp_path):
    rotate = Rotation(tmp_path)
    killed = 0
    for number in range(1, 4):
        old = wait_leader(members)
        old.kill()
        killed += 1
        # A survivor may write the last line now, under either name.
        rotate("--force")
        others = [one for one in members.values() if one is not old]
        wait_until(lambda: all(one.events.exists() for one in others), "new files")
        old.start()
        wait_leader(members)
        for member in members.values():
            wait_until(lambda one=member: one.events.stat().st_size > 0, "lines in a new file")
            assert len(member.files()) == number + 1, member.files()
    (call,) = set(rotate.told.read_text().splitlines())
    assert call.split() == ["try-reload-or-restart", *UNITS]
    assert len(rotate.told.read_text().splitlines()) == 3  # once for all of them, each time
    wait_until(
        lambda: sum(member.deaths() for member in members.values()) == killed, "each death is told"
    )
    for member in members.values():
        member.process.send_signal(signal.SIGTERM)
        assert member.process.wait(DEADLINE) == 0
    files = [file for member in members.values() for file in member.files()]
    assert {file.name for file in files} == {"events", "events.1", "events.2", "events.3"}
    assert all(file.stat().st_mode & 0o022 == 0 for file in files)
    audit = Audit(find_program(), files)
    assert audit.proved, audit.unproved()
    assert len(audit.leaderships) > killed


def test_what_is_not_due_is_left_alone(members, tmp_path):
    wait_leader(members)
    rotate = Rotation(tmp_path)
    rotate()
    rotate()
    assert not rotate.told.exists()
    assert [member.files() for member in members.values()] == [
        [member.events] for member in members.values()
    ]
