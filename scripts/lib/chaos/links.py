"""Faults of the network: what the switch does to frames, and connections that end."""

from chaos.fault import Fault, kinds


class Ruled(Fault):
    """A rule of the switch; it has struck when a frame met it."""

    numbers = {}
    rule_kind = "cut"

    def begin(self):
        pairs = self.pairs()
        if not pairs:
            return False
        self.whom = " ".join(f"{one}>{other}" for one, other in sorted(pairs))
        self.rule = self.stage.network.add(self.rule_kind, pairs, **self.words())
        return True

    def end(self):
        return self.stage.network.remove(self.rule) > 0

    def words(self):
        return {}

    def pairs(self):
        raise NotImplementedError

    def ranked(self):
        """The nodes' IDs in the drawn order, the victim first."""
        first = self.stage.victim(self.drawn).id
        return [first] + [i for i in self.stage.shuffled(self.drawn) if i != first]


def both_ways(links):
    return {pair for one, other in links for pair in ((one, other), (other, one))}


@kinds("partition-full")
class Full(Ruled):
    """Two sides; the victim is in the first."""

    def pairs(self):
        ranked = self.ranked()
        side = 1 + int(self.drawn.chances[0] * (len(ranked) - 1))
        return both_ways((one, other) for one in ranked[:side] for other in ranked[side:])


@kinds("partition-partial")
class Partial(Ruled):
    """Some links of the victim, and every fourth of the others: nobody agrees who is there."""

    def pairs(self):
        first, *others = self.ranked()
        cut = 1 + int(self.drawn.chances[0] * (len(others) - 1))
        links = [(first, other) for other in others[:cut]]
        spread = int(self.drawn.chances[1] * 4)
        rest = [(one, other) for one in others for other in others if one < other]
        return both_ways(links + rest[spread::4])


@kinds("partition-one-way")
class OneWay(Ruled):
    """Nothing that the victim sends arrives, or nothing arrives at it, at some or at all."""

    def pairs(self):
        first, *others = self.ranked()
        some = others[: 1 + int(self.drawn.chances[0] * len(others))]
        if self.drawn.chances[1] < 0.5:
            return {(first, other) for other in some}
        return {(other, first) for other in some}


@kinds("partition-flapping")
class Flapping(Ruled):
    def pairs(self):
        first, *others = self.ranked()
        some = others[: 1 + int(self.drawn.chances[0] * len(others))]
        return both_ways((first, other) for other in some)

    def words(self):
        return {"on_ms": self.between(1, 20, 150), "off_ms": self.between(2, 20, 150)}


class Bad(Ruled):
    """A bad network: to and from the victim, or everywhere."""

    def pairs(self):
        first, *others = self.ranked()
        if self.drawn.chances[0] < 0.3:
            return self.stage.network.all_pairs()
        return both_ways((first, other) for other in others)

    @property
    def rule_kind(self):
        return self.kind


@kinds("loss")
class Loss(Bad):
    def words(self):
        return {"chance": self.between(1, 0.05, 0.5)}


@kinds("delay")
class Delay(Bad):
    def words(self):
        return {"ms": self.between(1, 2, 90), "jitter_ms": self.between(2, 0, 60)}


@kinds("duplicate")
class Duplicate(Bad):
    def words(self):
        return {"chance": self.between(1, 0.1, 0.7)}


@kinds("reorder")
class Reorder(Bad):
    def words(self):
        return {"chance": self.between(1, 0.1, 0.5), "ms": self.between(2, 3, 40)}


def ended_by(process):
    """How many connections a process of network.reset() has ended."""
    try:
        return len(process.communicate(timeout=2)[0].splitlines())
    except Exception:
        process.kill()
        process.wait()
        return 0


@kinds("reset")
class Reset(Fault):
    """RST on all connections of a node, or on those with one other."""

    def begin(self):
        node = self.stage.victim(self.drawn)
        others = [i for i in self.stage.shuffled(self.drawn) if i != node.id]
        other = others[0] if self.drawn.chances[0] < 0.4 else None
        self.whom = f"node {node.id}" + (f" with {other}" if other else "")
        self.process = self.stage.network.reset(node.id, other)
        return True

    def end(self):
        return ended_by(self.process) > 0


@kinds("half-open")
class HalfOpen(Fault):
    """One end is gone and the other one is not told: its RST is lost."""

    def begin(self):
        node = self.stage.victim(self.drawn)
        others = [i for i in self.stage.shuffled(self.drawn) if self.stage.cluster[i].acting]
        other = next((i for i in others if i != node.id), None)
        if other is None or not node.running:
            return False
        self.whom = f"node {node.id} with {other}"
        self.rule = self.stage.network.add("cut", {(node.id, other)})
        self.process = self.stage.network.reset(node.id, other)
        return True

    def end(self):
        ended = ended_by(self.process)
        return self.stage.network.remove(self.rule) > 0 and ended > 0
