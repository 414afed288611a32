"""A cell that nothing gets out of: namespaces for mounts, networks and processes, and cgroups as
well.

Three processes: the one outside waits, passes signals on and removes the cgroups; the first one
inside is the init of its namespace, and with its end the kernel kills all that is left in there;
its child is the script. If the outer one is killed, so is the init. Only what is frozen at that
moment stays, until the next run thaws it.
"""

import os
import signal
import sys
import traceback

from harness import system_calls
from harness.node import die_with_parent
from chaos.groups import Groups, remove_what_was_left

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

passed_on = []


def was_ended():
    """Whether somebody has asked for the end of what ran last."""
    return bool(passed_on)


def _wait_for(child):
    """Its exit status. Signals for this process are passed on to it; orphans are collected."""

    def pass_on(number, frame):
        passed_on.append(number)
        os.kill(child, number)

    for number in PASSED_ON:
        signal.signal(number, pass_on)
    while True:
        ended, status = os.wait()
        if ended == child:
            for number in PASSED_ON:
                signal.signal(number, signal.SIG_DFL)
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _fork():
    """As os.fork; a signal that comes before it can be passed on is not lost."""
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    return os.fork()


def _be_parent(child):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    return _wait_for(child)


def in_a_child(work):
    """The exit status of a process that calls work(): one process makes one cell only."""
    child = _fork()
    if child != 0:
        return _be_parent(child)
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    _end_with(work)


def _end_with(work):
    """Ends the process with what work() returns."""
    status = 1
    try:
        status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def run(work):
    """Calls work(groups) inside, and returns its exit status outside."""
    remove_what_was_left()
    groups = Groups(os.getpid())
    system_calls.unshare(
        system_calls.CLONE_NEWNS | system_calls.CLONE_NEWNET | system_calls.CLONE_NEWPID
    )
    init = _fork()
    if init != 0:
        try:
            return _be_parent(init)
        finally:
            groups.remove()
    die_with_parent()
    system_calls.mount("none", "/", None, system_calls.MS_REC | system_calls.MS_PRIVATE)
    system_calls.mount("proc", "/proc", "proc")
    system_calls.mount("tmpfs", "/run", "tmpfs")
    script = _fork()
    if script != 0:
        status = _be_parent(script)
        groups.thaw()
        os._exit(status)
    die_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    _end_with(lambda: work(groups))
