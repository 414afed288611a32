"""The course of a run: its faults and their times, drawn from a seed, and from nothing else.

A course does not know what the cluster will do. It names its victim by a rank, which the stage
looks up when the time has come: `leader`, or the number of a node. So the same seed draws the same
course, and what comes of it depends on real time.
"""

import dataclasses
import itertools
import random
import typing

NODE, RUN, ATTACHED, OUTSIDE = "node", "run", "attached", "outside"
# So many more than the cluster is founded with are there to join it.
SPARES = 2


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of fault: in which rounds it can happen, how often in a deck, and how long (ms)."""

    name: str
    shortest: int
    longest: int
    often: int = 2
    rounds: tuple = (NODE, RUN, ATTACHED)
    security: tuple = ("none", "key", "tls")


KINDS = [
    Kind("partition-full", 100, 900),
    Kind("partition-partial", 100, 1500),
    Kind("partition-one-way", 100, 1200),
    Kind("partition-flapping", 300, 1500),
    Kind("loss", 300, 1500),
    Kind("delay", 300, 1500),
    Kind("duplicate", 300, 1500),
    Kind("reorder", 300, 1500),
    Kind("reset", 50, 50, often=3),
    Kind("half-open", 100, 500),
    Kind("kill", 50, 600, often=3),
    Kind("terminate", 300, 700, often=1),
    Kind("stop", 20, 700, often=3),
    Kind("freeze", 20, 700),
    Kind("quota", 300, 1500),
    Kind("clock-inside", 300, 1800),
    Kind("clock-outside", 500, 3000, often=12, rounds=(OUTSIDE,)),
    Kind("disk-error", 900, 1500),
    Kind("disk-full", 900, 1500),
    Kind("no-descriptor", 200, 800),
    Kind("names-silent", 400, 1200, often=1),
    Kind("names-failing", 400, 1200, often=1),
    Kind("member-joins", 800, 2500),
    Kind("member-leaves", 800, 2500),
    Kind("member-votes", 800, 2500),
    Kind("key-rotation", 1500, 2500, often=1, security=("key",)),
    Kind("certificate-rotation", 800, 1500, often=1, security=("tls",)),
    Kind("command-ignores", 1000, 1500, often=1, rounds=(RUN,)),
    Kind("command-forks", 1000, 1500, often=1, rounds=(RUN,)),
    Kind("command-forks-away", 1000, 1500, often=1, rounds=(RUN,)),
    Kind("command-exits", 1000, 1500, often=1, rounds=(RUN,)),
    Kind("command-closes", 1000, 1500, often=1, rounds=(RUN,)),
    Kind("command-fills", 1000, 1500, often=1, rounds=(RUN,)),
    Kind("client-kill", 100, 500, often=3, rounds=(ATTACHED,)),
    Kind("client-stop", 100, 1500, often=3, rounds=(ATTACHED,)),
    Kind("client-fork", 300, 1500, rounds=(ATTACHED,)),
    Kind("socket-removed", 1200, 2200, rounds=(ATTACHED,)),
    Kind("node-kill-under-client", 50, 1000, often=3, rounds=(ATTACHED,)),
]
# The faults that a round outside the bound of the clocks also has, so that there are elections in
# it.
BESIDE_OUTSIDE = (
    "partition-full",
    "partition-partial",
    "partition-one-way",
    "partition-flapping",
    "kill",
    "stop",
)


@dataclasses.dataclass(frozen=True)
class Drawn:
    """One fault of a course."""

    number: int
    at_ms: int
    kind: str
    ms: int
    victim: typing.Union[str, int]  # "leader", or the rank of a node
    order: tuple  # all ranks, shuffled
    chances: tuple  # five numbers below 1

    def __str__(self):
        return f"#{self.number} at {self.at_ms} ms: {self.kind} for {self.ms} ms, {self.victim}"


@dataclasses.dataclass(frozen=True)
class Round:
    number: int
    what: str
    ms: int
    faults: tuple


def what_is(number):
    return WHAT[number % len(WHAT)]


def kinds_of(what, security):
    """The kinds that happen in a round of that sort."""
    return [
        kind
        for kind in KINDS
        if security in kind.security
        and (what in kind.rounds or (what == OUTSIDE and kind.name in BESIDE_OUTSIDE))
    ]


# Every third round is short, and its clocks are outside of what the protocol promises.
WHAT = (NODE, RUN, OUTSIDE, RUN, ATTACHED, OUTSIDE, NODE, ATTACHED, OUTSIDE)


class Course:
    """Rounds without end, each with a cluster of its own."""

    def __init__(self, seed, nodes, security, rate, round_ms, only=()):
        self.seed = seed
        self.nodes = nodes
        self.security = security
        self.rate = rate
        self.round_ms = round_ms
        self.only = only

    def kinds_in(self, what):
        found = kinds_of(what, self.security)
        return [kind for kind in found if not self.only or kind.name in self.only]

    def kinds(self):
        """All that may happen in some round."""
        names = {kind.name for what in set(WHAT) for kind in self.kinds_in(what)}
        return [kind.name for kind in KINDS if kind.name in names]

    def rounds(self):
        """All but those in which nothing can happen."""
        for number in itertools.count():
            if self.kinds_in(what_is(number)):
                yield self.round(number)

    def round(self, number):
        """Every round is drawn by itself."""
        what = what_is(number)
        ms = self.round_ms // 2 if what == OUTSIDE else self.round_ms
        draw = random.Random(f"{self.seed} {number}")
        return Round(number, what, ms, tuple(self._faults(draw, what, ms)))

    def _faults(self, draw, what, ms):
        """From decks that have every kind, so that none is missing for long."""
        deck = []
        at, number = 0.0, 0
        while True:
            at += draw.expovariate(self.rate) * 1000
            if at >= ms:
                return
            if not deck:
                deck = [kind for kind in self.kinds_in(what) for _ in range(kind.often)]
                if not deck:
                    return
                draw.shuffle(deck)
            kind = deck.pop()
            order = list(range(self.nodes + SPARES))
            draw.shuffle(order)
            leader = draw.random() < 0.4
            yield Drawn(
                number,
                int(at),
                kind.name,
                draw.randint(kind.shortest, kind.longest),
                "leader" if leader else order[0],
                tuple(order),
                tuple(draw.random() for _ in range(5)),
            )
            number += 1
