"""The cgroups of a run: the freezer, and a quota of a processor. Of version 1 or 2, whichever the
machine has.
"""

import os
import pathlib

ROOT = pathlib.Path("/sys/fs/cgroup")
PREFIX = "bullring-chaos-"
KINDS = ("freezer", "cpu")


class Version1:
    """A hierarchy for each controller."""

    @staticmethod
    def root(kind):
        return ROOT / kind

    @staticmethod
    def unavailable():
        missing = [kind for kind in KINDS if not (ROOT / kind / "cgroup.procs").exists()]
        return f"cgroup v1 has no controller {missing[0]} at {ROOT}" if missing else None

    @staticmethod
    def name_of(kind):
        """The name of its hierarchy in /proc/self/cgroup."""
        return kind

    @staticmethod
    def allow(own):
        """Nothing to do: a controller is there in each of its groups."""

    @staticmethod
    def freeze(group, frozen):
        (group / "freezer.state").write_text("FROZEN" if frozen else "THAWED")

    @staticmethod
    def is_frozen(group):
        return (group / "freezer.state").read_text().strip() == "FROZEN"

    @staticmethod
    def limit(group, quota_us, period_us):
        """`quota_us` None: no limit."""
        (group / "cpu.cfs_quota_us").write_text("-1")
        (group / "cpu.cfs_period_us").write_text(str(period_us))
        (group / "cpu.cfs_quota_us").write_text("-1" if quota_us is None else str(quota_us))


class Version2:
    """One hierarchy. Only here a frozen process can be killed."""

    @staticmethod
    def root(kind):
        return ROOT

    @staticmethod
    def unavailable():
        """To find out, the controller is turned on for the groups below the root."""
        try:
            controllers = (ROOT / "cgroup.controllers").read_text().split()
        except OSError:
            return f"no cgroups at {ROOT}"
        if "cpu" not in controllers:
            return f"cgroup v2 has no controller cpu at {ROOT}"
        try:
            (ROOT / "cgroup.subtree_control").write_text("+cpu")
        except OSError as error:
            return f"groups of cgroup v2 can't have the controller cpu: {error}"
        return None

    @staticmethod
    def name_of(kind):
        return ""

    @staticmethod
    def allow(own):
        (own / "cgroup.subtree_control").write_text("+cpu")

    @staticmethod
    def freeze(group, frozen):
        (group / "cgroup.freeze").write_text("1" if frozen else "0")

    @staticmethod
    def is_frozen(group):
        return "frozen 1" in (group / "cgroup.events").read_text().splitlines()

    @staticmethod
    def limit(group, quota_us, period_us):
        (group / "cpu.max").write_text(f"{'max' if quota_us is None else quota_us} {period_us}")


VERSION = Version2 if Version1.unavailable() else Version1


def unavailable():
    """Why there are none here, None if there are."""
    return VERSION.unavailable()


class Group:
    """One node's, for one purpose. A process may have ended before it is moved."""

    def __init__(self, path, home):
        self._path = path
        self._home = home

    def move(self, pid):
        self._write(self._path, pid)

    def let_go(self):
        """All go back to where the script is; their number."""
        pids = (self._path / "cgroup.procs").read_text().split()
        for pid in pids:
            self._write(self._home, pid)
        return len(pids)

    @staticmethod
    def _write(path, pid):
        try:
            (path / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:
            pass

    def freeze(self):
        VERSION.freeze(self._path, True)

    def thaw(self):
        """Whether it was frozen."""
        frozen = VERSION.is_frozen(self._path)
        VERSION.freeze(self._path, False)
        return frozen

    def limit(self, quota_us, period_us):
        VERSION.limit(self._path, quota_us, period_us)

    def throttled(self):
        """How often the limit was met."""
        lines = (self._path / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["nr_throttled"])


class Groups:
    """Those of one run."""

    def __init__(self, owner):
        self.name = f"{PREFIX}{owner}"
        self._homes = {kind: self._home(kind) for kind in KINDS}

    @staticmethod
    def _home(kind):
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if VERSION.name_of(kind) in names.split(","):
                return VERSION.root(kind) / path.strip("/")
        return VERSION.root(kind)

    def make(self, kind, name):
        own = VERSION.root(kind) / self.name
        path = own / f"{kind}-{name}"
        if not path.exists():
            own.mkdir(exist_ok=True)
            VERSION.allow(own)
            path.mkdir()
        return Group(path, self._homes[kind])

    def thaw(self):
        for path in (VERSION.root("freezer") / self.name).glob("freezer-*"):
            VERSION.freeze(path, False)

    def remove(self):
        self.thaw()
        for kind in KINDS:
            own = VERSION.root(kind) / self.name
            for path in [*own.glob(f"{kind}-*"), own]:
                try:
                    path.rmdir()
                except OSError:  # it is gone, or a process of a run that was killed has not ended
                    pass

    def exist(self):
        return any((VERSION.root(kind) / self.name).exists() for kind in KINDS)


def remove_what_was_left():
    """By runs that were killed."""
    for kind in KINDS:
        for path in VERSION.root(kind).glob(f"{PREFIX}*"):
            owner = path.name.removeprefix(PREFIX)
            if not os.path.exists(f"/proc/{owner}"):
                Groups(owner).remove()
