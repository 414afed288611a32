"""The cases of the bench of the field, the same for every system, and how each is timed: each
function is one case.

All times are differences of CLOCK_BOOTTIME in the observer's process: the instant just before a
signal, and that at which a line was read.
"""

import os
import time

from bench.cases import Load
from bench.steady import cpu_ns, resident_kib
from peers.observer import FOLLOWS, GONE, LEADS, SERVES
from peers.system import MEMBERS, children


def first_start(system_class, setting, budget):
    """From the start of the last process to the first leader; all directories are empty."""
    samples = []
    while budget.more(len(samples)):
        with system_class(setting) as system:
            began_ns = _start(system)
            said = system.observer.wait(lambda: _first(system), "a first leader", system.longest_s)
            samples.append(said.at_ns - began_ns)
    return {"samples_ns": samples}


def _first(system):
    """The first claim; a client that lost its session while all was starting is started again."""
    system.revive()
    return next((said for said in system.observer.said if said.what == LEADS), None)


def _start(system):
    """Starts all; the instant just before the last of its processes."""
    started = []
    spawn = system.spawn

    def noting(*words, **options):
        started.append(time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        spawn(*words, **options)

    system.spawn = noting
    try:
        system.start()
    finally:
        system.spawn = spawn
    return started[-1]


def crash(system, budget):
    """kill -9 of what leads, until another one leads."""
    return _until_another_leads(system, budget, system.kill)


def handover(system, budget):
    """The leader is asked to go, until another one leads."""
    return _until_another_leads(system, budget, system.hand_over)


def _until_another_leads(system, budget, end):
    samples = []
    while budget.more(len(samples)):
        leader = system.settle()
        began_ns = end(leader)
        said = system.observer.wait_said(LEADS, began_ns, system.longest_s, but=leader)
        samples.append(said.at_ns - began_ns)
        system.await_exit(leader)
    return {"samples_ns": samples}


def service_crash(system, budget):
    """kill -9 of the service's own leader, until another server leads the service."""
    samples, lost = [], 0
    while budget.more(len(samples)):
        system.settle()
        before = len(system.observer.said)
        key = system.service_leader()
        killed_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        system.processes[key].kill()
        said = system.observer.wait_said(SERVES, killed_ns, system.longest_s, but=key)
        samples.append(said.at_ns - killed_ns)
        system.processes[key].wait()
        system.settle()
        ended = [said for said in system.observer.said[before:] if said.what in (FOLLOWS, GONE)]
        lost += bool(ended)
    return {"samples_ns": samples, "leaderships_interrupted": lost}


def hang(system, budget):
    """SIGSTOP of what leads, until another one leads; then SIGCONT, until only one does."""
    samples, both, claimed = [], [], 0
    while budget.more(len(samples)):
        leader = system.settle()
        hung_ns = system.hang(leader)
        said = system.observer.wait_said(LEADS, hung_ns, system.longest_s, but=leader)
        samples.append(said.at_ns - hung_ns)
        system.observer.poll()
        alive = system.claims(leader)
        resumed_ns = system.resume(leader)
        if alive:
            claimed += 1
            both.append(system.two_lead_until(leader, resumed_ns) - resumed_ns)
        system.observer.pause(0.05)
    return {"samples_ns": samples, "two_leaders": claimed, "two_leaders_ns": both}


def idle(system, seconds):
    """The cost of a member while nothing happens, and the changes of leader that nothing caused."""
    system.settle()
    groups = [system.member_processes(member) for member in MEMBERS]
    pids = [pid for group in groups for pid in group]
    resident_mib = sum(map(resident_kib, pids)) / len(MEMBERS) / 1024
    # A child is a part of the member; Bullring's, the keeper, shares its parent's memory.
    counted = sorted({*pids, *(child for pid in pids for child in children(pid))})
    before, began = cpu_ns(counted), time.monotonic()
    changes = _changes(system, seconds)
    took = time.monotonic() - began
    return {
        "seconds": seconds,
        "false_failovers": changes,
        "cpu_percent": (cpu_ns(counted) - before) / len(MEMBERS) / took / 1e7,
        "resident_mib": resident_mib,
        "load_average": os.getloadavg()[0],
    }


def loaded(system, seconds):
    """The changes of leader that nothing but two busy cores caused."""
    system.settle()
    load = Load()
    try:
        return {"seconds": seconds, "false_failovers": _changes(system, seconds)}
    finally:
        load.close()


def _changes(system, seconds):
    """How often one began to lead, or one ceased to, whichever was more often."""
    before = len(system.observer.said)
    system.observer.pause(seconds)
    return false_failovers(system.observer.said[before:])


def false_failovers(said):
    began = sum(one.what == LEADS for one in said)
    return max(began, sum(one.what in (FOLLOWS, GONE) for one in said))


class Budget:
    """So many rounds, or fewer when they take too long, but a few at least."""

    def __init__(self, rounds, seconds, least):
        self._rounds, self._least = rounds, least
        self._limit = time.monotonic() + seconds

    def more(self, done):
        return done < self._least or (done < self._rounds and time.monotonic() < self._limit)
