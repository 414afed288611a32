"""`bullring doctor --unit`: what a node would meet that systemd starts by a unit, as its user, in
its sandbox; here by the units' own files, without systemd. tests/packaging/test_systemd.py asks
systemd, too.
"""

import grp
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import pytest
from harness.node import find_program
from harness.packaging_files import BUILD
from told import lines, told

NOBODY = pwd.getpwnam("nobody")
HOME_OF_ROOT = pwd.getpwuid(0).pw_dir
GROUP = grp.getgrgid(NOBODY.pw_gid).gr_name
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="to become another user needs root")


class Service:
    """The package's unit of an instance, with its files in a folder that the sandbox shows."""

    def __init__(self, folder, ports, kind="bullring"):
        self.folder, self.port = folder, ports.take()
        self.path = folder / f"{kind}@poller.service"
        self.settings = folder / "poller.toml"
        text = (BUILD / "packaging" / f"{kind}@.service").read_text()
        (start,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
        program = folder / "bullring"
        shutil.copy(find_program(), program)
        text = text.replace(start.split("=", 1)[1].split()[0], str(program))
        text = text.replace("/etc/bullring", str(folder))
        # No place of this machine's own package is looked at.
        text = text.replace("Directory=bullring/%i", "Directory=bullring-test-%p/%i")
        for name, own in (("User", NOBODY.pw_name), ("Group", GROUP)):
            text = text.replace(f"{name}=bullring\n", f"{name}={own}\n")
        self.path.write_text(text)
        self.configure()

    def configure(self, **more):
        peers = f'["1=127.0.0.1:{self.port}"]'
        given = {"id": "1", "peers": peers} | {
            name.replace("_", "-"): json.dumps(value) for name, value in more.items()
        }
        self.settings.write_text("".join(f"{name} = {text}\n" for name, text in given.items()))

    def drop_in(self, *settings):
        place = pathlib.Path(f"{self.path}.d")
        place.mkdir(exist_ok=True)
        (place / "override.conf").write_text("\n".join(["[Service]", *settings, ""]))

    def judged(self, *more, unit=None, prefix=()):
        unit = self.path if unit is None else unit
        return told("doctor", "--unit", unit, *more, prefix=prefix)

    def fails(self, *more):
        """Its failures, of which there have to be some."""
        status, text = self.judged(*more)
        assert status == 1, text
        return "\n".join(lines(text, "fail"))


@pytest.fixture
def folder():
    """In no place that the sandbox hides, and readable for everybody."""
    with tempfile.TemporaryDirectory(prefix="bullring-unit-", dir="/var/lib") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture
def service(folder, ports):
    return Service(folder, ports)


def test_nothing_is_in_the_way_of_the_packages_unit(service):
    status, text = service.judged()
    assert (status, lines(text, "fail"), lines(text, "warn")) == (0, [], []), text
    assert f"{service.path}, as user nobody" in text
    state = "/var/lib/bullring-test-bullring/poller"
    assert f"data directory {state}: systemd makes it" in text
    assert not os.path.exists(os.path.dirname(state))


def test_json_has_it_too(service):
    status, text = service.judged("--json")
    told = json.loads(text)
    assert (status, told["failures"]) == (0, 0)
    assert told["findings"][0]["subject"] == "unit bullring@poller.service"


def test_what_root_may_read_and_the_units_user_may_not_is_told(service, folder):
    key = folder / "poller.key"
    key.write_text(subprocess.check_output([find_program(), "key", "new"], text=True))
    key.chmod(0o600)
    service.configure(security="key", key_file=str(key))
    assert "Permission denied" in service.fails()
    shutil.chown(key, group=NOBODY.pw_gid)
    key.chmod(0o640)
    assert service.judged()[0] == 0
    service.settings.chmod(0o600)
    assert str(service.settings) in service.fails()


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("ProtectHome=yes", f"{HOME_OF_ROOT}/bullring-test"),
        ("PrivateTmp=yes", "/tmp/bullring-test.toml"),
        ("InaccessiblePaths={0}/poller.key", "{0}/poller.key"),
    ],
    ids=["home", "tmp", "inaccessible"],
)
def test_what_the_sandbox_hides_is_told(service, folder, setting, path):
    """Although everybody may read it outside."""
    path = pathlib.Path(path.format(folder))
    path.write_text(subprocess.check_output([find_program(), "key", "new"], text=True))
    try:
        service.configure(security="key", key_file=str(path))
        service.drop_in(setting.format(folder))
        assert str(path) in service.fails()
    finally:
        path.unlink()


def test_a_directory_that_the_sandbox_protects_is_told(service, folder):
    data = folder / "data"
    data.mkdir()
    shutil.chown(data, NOBODY.pw_uid, NOBODY.pw_gid)
    service.configure(data_dir=str(data))
    assert f"data directory {data}: {data} can't be written: Read-only" in service.fails()
    service.drop_in(f"ReadWritePaths={data}")
    status, text = service.judged()
    assert (status, list(data.iterdir())) == (0, []), text
    shutil.chown(data, 0, 0)
    data.chmod(0o755)
    assert "Permission denied" in service.fails()


