"""What runs below `bullring run`: its guard, the guard's shield, the command; and a command that
takes a lock, so that two of it at one time are found out.
"""

import fcntl
import os
import pathlib
import signal

LOCKED_COMMAND = str(pathlib.Path(__file__).with_name("locked_command.py"))


def _stat(pid):
    """(name, state, parent) of a process, None when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name, rest = text[text.index("(") + 1 :].rsplit(")", 1)
    state, parent = rest.split()[:2]
    return name, state, int(parent)


def alive(pid):
    found = _stat(pid)
    return found is not None and found[1] not in "ZX"


def stopped(pid):
    """By a signal, as SIGSTOP does."""
    found = _stat(pid)
    return found is not None and found[1] == "T"


def children(pid):
    """The living children of a process, by pid, with their names."""
    found = {}
    for entry in os.listdir("/proc"):
        stat = _stat(entry) if entry.isdigit() else None
        if stat is not None and stat[2] == pid and stat[1] not in "ZX":
            found[int(entry)] = stat[0]
    return found


def child_named(pid, name):
    return next((child for child, named in children(pid).items() if named == name), None)


class Family:
    """The processes of one node that runs a command, as they are now; None for those not there."""

    def __init__(self, node):
        self.node = node.current.process.pid
        self.guard = child_named(self.node, "run-guard")
        self.shield = child_named(self.guard, "run-shield") if self.guard else None
        below = children(self.shield) if self.shield else {}
        self.command = next(iter(below), None)

    @property
    def complete(self):
        return self.command is not None


def signal_all(pids, number=signal.SIGKILL):
    """One right after the other: as near to one instant as a process can get. A guard, which is
    scheduled before this process, goes first where it is not to see the others die."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Journal:
    """What the commands of all nodes have written: lines of words, in the order of writing."""

    def __init__(self, directory):
        self.path = pathlib.Path(directory) / "journal"
        self.lock = pathlib.Path(directory) / "lock"
        self.path.touch()

    def command(self, *words):
        """The words of a locked command that writes here."""
        return ["python3", "-S", "-E", LOCKED_COMMAND, str(self.path), str(self.lock), *words]

    def lines(self, *kinds):
        found = [line.split() for line in self.path.read_text().splitlines()]
        return [line for line in found if not kinds or line[0] in kinds]

    def begun(self):
        """(node, epoch, process) of each command that has got the lock."""
        return [tuple(map(int, line[1:4])) for line in self.lines("begin")]

    def locked(self):
        """Whether a command, or what it has left behind, holds the lock."""
        with open(self.lock, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def problems(self, several_an_epoch=False):
        """Empty when no two commands were there at one time, and epochs rose."""
        found = [" ".join(line) for line in self.lines("OVERLAP")]
        epochs = [epoch for _, epoch, _ in self.begun()]
        found += [
            f"epoch {later} after {earlier}"
            for earlier, later in zip(epochs, epochs[1:])
            if later < earlier or (later == earlier and not several_an_epoch)
        ]
        return found
