"""The processes below `bullring run`: its guard, the guard's shield, the command; and a command
that takes a lock, so that two of it at one time are found out.
"""

import fcntl
import os
import pathlib
import re
import signal

from harness.safety import SafetyViolation

LOCKED_COMMAND = str(pathlib.Path(__file__).with_name("programs") / "locked_command.py")


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


def times_slept(pid):
    """How often it has begun to wait: more than before when it has done what woke it."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("voluntary_ctxt_switches:")[1].split()[0])


def children(pid):
    """The living children of a process, by pid, with their names."""
    found = {}
    for entry in os.listdir("/proc"):
        stat = _stat(entry) if entry.isdigit() else None
        if stat is not None and stat[2] == pid and stat[1] not in "ZX":
            found[int(entry)] = stat[0]
    return found


def only_child(pid):
    """Of a process that has one at most."""
    found = list(children(pid))
    assert len(found) < 2, f"process {pid} has several children: {found}"
    return found[0] if found else None


def child_named(pid, name):
    return next((child for child, named in children(pid).items() if named == name), None)


_COMMAND = re.compile(r"(?:runs as|is there, held by) process (\d+), epoch")


def named_command(node):
    """The process that a node's log says its command, or the holder of its address, to be."""
    named = _COMMAND.findall(node.current.log())
    return int(named[-1]) if named else None


class Family:
    """The processes of one node that runs a command, as they are now; None for those not there.

    What the command has left behind is the shield's child, too, and process ids tell nothing of
    order: they begin anew at the end of their range.
    """

    def __init__(self, node):
        self.node = node.current.process.pid
        self.guard = child_named(self.node, "bullring-guard")
        self.shield = child_named(self.guard, "bullring-shield") if self.guard else None
        below = children(self.shield) if self.shield else {}
        named = named_command(node)
        self.command = named if named in below else None

    @property
    def complete(self):
        return self.command is not None


def wait_family(node):
    """The processes of a node, once its command is there and its log names it."""

    def complete():
        family = Family(node)
        return family if family.complete else None

    return node.cluster.wait_for(complete, f"the command of node {node.id}")


def signal_all(pids, number=signal.SIGKILL):
    """One right after the other: as near to one instant as a process can get. A guard, which is
    scheduled before this process, goes first where it is not to see the others die."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Journal:
    """The lines of the commands of all nodes, as words, in the order of writing."""

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

    def judge(self, several_an_epoch=False):
        """No two commands were there at one time, and epochs rose."""
        found = [" ".join(line) for line in self.lines("OVERLAP")]
        epochs = [epoch for _, epoch, _ in self.begun()]
        found += [
            f"epoch {later} after {earlier}"
            for earlier, later in zip(epochs, epochs[1:])
            if later < earlier or (later == earlier and not several_an_epoch)
        ]
        if found:
            raise SafetyViolation("\n".join([*found, "the journal:", self.path.read_text()]))
