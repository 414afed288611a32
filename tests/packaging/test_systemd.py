"""The service under a real systemd: a fresh Debian is booted, the package installed, and the manual
followed, with three nodes on one machine.
"""

import collections
import json
import os
import pathlib
import pwd
import shutil
import tempfile

import pytest
from debian import Debian, Machine, newer, unbootable
from harness.waiting import wait_until

pytestmark = [
    pytest.mark.long,
    pytest.mark.limit(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="to boot a machine needs root"),
]

IDS = (1, 2, 3)
KILLS = 10
EACH = 2  # rounds of each fault
LATER = "root/later.deb"
PEERS = ", ".join(f'"{i}=127.0.0.1:710{i}"' for i in IDS)


def wait_for(predicate, what):
    return wait_until(predicate, what, 60, every=0.02)


@pytest.fixture(scope="module")
def machine(packages, tmp_path_factory):
    if why := unbootable():
        pytest.skip(why)
    with tempfile.TemporaryDirectory(prefix="bullring-machine-") as folder:
        debian = Debian(pathlib.Path(folder), ["systemd-sysv", "dbus", "iproute2", "logrotate"])
        debian.install([packages["bullring"]])
        for i in IDS:
            (debian.folder / f"etc/bullring/node{i}.toml").write_text(
                f'cluster = "test"\nid = {i}\npeers = [{PEERS}]\nallow-drill = true\n'
                f'events = "/var/log/bullring/node{i}/events"\n'
            )
        (debian.folder / "etc/bullring/job.toml").write_text(
            'cluster = "job"\nid = 1\npeers = ["1=127.0.0.1:7130"]\n'
            'events = "/var/log/bullring/job/events"\n'
        )
        (debian.folder / "etc/bullring/job.env").write_text("COMMAND=/bin/sleep infinity\n")
        later = newer(packages["bullring"], tmp_path_factory.mktemp("later"))
        shutil.copy(later, debian.folder / LATER)
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


UNITS = {i: f"bullring@node{i}" for i in IDS}
EVENTS = {i: f"/var/log/bullring/node{i}/events" for i in IDS}
ALL_EVENTS = "/var/log/bullring/*/events*"
ASK = ["--config", "/etc/bullring/node1.toml", "--json"]


def status(machine):
    """The members' answer, once a majority agrees on a leader."""
    done = machine.try_to_run("bullring", "status", *ASK)
    return json.loads(done.stdout) if done.returncode == 0 else None


def leader(machine):
    """Its ID, once a majority agrees."""
    told = status(machine)
    return told and told["leader"]


def whole(machine):
    """The leader's ID, once all members follow it."""
    told = status(machine)
    leads = told and {node["leader"] for node in told["nodes"]} == {told["leader"]}
    return told["leader"] if leads else None


def ends(machine, *nodes):
    """How often each reason has ended a leadership of these nodes, by their streams."""
    files = " ".join(f"{EVENTS[i]}*" for i in nodes)  # the rotated ones, too
    lines = machine.run("sh", "-c", f"cat {files}").splitlines()
    told = [line["reason"] for line in map(json.loads, lines) if line["event"] == "deposed"]
    return collections.Counter(told)


def test_the_service_as_the_manual_describes_it(machine):
    machine.run("systemctl", "enable", "--now", *UNITS.values())  # returns when they are ready
    first = wait_for(lambda: leader(machine), "a leader")
    for i, unit in UNITS.items():
        begin = "leader, epoch " if i == first else "follower, epoch "
        wait_for(
            lambda unit=unit, begin=begin: shown(machine, unit, "StatusText").startswith(begin),
            f"the status of {unit}",
        )

    # Reload, a kill, a clean stop. What the package does not depend on is not there.
    assert machine.try_to_run("test", "-e", "/bin/kill").returncode != 0
    pid = shown(machine, UNITS[first], "MainPID")
    machine.run("mv", EVENTS[first], f"{EVENTS[first]}.1")
    machine.run("systemctl", "reload", UNITS[first])
    assert shown(machine, UNITS[first], "MainPID") == pid
    opened = ["test", "-e", EVENTS[first]]
    wait_for(lambda: machine.try_to_run(*opened).returncode == 0, "the events are opened anew")
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNITS[first])
    wait_for(lambda: leader(machine) not in (None, first), "the next leader")
    wait_for(lambda: shown(machine, UNITS[first], "ActiveState") == "active", "the restart")
    assert shown(machine, UNITS[first], "NRestarts") == "1"
    second = wait_for(lambda: leader(machine), "a leader")
    machine.run("systemctl", "stop", UNITS[second])
    assert shown(machine, UNITS[second], "Result") == "success"
    wait_for(lambda: leader(machine) not in (None, second), "its successor")
    machine.run("systemctl", "start", UNITS[second])

    # A wrong configuration is not tried again.
    machine.run("sh", "-c", "echo 'surprise = 1' >/etc/bullring/wrong.toml")
    assert machine.try_to_run("systemctl", "start", "bullring@wrong").returncode != 0
    wait_for(lambda: shown(machine, "bullring@wrong", "ActiveState") == "failed", "its end")
    assert shown(machine, "bullring@wrong", "NRestarts") == "0"


