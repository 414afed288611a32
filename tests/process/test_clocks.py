"""A clock that runs slow costs no safety (R8 of the protocol): CLOCK_BOOTTIME, on which timers
run, is slewed slow by a twelfth, as chrony may, and the lease ends by CLOCK_MONOTONIC_RAW. Whatever
of a command's processes stands still, the command is dead before that end.
"""

import os
import select
import signal
import struct
import subprocess
import time

import pytest
from harness.http import ask
from harness.node import find_program
from harness.task import Family, child_named, signal_all, wait_family
from chaos.shim import RAW, Page, build
from harness.waiting import DEADLINE

RAW_FASTER_PPM = 90_909  # BOOTTIME is slower by 83,333 millionths, chrony's greatest slew
PAGE_DESCRIPTOR = 4  # of a guard


class LeasePage:
    """The page in which a guard reads until when its command may run."""

    def __init__(self, guard):
        self._file = os.open(f"/proc/{guard}/fd/{PAGE_DESCRIPTOR}", os.O_RDONLY)

    def end_by_raw_ns(self):
        _changes, _epoch, _boottime_ns, raw_ns = struct.unpack("=QQqq", os.pread(self._file, 32, 0))
        return raw_ns

    def close(self):
        os.close(self._file)


def assert_ends_in_time(clocks, family, attack):
    """The command is dead before its lease is over, by the faster of the two clocks."""
    page = LeasePage(family.guard)
    command = os.pidfd_open(family.command)
    try:
        attack()
        ready, _, _ = select.select([command], [], [], DEADLINE)
        died_ns = clocks.lines[RAW].shown(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW))
        assert ready, "the command still runs"
        late_ms = (died_ns - page.end_by_raw_ns()) / 1e6
        print(f"the command died {-late_ms:.1f} ms before the end of its lease")
        assert late_ms < 0
    finally:
        os.close(command)
        page.close()


@pytest.fixture
def stand_still():
    """Stops processes for the rest of the test."""
    stopped = []

    def stop(*pids):
        stopped.extend(pids)
        signal_all(pids, signal.SIGSTOP)

    yield stop
    signal_all(stopped, signal.SIGCONT)


@pytest.fixture
def clocks(tmp_path):
    """The clocks that the processes under test read."""
    page = Page(tmp_path / "clocks")
    page.rate(RAW, RAW_FASTER_PPM)
    return page


@pytest.fixture
def slewed(new_cluster, clocks, tmp_path):
    """A cluster in whose processes BOOTTIME runs slower than RAW."""
    cluster = new_cluster(3)
    cluster.environment |= clocks.environment(build(tmp_path))
    return cluster


@pytest.fixture
def leader(slewed, journal):
    """The leader, whose command has begun just now: its timers are armed as far ahead as ever."""
    for node in slewed:
        node.flags = ["--kill-after", "3s", "--hang-after", "off"]
        node.task = journal.command("ignore")
    begun = slewed.start().wait_for(journal.begun, "the command has begun")
    return slewed[begun[0][0]]


def test_a_rate_beyond_what_leases_allow_for_is_measured(clocks, slewed, ports):
    for node in slewed:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
    slewed.start().wait_settled()

    def measured():
        lines = ask(slewed[1].http, "/metrics").body.splitlines()
        name = "bullring_clock_correction_ratio "
        return [float(line.split()[1]) for line in lines if line.startswith(name)]

    slewed.wait_for(measured, "it has measured")
    assert measured() == [pytest.approx(-RAW_FASTER_PPM / (1e6 + RAW_FASTER_PPM), rel=0.01)]


def test_the_guard_ends_the_command_of_a_node_that_stands_still(clocks, leader, stand_still):
    family = wait_family(leader)
    assert_ends_in_time(clocks, family, lambda: stand_still(family.node))


def test_the_shield_ends_the_command_when_node_and_guard_stand_still(clocks, leader, stand_still):
    family = wait_family(leader)
    assert_ends_in_time(clocks, family, lambda: stand_still(family.guard, family.node))


def test_the_node_ends_the_command_when_guard_and_shield_stand_still(
    clocks, slewed, leader, stand_still
):
    family = wait_family(leader)

    def attack():
        stand_still(family.guard, family.shield)
        for node in slewed:
            if node is not leader:
                node.kill()

    assert_ends_in_time(clocks, family, attack)


@pytest.mark.parametrize("stopped", [(), ("lead",), ("lead", "guard")])
def test_a_command_of_lead_ends_when_its_node_stands_still(
    stopped, clocks, slewed, journal, spawn, stand_still
):
    for node in slewed:
        node.flags = ["--lease", "3s", "--hang-after", "off"]
    node = slewed.start().wait_settled()
    lead = spawn(
        [find_program(), "lead", "--data-dir", str(node.data_dir), "--kill-after", "100ms", "--"]
        + journal.command("ignore"),
        env=slewed.environment,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    slewed.wait_for(journal.begun, "the command has begun")
    family = Family(node)
    family.guard = child_named(lead.pid, "bullring-guard")
    family.command = journal.begun()[-1][2]
    pids = {"lead": lead.pid, "guard": family.guard}
    assert_ends_in_time(
        clocks, family, lambda: stand_still(*(pids[name] for name in stopped), family.node)
    )
