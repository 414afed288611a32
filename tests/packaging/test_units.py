"""The units for systemd: understood by it, and closed to what a node does not need. What it does
need: tests/process/test_unit_filter.py.
"""

import os
import shutil
import subprocess

import pytest
from harness.node import find_program
from harness.packaging_files import BUILD, UNITS, run, unit_settings

pytestmark = pytest.mark.beside


@pytest.fixture
def unit(tmp_path):
    """A unit as it is installed, for the program of the build."""

    def make(name):
        text = (BUILD / "packaging" / name).read_text()
        (start,) = [line for line in text.splitlines() if line.startswith("ExecStart=")]
        program = start.split("=", 1)[1].split()[0]
        file = tmp_path / name
        file.write_text(text.replace(program, find_program()))
        return file

    return make


@pytest.mark.parametrize("name", UNITS)
def test_systemd_finds_nothing_wrong_with_it(unit, name):
    environment = {**os.environ, "MANPATH": str(BUILD / "share" / "man")}
    words = ["systemd-analyze", "verify", "--recursive-errors=no"]
    if not shutil.which("man") or not (BUILD / "share" / "man").exists():
        words.append("--man=no")
    done = subprocess.run([*words, unit(name)], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("bullring@.service", 1.5),
        ("bullring-address@.service", 2.1),
        ("bullring-run@.service", 6.0),
    ],
)
def test_it_is_exposed_to_little(unit, name, most):
    threshold = f"--threshold={round(most * 10)}"
    run("systemd-analyze", "security", "--no-pager", "--offline=true", threshold, unit(name))


def test_a_unit_that_is_exposed_is_found(unit, tmp_path):
    file = tmp_path / "open.service"
    file.write_text("[Service]\nExecStart=/bin/true\n")
    words = ["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=15", file]
    assert subprocess.run(words, capture_output=True).returncode != 0


@pytest.mark.parametrize("name", UNITS)
def test_what_the_manual_promises_of_it(name):
    settings = dict(unit_settings(name))
    assert settings["Type"] == "notify"
    assert settings["Restart"] == "always"
    assert settings["RestartSec"] == "100ms"
    assert settings["RestartPreventExitStatus"] == "2"
    assert settings["StateDirectory"] == "bullring/%i"
    # By the shell alone, which is always there.
    assert settings["ExecReload"] == "/bin/sh -c 'kill -HUP $MAINPID'"
    assert "--config /etc/bullring/%i.toml" in settings["ExecStart"]
    # A core dump would hold the sockets open.
    assert settings["WatchdogSignal"] == "SIGKILL"


@pytest.mark.parametrize("name", UNITS)
def test_who_outlives_a_process_that_is_killed_is_left_to_it(name):
    assert dict(unit_settings(name))["KillMode"] == "process"


def test_addresses_need_three_capabilities_and_no_more():
    settings = dict(unit_settings("bullring-address@.service"))
    needed = {"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_NICE"}
    assert set(settings["CapabilityBoundingSet"].split()) == needed
    assert set(settings["AmbientCapabilities"].split()) == needed
    assert settings["User"] == "bullring"
