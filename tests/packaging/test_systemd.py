"""The service under a real systemd: a fresh Debian is booted, the package installed, and the manual
followed, with three nodes on one machine.
"""

import json
import os
import pathlib
import shutil
import tempfile

import pytest
from debian import Debian, Machine
from waiting import wait_until

pytestmark = [
    pytest.mark.long,
    pytest.mark.limit(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="to boot a machine needs root"),
]

IDS = (1, 2, 3)
PEERS = ", ".join(f'"{i}=127.0.0.1:710{i}"' for i in IDS)


def wait_for(predicate, what):
    return wait_until(predicate, what, 60, every=0.02)


@pytest.fixture(scope="module")
def machine(packages):
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not installed")
    with tempfile.TemporaryDirectory(prefix="bullring-machine-") as folder:
        debian = Debian(pathlib.Path(folder), ["systemd-sysv", "dbus", "iproute2"])
        debian.install([packages["bullring"]])
        for i in IDS:
            (debian.folder / f"etc/bullring/node{i}.toml").write_text(
                f'cluster = "test"\nid = {i}\npeers = [{PEERS}]\nallow-drill = true\n'
                f'events = "/var/log/bullring/node{i}/events"\n'
            )
        booted = Machine(debian)
        try:
            wait_for(booted.init, "systemd")
            wait_for(
                lambda: booted.try_to_run("systemctl", "is-system-running").stdout == "running\n",
                "the machine",
            )
            yield booted
        finally:
            booted.close()


def shown(machine, unit, name):
    return machine.run("systemctl", "show", "--value", "--property", name, unit).strip()


def leader(machine):
    """Its ID, once a majority agrees."""
    words = ["bullring", "status", "--config", "/etc/bullring/node1.toml", "--json"]
    done = machine.try_to_run(*words)
    return json.loads(done.stdout)["leader"] if done.returncode == 0 else None


def test_the_service_as_the_manual_describes_it(machine):
    units = {i: f"bullring@node{i}" for i in IDS}
    machine.run("systemctl", "enable", "--now", *units.values())  # returns when they are ready
    first = wait_for(lambda: leader(machine), "a leader")
    for i, unit in units.items():
        begin = "leader, epoch " if i == first else "follower, epoch "
        wait_for(
            lambda unit=unit, begin=begin: shown(machine, unit, "StatusText").startswith(begin),
            f"the status of {unit}",
        )

    # Reload, the watchdog's own signal, a kill, a clean stop.
    pid = shown(machine, units[first], "MainPID")
    machine.run("systemctl", "reload", units[first])
    assert shown(machine, units[first], "MainPID") == pid
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", units[first])
    wait_for(lambda: leader(machine) not in (None, first), "the next leader")
    wait_for(lambda: shown(machine, units[first], "ActiveState") == "active", "the restart")
    assert shown(machine, units[first], "NRestarts") == "1"
    second = wait_for(lambda: leader(machine), "a leader")
    machine.run("systemctl", "stop", units[second])
    assert shown(machine, units[second], "Result") == "success"
    wait_for(lambda: leader(machine) not in (None, second), "its successor")
    machine.run("systemctl", "start", units[second])

    # A wrong configuration is not tried again.
    machine.run("sh", "-c", "echo 'surprise = 1' >/etc/bullring/wrong.toml")
    assert machine.try_to_run("systemctl", "start", "bullring@wrong").returncode != 0
    wait_for(lambda: shown(machine, "bullring@wrong", "ActiveState") == "failed", "its end")
    assert shown(machine, "bullring@wrong", "NRestarts") == "0"

    events = [f"/var/log/bullring/node{i}/events" for i in IDS]
    audit = json.loads(machine.run("bullring", "audit", "--json", *events))
    assert audit["contradictions"] == []
    assert "no_boot" not in {gap["kind"] for gap in audit["gaps"]}  # the units tell it
