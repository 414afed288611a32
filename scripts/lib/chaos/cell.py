"""A cell that nothing gets out of: namespaces for mounts, networks and processes, and cgroups as
well.

Three processes: the one outside waits, passes signals on and removes the cgroups; the first one
inside is the init of its namespace, and with its end the kernel kills all that is left in there;
its child is the script. If the outer one is killed, so is the init. Only what is frozen at that
moment stays, until the next run thaws it.
"""

import os
import pathlib
import signal
import sys
import traceback

from harness import system_calls
from harness.node import die_with_parent

CONTROLLERS = {name: pathlib.Path("/sys/fs/cgroup") / name for name in ("freezer", "cpu")}
PREFIX = "bullring-chaos-"
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Groups:
    """The cgroups of one run."""

    def __init__(self, owner):
        self.name = f"{PREFIX}{owner}"
        own = dict(
            line.split(":", 2)[1:]
            for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
        )
        self._home = {name: own.get(name, "/").strip("/") for name in CONTROLLERS}

    def make(self, controller, name):
        path = CONTROLLERS[controller] / self.name / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def leave(self, controller, pid):
        """Back to where the script is."""
        home = CONTROLLERS[controller] / self._home[controller]
        (home / "cgroup.procs").write_text(str(pid))

    def thaw(self):
        for state in (CONTROLLERS["freezer"] / self.name).glob("*/freezer.state"):
            state.write_text("THAWED")

    def remove(self):
        self.thaw()
        for root in CONTROLLERS.values():
            for path in [*(root / self.name).glob("*"), root / self.name]:
                if path.is_dir():
                    try:
                        path.rmdir()
                    except OSError:  # a process of a run that was killed has not ended yet
                        pass


def remove_what_was_left():
    """By runs that were killed."""
    for root in CONTROLLERS.values():
        for path in root.glob(f"{PREFIX}*"):
            owner = path.name.removeprefix(PREFIX)
            if not os.path.exists(f"/proc/{owner}"):
                Groups(owner).remove()


def unavailable():
    """Why there can be no cell here, None if there can."""
    for name, root in CONTROLLERS.items():
        if not (root / "cgroup.procs").exists():
            return f"cgroup v1 has no controller {name} at {root}"
    return None


def _wait_for(child):
    """Its exit status. Signals for this process are passed on to it; orphans are collected."""
    for number in PASSED_ON:
        signal.signal(number, lambda got, frame: os.kill(child, got))
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _fork():
    """As os.fork; a signal that comes before it can be passed on is not lost."""
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    return os.fork()


def _be_parent(child):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    return _wait_for(child)


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
    status = 1
    try:
        status = work(groups)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)