def test_each_death_is_told_and_the_history_is_proved(machine):
    """The sandbox, and the manager's own way to end a service, must not spoil this."""
    machine.run("systemctl", "start", *UNITS.values())
    before = ends(machine, *IDS)
    for number in range(KILLS):
        killed = wait_for(lambda: whole(machine), "a leader that all follow")
        told = ends(machine, killed)["died"]
        machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", UNITS[killed])
        if number % 2 == 0:  # while its last line is written
            machine.run("logrotate", "--force", "/etc/logrotate.d/bullring")
        wait_for(lambda: ends(machine, killed)["died"] == told + 1, f"the death of node {killed}")
    wait_for(lambda: whole(machine), "a leader that all follow")
    drill = ["bullring", "drill", *ASK, "--rounds", str(4 * EACH), "--every", "1s"]
    said = json.loads(machine.run(*drill, timeout=300))
    assert said["sound"]
    assert {fault["fault"]: fault["rounds"] for fault in said["faults"]} == dict.fromkeys(
        ("crash", "hang", "resign", "cut"), EACH
    )
    since = ends(machine, *IDS) - before
    assert (since["died"], since["hung"]) == (KILLS + EACH, EACH)
    audit = json.loads(machine.run("sh", "-c", f"bullring audit --json {ALL_EVENTS}"))
    assert (audit["contradictions"], audit["gaps"], audit["proved"]) == ([], [], True)
    assert audit["clocks"] == 1  # by the boot that the units tell


ADDRESS = "bullring-address@web"


def held(machine):
    """Where the address is, as the kernel says."""
    shown = json.loads(machine.run("ip", "-json", "address", "show", "to", "10.77.0.9"))
    return [one["ifname"] for one in shown if one]


def test_an_address_under_its_unit(machine):
    machine.run("ip", "link", "add", "web0", "type", "veth", "peer", "name", "web1")
    for words in (["web0", "up"], ["web1", "up"]):
        machine.run("ip", "link", "set", *words)
    settings = 'cluster = "web"\nid = 1\npeers = ["1=127.0.0.1:7120"]\n'
    settings += 'address = ["10.77.0.9/24"]\ndev = "web0"\n'
    settings += 'events = "/var/log/bullring/web/events"\n'
    machine.run("sh", "-c", f"echo '{settings}' >/etc/bullring/web.toml")
    machine.run("systemctl", "enable", "--now", ADDRESS)
    wait_for(lambda: held(machine) == ["web0"], "the address is on its interface")
    machine.run("systemctl", "reload", ADDRESS)

    # It has what it needs, and its guard goes before all else and ends the address of one killed.
    log = machine.run("journalctl", "--no-pager", "--unit", ADDRESS)
    assert "cannot" not in log, log
    guard = machine.run("sh", "-c", "grep -l bullring-guard /proc/[0-9]*/comm").split("/")[2]
    policy = machine.run("cat", f"/proc/{guard}/stat").rsplit(")", 1)[1].split()[38]
    assert policy == "1"  # SCHED_FIFO
    machine.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", ADDRESS)
    wait_for(lambda: shown(machine, ADDRESS, "NRestarts") == "1", "the restart")
    wait_for(lambda: held(machine) == ["web0"], "the address is back")
    machine.run("systemctl", "stop", ADDRESS)
    assert held(machine) == []
    lines = machine.run("cat", "/var/log/bullring/web/events").splitlines()
    reasons = [one["reason"] for one in map(json.loads, lines) if one["event"] == "deposed"]
    assert reasons == ["died", "stopped"]


@pytest.mark.parametrize(("unit", "most"), [(UNITS[1], 15), (ADDRESS, 21)])
def test_what_runs_is_exposed_to_little(machine, unit, most):
    machine.run("systemctl", "start", unit)
    machine.run("systemd-analyze", "security", "--no-pager", f"--threshold={most}", unit)


JOB = "bullring-run@job"


def job_of(machine):
    """The process of the command; None: it does not run."""
    found = machine.try_to_run("sh", "-c", "grep -lx sleep /proc/[0-9]*/comm").stdout.split("/")
    return found[2] if len(found) > 1 else None


def complaints(machine):
    """Lines of systemd about processes that somebody has left behind."""
    log = machine.run("journalctl", "--no-pager", "--boot", "--unit", "bullring*")
    return [one for one in log.splitlines() if "left-over" in one or "remains running" in one]


