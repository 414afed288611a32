"""One cluster and all around it that faults can reach. Owns: who is struck, what is taken already,
and that nodes which have ended are started again.
"""

import os
import pathlib
import select
import subprocess
import time

from harness import system_calls
from harness.cluster import Cluster
from harness.netns import PORT
from harness.node import die_with_parent
from harness.task import Journal
from chaos.clients import Crew
from chaos.course import ATTACHED, OUTSIDE, RUN
from chaos.members import Roll
from chaos.shim import BOOTTIME, RAW, Page
from chaos.trust import Trust

KILL_AFTER_MS = 100
FORGET_AFTER_S = 2
AGAIN_S = 0.2  # after the end of a node that nobody struck


class Stage:
    """Made anew for each round. `after` is called with (ms, function): the round's own clock."""

    def __init__(self, world, a_round, after):
        self.world = world
        self.network = world.network
        self.groups = world.groups
        self.what = a_round.what
        self.number = a_round.number
        self.after = after
        self.taken = set()
        self.ended_at = {}
        self.fifos = []
        self.questions = 0
        options = world.options
        hosts = {i: (address, PORT) for i, address in self.network.addresses.items()}
        self.cluster = Cluster(
            algorithm=options.algorithm,
            profile=options.profile,
            ids=self.network.ids,
            hosts=hosts,
            program=options.program,
            label=f"chaos-{self.number}-{self.what}",
        )
        self.directory = self.cluster.directory
        self.founders = self.network.ids[: options.nodes]
        self.roll = Roll(self.founders)
        self.removed = set()  # by the answer to an operator
        self.cluster.on_event = self.roll.note
        self.trust = Trust(options.security, self.directory, self.cluster.name)
        self.journal = Journal(self.directory)
        self.habit = pathlib.Path(self.directory) / "habit"
        self.habit.write_text("")
        self.crew = Crew(self) if self.what == ATTACHED else None
        self.pages = {}
        for node in self.cluster:
            self._equip(node)
        self.down = {node.id for node in self.cluster if node.id not in self.founders}

    def _equip(self, node):
        node.prefix = self.network.prefix(node.id)
        node.peers = self.network.peers(self.founders)
        node.flags = ["--listen", node.address, "--forget-after", f"{FORGET_AFTER_S}s"]
        self.pages[node.id] = Page(f"{node.data_dir}.page")
        node.environment = self.pages[node.id].environment(self.world.shim)
        self.trust.equip(node)
        # The keeper reads the true time, and so it is of no use here.
        node.flags += ["--hang-after", "off"] if self.what == OUTSIDE else []
        node.data_dir.mkdir()
        system_calls.mount("tmpfs", node.data_dir, "tmpfs", 0, "size=256k,mode=0700")
        if self.what == RUN:
            node.task = self.journal.command(f"from={self.habit}", "deaf")
            node.flags += ["--kill-after", f"{KILL_AFTER_MS}ms", "--restart-delay", "20ms"]

    def start_founders(self):
        for node_id in self.founders:
            self.start(self.cluster[node_id])

    def start(self, node):
        # Its standard output is a pipe that nobody reads.
        pipe = f"{node.data_dir}.{len(node.incarnations)}.out"
        os.mkfifo(pipe)
        self.fifos.append(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
        node.start()

    # Whom a fault strikes.

    def _by_rank(self, rank):
        return self.cluster[self.network.ids[rank]]

    def shuffled(self, drawn):
        """The IDs of all that have been started."""
        ids = [self.network.ids[rank] for rank in drawn.order]
        return [node_id for node_id in ids if self.cluster[node_id].incarnations]

    def leader_id(self):
        return next((node.id for node in self.cluster if node.leads), None)

    def victim(self, drawn):
        if drawn.victim == "leader" and (leader := self.leader_id()) is not None:
            return self.cluster[leader]
        return self.cluster[self.shuffled(drawn)[0]]

    def free_victim(self, drawn, claims, suits):
        """The victim, or the next in the drawn order that fits and is not struck like that now."""
        for node in [self.victim(drawn), *map(self._by_rank, drawn.order)]:
            taken = {(node.id, claim) for claim in claims}
            if not taken & self.taken and suits(node):
                self.taken |= taken
                return node
        return None

    def release(self, node, claims):
        self.taken -= {(node.id, claim) for claim in claims}

    def claim_once(self, claim):
        if claim in self.taken:
            return False
        self.taken.add(claim)
        return True

    def release_once(self, claim):
        self.taken.discard(claim)

    def good_clock(self, node):
        """Which of its clocks keeps the bound in this round."""
        return BOOTTIME if (self.number + node.id) % 2 else RAW

    # Members.

    def to_join(self, node, with_a_vote):
        """From its next start on it asks to be a member."""
        node.join = [other.address for other in self.cluster if other is not node]
        node.flags = [flag for flag in node.flags if flag != "--voter"]
        node.flags += ["--voter"] if with_a_vote else []

    def ask_for_change(self, *words, timeout_s):
        """A process of `bullring member`, on the leader's machine if there is one."""
        self.questions += 1
        place = self.leader_id() or self.founders[self.questions % len(self.founders)]
        flags, environment = self.trust.administrator(self.cluster[place])
        peers = self.network.peers(self.network.ids)
        with open(self.directory / f"member-{self.questions}.log", "wb") as log:
            return subprocess.Popen(
                [
                    *[*self.network.prefix(place), self.cluster.program, "member", *words],
                    *["--peers", peers, "--cluster", self.cluster.name, *flags],
                    *["--timeout", f"{timeout_s}s"],
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.cluster.environment | environment,
                preexec_fn=die_with_parent,
            )

    # Nodes that end and come back.

    def keep_down(self, node):
        self.down.add(node.id)

    def let_up_all(self):
        """All but those that were never to run."""
        self.down = {node.id for node in self.cluster if not node.incarnations}

    def let_up(self, node):
        self.down.discard(node.id)
        self.ended_at.setdefault(node.id, 0.0)

    def mend(self):
        """Starts what has ended, whoever ended it."""
        now = time.monotonic()
        for node in self.cluster:
            if node.running or node.id in self.down:
                continue
            if now >= self.ended_at.setdefault(node.id, now) + AGAIN_S:
                del self.ended_at[node.id]
                self.start(node)
        if self.crew:
            self.crew.mend()

    @staticmethod
    def has_ended(pidfd):
        return bool(select.select([pidfd], [], [], 0)[0])

    # The end.

    def true_streams(self):
        """Copies of all event streams, in true time."""
        found = []
        for node, run in self.cluster.incarnations():
            path = pathlib.Path(run.stream.path)
            if path.exists():
                found.append(path.with_suffix(".true"))
                self.pages[node.id].true_stream(path, found[-1])
        return found

    def close(self, keep_files):
        self.network.heal()
        if self.crew:
            self.crew.close()
        self.cluster.close(keep_files=True)
        for fifo in self.fifos:
            os.close(fifo)
        for node in self.cluster:
            system_calls.unmount(node.data_dir)
        if not keep_files:
            self.cluster.close(keep_files=False)
