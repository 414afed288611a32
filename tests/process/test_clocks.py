"""A clock that runs slow costs no safety (protocol/README.md, R8): CLOCK_BOOTTIME, on which timers
run, is slewed slow by a twelfth, as chrony may, and the lease ends by CLOCK_MONOTONIC_RAW. Whatever of
a command's processes stands still, the command is dead before that end.
"""

import os
import select
import signal
import struct
import subprocess
import time
import unittest

from process_case import ProcessCase, find_program

from bullring_task import Family, Journal, child_named, signal_all

RAW_FASTER_PPM = 90_909  # BOOTTIME is slower by 83,333 millionths, chrony's greatest slew
PAGE_DESCRIPTOR = 4  # of a guard
KILL_AFTER = "3s"


def raw_clock_ns():
    """CLOCK_MONOTONIC_RAW as the processes under test read it."""
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    return now + now * RAW_FASTER_PPM // 1_000_000


class LeasePage:
    """The page in which a guard reads until when its command may run."""

    def __init__(self, guard):
        self._file = os.open(f"/proc/{guard}/fd/{PAGE_DESCRIPTOR}", os.O_RDONLY)

    def end_by_raw_ns(self):
        _changes, _epoch, _boottime_ns, raw_ns = struct.unpack("=QQqq", os.pread(self._file, 32, 0))
        return raw_ns

    def close(self):
        os.close(self._file)


class Clocks(ProcessCase):
    def cluster_of(self, command_of_node):
        cluster = self.cluster(3, judged=False)
        cluster.environment |= {
            "LD_PRELOAD": os.environ["BULLRING_FAST_RAW_CLOCK"],
            "RAW_CLOCK_PPM": str(RAW_FASTER_PPM),
        }
        self.journal = Journal(cluster.directory)
        if command_of_node:
            for node in cluster:
                node.flags = ["--kill-after", KILL_AFTER]
                node.task = self.journal.command("ignore")
            # All timers are armed now, for as far ahead as they ever are.
            begun = cluster.start().wait_for(self.journal.begun, "the command has begun")
            return cluster, cluster[begun[0][0]]
        for node in cluster:
            node.flags = ["--lease", KILL_AFTER]
        return cluster, cluster.start().wait_settled()

    def ends_in_time(self, family, attack):
        """The command is dead before its lease is, by the faster of the two clocks."""
        page = LeasePage(family.guard)
        self.addCleanup(page.close)
        command = os.pidfd_open(family.command)
        self.addCleanup(os.close, command)
        attack()
        ready, _, _ = select.select([command], [], [], 30)
        died_ns = raw_clock_ns()
        self.assertTrue(ready, "the command still runs")
        self.assertLess(died_ns - page.end_by_raw_ns(), 0, "ns after the end of the lease")

    def stops(self, *pids):
        signal_all(pids, signal.SIGSTOP)
        self.addCleanup(signal_all, pids, signal.SIGCONT)

    def test_the_guard_ends_the_command_of_a_node_that_stands_still(self):
        _, leader = self.cluster_of(command_of_node=True)
        family = Family(leader)
        self.ends_in_time(family, lambda: self.stops(family.node))

    def test_the_shield_ends_the_command_when_node_and_guard_stand_still(self):
        _, leader = self.cluster_of(command_of_node=True)
        family = Family(leader)
        self.ends_in_time(family, lambda: self.stops(family.guard, family.node))

    def test_the_node_ends_the_command_when_guard_and_shield_stand_still(self):
        cluster, leader = self.cluster_of(command_of_node=True)
        family = Family(leader)

        def attack():
            self.stops(family.guard, family.shield)
            for node in cluster:
                if node is not leader:
                    node.kill()

        self.ends_in_time(family, attack)

    def test_a_command_of_lead_ends_when_its_node_stands_still(self):
        for also in ((), ("lead",), ("lead", "guard")):
            with self.subTest(also=also):
                self.command_of_lead(also)

    def command_of_lead(self, also):
        cluster, leader = self.cluster_of(command_of_node=False)
        lead = subprocess.Popen(
            [find_program(), "lead", "--data-dir", str(leader.data_dir), "--kill-after", "100ms",
             "--", *self.journal.command("ignore")],
            env=cluster.environment, start_new_session=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(lead.wait)
        self.addCleanup(lead.kill)
        cluster.wait_for(self.journal.begun, "the command has begun")
        family = Family(leader)
        family.guard = child_named(lead.pid, "run-guard")
        family.command = self.journal.begun()[-1][2]
        stopped = {"lead": lead.pid, "guard": family.guard}
        self.ends_in_time(
            family, lambda: self.stops(*(stopped[name] for name in also), family.node)
        )


if __name__ == "__main__":
    unittest.main()