def test_maintenance_leaves_a_job_alone(machine):
    """One without any handler of signals: a rotation, a reload, an upgrade of the package."""
    machine.run("systemctl", "start", JOB, UNITS[1])
    job = wait_for(lambda: job_of(machine), "the command")
    main = shown(machine, JOB, "MainPID")

    events = "/var/log/bullring/job/events"
    machine.run("logrotate", "--force", "/etc/logrotate.d/bullring")
    opened = ["test", "-e", events]
    wait_for(lambda: machine.try_to_run(*opened).returncode == 0, "the events are opened anew")
    machine.run("systemctl", "reload", JOB)
    machine.run("dpkg", "--install", f"/{LATER}")
    assert "+later" in machine.run("dpkg-query", "--show", "bullring")
    assert (job_of(machine), shown(machine, JOB, "MainPID")) == (job, main)
    assert shown(machine, JOB, "ActiveState") == "active"
    assert machine.run("readlink", f"/proc/{main}/exe").strip().endswith("(deleted)")

    # As the manual has it then: a handover, and no complaint of systemd.
    before = complaints(machine)
    for unit in (JOB, UNITS[1]):
        machine.run("systemctl", "restart", unit)
    wait_for(lambda: job_of(machine) not in (None, job), "the next command")
    machine.run("systemctl", "stop", JOB)
    assert (job_of(machine), shown(machine, JOB, "Result")) == (None, "success")
    assert complaints(machine) == before


# More settings, a drop-in, and whether a node starts with them.
HOME_OF_ROOT = pwd.getpwuid(0).pw_dir
AT_603 = 'peers = ["1=127.0.0.1:603"]'
MAY_603 = "AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE"
STARTS = {
    "as packaged": ("", "", True),
    "a directory of root's": (f'data-dir = "{HOME_OF_ROOT}/data"', "", False),
    "a directory in a home": ('data-dir = "/home/data"', "", False),
    "homes shown": ('data-dir = "/home/data"', "ProtectHome=no\nReadWritePaths=/home/data", True),
    "no such user": ("", "User=nobody-of-that-name", False),
    "no such file": ("", "EnvironmentFile=/no/such/file", False),
    "no AF_INET": ("", "RestrictAddressFamilies=~AF_INET AF_INET6", False),
    "its own user": ("", "DynamicUser=yes\nUser=\nGroup=", True),
    "a port of root's": (AT_603, "", False),
    "one that it may take": (AT_603, f"{MAY_603}\nPrivateUsers=no", True),
    "out of bounds": (AT_603, MAY_603.split("\n")[0] + "\nPrivateUsers=no", False),
    "hidden settings": ("", "InaccessiblePaths=/etc/bullring", False),
    "and in a user namespace": (AT_603, MAY_603, False),
}


@pytest.mark.parametrize("what", STARTS)
def test_what_doctor_says_of_a_unit_is_what_systemd_does(machine, what):
    more, drop_in, starts = STARTS[what]
    unit, override = "bullring@judged", "/run/systemd/system/bullring@judged.service.d"
    peers = "" if "peers" in more else 'peers = ["1=127.0.0.1:7140"]\n'
    settings = f'cluster = "judged"\nid = 1\n{peers}{more}\n'
    machine.run("sh", "-c", f"printf %s '{settings}' >/etc/bullring/judged.toml")
    machine.run("install", "-d", "-o", "bullring", "/home/data")
    machine.run("mkdir", "-p", override)
    drop_in = f"[Service]\nTimeoutStartSec=3\nRestart=no\n{drop_in}\n"
    machine.run("sh", "-c", f"printf %s '{drop_in}' >{override}/judged.conf")
    machine.run("systemctl", "daemon-reload")
    try:
        said = machine.try_to_run("bullring", "doctor", "--unit", unit)
        started = machine.try_to_run("systemctl", "start", unit)
        log = machine.run("journalctl", "--no-pager", "--lines=5", "--unit", unit)
        assert (started.returncode == 0) == starts, log
        assert said.returncode == (0 if starts else 1), said.stdout + said.stderr
    finally:
        machine.run("systemctl", "stop", unit)
        machine.run("rm", "-rf", override, "/var/lib/bullring/judged", "/home/data")
        machine.run("systemctl", "daemon-reload")


def files_of_ours(machine):
    places = ["/etc", "/home", "/root", "/run", "/usr", "/var", "/lib/systemd"]
    words = ["find", *places, "-xdev", "-name", "*bullring*", "-not", "-path", "*/cgroup/*"]
    return set(machine.run(*words).split())


def test_the_package_stops_what_it_has_been_used_for(machine):
    machine.run("systemctl", "start", *UNITS.values(), JOB)
    wait_for(lambda: job_of(machine), "the command")
    machine.run("dpkg", "--remove", "bullring")
    left = machine.try_to_run("sh", "-c", "grep -l bullring /proc/[0-9]*/comm").stdout
    assert (left, job_of(machine)) == ("", None)
    assert {"/var/lib/bullring", "/var/log/bullring", "/etc/bullring"} <= files_of_ours(machine)
    machine.run("apt-get", "-q", "-y", "purge", "bullring")
    assert files_of_ours(machine) == {"/etc/bullring"}  # for what the administrator has put there
    assert machine.run("getent", "passwd", "bullring")
    links = machine.run("find", "/etc/systemd/system", "-type", "l", "-name", "bullring*")
    assert links == ""
    loaded = machine.run(
        "systemctl", "list-units", "--all", "--plain", "--no-legend", "bullring*@*"
    )
    assert "running" not in loaded