def test_a_directory_of_another_user_is_given_to_the_unit(service):
    """By systemd, with the start: it is no failure, and stays as it is until then."""
    state = pathlib.Path("/var/lib/bullring-test-bullring/poller")
    state.mkdir(parents=True)
    try:
        status, text = service.judged()
        assert status == 0, text
        assert [line for line in lines(text, "note") if "another user's" in line], text
        assert state.stat().st_uid == 0
        shutil.chown(state, NOBODY.pw_uid)
        (state / "state").write_text("nonsense")
        (state / "state").chmod(0o600)  # root's, and left to root
        assert "Permission denied" in service.fails()
    finally:
        shutil.rmtree(state.parent)


def test_a_port_without_the_capability_is_told(service):
    service.port = 603
    service.configure()
    below = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()
    if int(below) <= service.port:
        pytest.skip(f"everybody may listen above {below}")
    assert "CAP_NET_BIND_SERVICE" in service.judged()[1]
    capability = ["CapabilityBoundingSet=CAP_NET_BIND_SERVICE", "PrivateUsers=no"]
    service.drop_in("AmbientCapabilities=CAP_NET_BIND_SERVICE", *capability)
    status, text = service.judged()
    assert status == 0, text
    service.drop_in("AmbientCapabilities=CAP_NET_BIND_SERVICE", capability[0])
    status, text = service.judged()
    assert (status, "PrivateUsers=no" in text) == (1, True), text


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("User=no-such-user", "no such user"),
        ("Group=no-such-group", "no such group"),
        ("EnvironmentFile=/no/such/file", "/no/such/file"),
        ("RestrictAddressFamilies=", "ok"),
        ("RestrictAddressFamilies=~AF_UNIX", "without AF_UNIX it can't work"),
        ("LimitNOFILE=30", "30 are allowed"),
        ("LimitNOFILE=1K", "ok"),
        ("TasksMax=5", "this control group allows 5"),
        ("Environment=BULLRING_REALTIME=on", "SCHED_FIFO is not permitted"),
        ("Environment=BULLRING_LEASE=5", 'BULLRING_LEASE: "5" has no unit'),
        ("KillMode=mixed", "wait for the end of the lease"),
    ],
)
def test_what_a_drop_in_gets_wrong_is_told(service, setting, found):
    service.drop_in(setting)
    status, text = service.judged("--strict")
    assert (status, found in text) == (0 if found == "ok" else 1, True), text


def test_the_words_of_the_unit_are_read_as_systemd_reads_them(service, folder):
    """A list that begins anew, a line that goes on, quotes, and variables of both kinds."""
    line = "node --config %E/../{0}/%i.toml --lease ${{LEASE}} --data-dir '{0}/a b' $FLAGS"
    start = f"ExecStart={folder}/bullring " + line.format(folder).replace(
        " --lease", " \\\n  --lease"
    )
    flags = f"\"FLAGS=--events '{folder}/an event'\""
    for lease, found in (("5", '--lease: "5" has no unit'), ("5s", f"events {folder}/an event")):
        service.drop_in(f"Environment=LEASE={lease} {flags}", "ExecStart=", start)
        assert found in service.judged()[1]
    assert f"data directory {folder}/a b" in service.judged()[1]


def test_the_command_is_looked_for_as_the_units_user(folder, ports):
    service = Service(folder, ports, "bullring-run")
    service.port = ports.take()
    service.configure()
    variables = folder / "poller.env"
    command = folder / "command"
    command.write_text("#!/bin/sh\n")
    variables.write_text(f'# of the command\nCOMMAND="{command} --fast"\n')
    command.chmod(0o700)
    assert f'the command "{command}" is not executable' in service.fails()
    command.chmod(0o755)
    status, text = service.judged()
    assert (status, f"command: {command}\n" in text) == (0, True), text
    variables.unlink()
    assert "no command" in service.fails()


def test_an_address_needs_its_capabilities(folder, ports):
    service = Service(folder, ports, "bullring-address")
    service.configure(address=["10.99.99.9/24"], dev="lo")
    assert "may not change them" not in service.judged()[1]
    service.drop_in("AmbientCapabilities=")
    assert "may not change them" in service.fails()


@pytest.mark.parametrize(
    ("unit", "right"),
    [
        ("no-such-unit", "is no unit of this machine"),
        ("{0}/bullring@.service", "is a template; expected a unit of it, like bullring@NAME"),
        ("{0}/other.service", "expected one that starts bullring node, run or address"),
        ("{0}/masked.service", "is masked"),
        ("", "is no unit"),
    ],
)
def test_what_is_no_unit_of_ours_is_told(service, folder, unit, right):
    (folder / "other.service").write_text("[Service]\nExecStart=/usr/sbin/sshd -D\n")
    (folder / "masked.service").symlink_to("/dev/null")
    status, text = service.judged(unit=unit.format(folder))
    assert (status, right in text) == (2, True), text


def test_flags_beside_it_and_other_users_are_refused(service):
    status, text = service.judged("--id", "2")
    assert (status, "--id: it means nothing with --unit" in text) == (2, True), text
    service.path.chmod(0o644)
    status, text = service.judged(prefix=["setpriv", "--reuid=65534", "--clear-groups"])
    assert (status, "root alone" in text) == (2, True), text
