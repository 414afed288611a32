"""Faults of what a process needs from its host: a disk, descriptors, names."""

import resource

from chaos.fault import Fault, OnOneNode, kinds
from chaos.links import both_ways, ended_by
from chaos.switch import FAILING, SILENT


class OnDisk(OnOneNode):
    """A node writes now and then when it gives its word to a candidate, and when it ends. So it is
    told to end, or the leader is cut off for a while; the victim is another one."""

    claims = ("disk",)

    def suits(self, node):
        return node.running and not node.leads

    def strike(self):
        self.page = self.stage.pages[self.node.id]
        self.before = self.count()
        self.fill()
        leader = self.stage.leader_id()
        self.rule = None
        if self.drawn.chances[0] < 0.6:
            self.node.terminate()
        elif leader is not None and leader != self.node.id:
            links = [(leader, other) for other in self.stage.network.ids if other != leader]
            self.rule = self.stage.network.add("cut", both_ways(links))
        return True

    def undo(self):
        if self.rule is not None:
            self.stage.network.remove(self.rule)
        self.free()
        return self.count() > self.before


@kinds("disk-error")
class DiskError(OnDisk):
    """fsync says EIO."""

    def count(self):
        return self.page.disk_errors

    def fill(self):
        self.page.fail_disk(True)

    def free(self):
        self.page.fail_disk(False)


@kinds("disk-full")
class DiskFull(OnDisk):
    """The file system of the data directory is full."""

    def count(self):
        return self.page.full

    def fill(self):
        self.filler = self.node.data_dir / "filler"
        with open(self.filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def free(self):
        self.filler.unlink()


@kinds("no-descriptor")
class NoDescriptor(OnOneNode):
    """Not one more descriptor, and new ones needed, for the connections end."""

    claims = ("descriptors",)

    def strike(self):
        self.page = self.stage.pages[self.node.id]
        self.process = self.node.current.process
        self.before = self.page.no_descriptor
        try:
            self.limits = resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE)
            self.limit(1)
        except ProcessLookupError:
            return False
        self.resetting = self.stage.network.reset(self.node.id)
        return True

    def limit(self, soft):
        resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (soft, self.limits[1]))

    def undo(self):
        ended_by(self.resetting)
        if self.process.poll() is None:
            self.limit(self.limits[0])
        return self.page.no_descriptor > self.before


@kinds("names-silent", "names-failing")
class Names(Fault):
    """The name server answers nothing, or that it can't; and a node has to ask it."""

    def begin(self):
        if not self.stage.claim_once("names"):
            return False
        self.stage.network.names(SILENT if self.kind == "names-silent" else FAILING)
        self.resetting = self.stage.network.reset(self.stage.victim(self.drawn).id)
        return True

    def end(self):
        ended_by(self.resetting)
        self.stage.release_once("names")
        return self.stage.network.names(None) > 0
