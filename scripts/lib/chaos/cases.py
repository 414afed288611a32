"""Cases that are not drawn. Three are the networks of the Omni-Paxos paper in which elections fail
that only count links: what tests/scenarios/omni-paxos is for the simulator, with real processes.
The fourth proves that an overlap would be found: clocks far outside of the bound make one.
"""

import time

from chaos.course import NODE, OUTSIDE, Round
from chaos.judge import audit
from chaos.links import both_ways
from chaos.play import Player, bound_s
from chaos.shim import BOOTTIME, RAW


class Case:
    """`links`: which of them fail, by the IDs of all, of the leader, and of another, the hub."""

    what = NODE

    def __init__(self, links, hub_leads, nodes=None):
        self.links = links
        self.hub_leads = hub_leads
        self.nodes = nodes  # None: as many as one likes

    def player(self, world):
        return CasePlayer(world, self)


def _all_links(ids):
    return {(one, other) for one in ids for other in ids if one < other}


def _quorum_loss(ids, leader, hub):
    """Every node reaches the hub only; the leader has lost its majority."""
    return {link for link in _all_links(ids) if hub not in link}


def _constrained(ids, leader, hub):
    """The leader is cut off, and the others reach the hub only."""
    return {link for link in _all_links(ids) if hub not in link or leader in link}


def _chained(ids, leader, hub):
    """The leader and another one don't reach each other; both reach the third: no change."""
    return {tuple(sorted((leader, hub)))}


class ClocksApart:
    """The clocks of a leader that is cut off run at 0.6, and those of the others at 1.4."""

    what = OUTSIDE
    nodes = 3

    def player(self, world):
        return ClocksApartPlayer(world, self)


CASES = {
    "quorum-loss": Case(_quorum_loss, hub_leads=True),
    "constrained": Case(_constrained, hub_leads=True),
    "chained": Case(_chained, hub_leads=False, nodes=3),
    "clocks-apart": ClocksApart(),
}


class _ByHand(Player):
    """A round without a course."""

    def __init__(self, world, case):
        super().__init__(world, Round(0, case.what, 0, ()))
        self.case = case

    def wait(self, seconds, until=lambda: False):
        limit = time.monotonic() + seconds
        self.go_on(lambda: until() or time.monotonic() > limit)


class CasePlayer(_ByHand):
    def play(self):
        self.begin()
        if self.outcome.problems or self.world.stopping:
            return
        begun = time.monotonic()
        leader = self.stage.leader_id()
        hub = next(i for i in reversed(self.stage.founders) if i != leader)
        links = self.case.links(self.stage.founders, leader, hub)
        rule = self.stage.network.add("cut", both_ways(links))
        if self.case.hub_leads:
            self._has_to_lead(hub)
        else:
            self._has_to_lead_on(leader)
        if self.stage.network.remove(rule) == 0:
            self.outcome.problems.append("no frame met the cut")
        self.heal()
        self.outcome.seconds = time.monotonic() - begun

    def _has_to_lead(self, hub):
        """Within the bound, and then for as long as a promise lasts."""
        timing = self.stage.cluster.timing
        self.wait(bound_s(timing, NODE), lambda: self.stage.leader_id() == hub)
        if self.stage.leader_id() != hub:
            self.outcome.problems.append(f"the hub, node {hub}, does not lead")
        else:
            self._has_to_lead_on(hub, timing.promise_s)

    def _has_to_lead_on(self, leader, seconds=None):
        before = self.stage.cluster[leader].view

        def lost():
            return self.stage.leader_id() != leader or self.stage.cluster[leader].view != before

        self.wait(seconds or bound_s(self.stage.cluster.timing, NODE), lost)
        if lost():
            self.outcome.problems.append(f"node {leader} does not lead on in epoch {before[1]}")


class ClocksApartPlayer(_ByHand):
    TIMES = 5  # several, for now and then the others are not in time

    def play(self):
        self.begin()
        begun = time.monotonic()
        network = self.stage.network
        for _ in range(self.TIMES):
            leader = self.stage.leader_id()
            if leader is None or self.overlaps() or self.world.stopping:
                break
            self._bend(lambda node_id, leader=leader: -400_000 if node_id == leader else 400_000)
            self.wait(1)
            links = {(leader, other) for other in network.ids if other != leader}
            rule = network.add("cut", both_ways(links))
            self.wait(2)
            network.remove(rule)
            self._bend(lambda node_id: 0)
            self.wait(1)
        self.heal()
        self.outcome.seconds = time.monotonic() - begun

    def _bend(self, rate):
        for node_id, page in self.stage.pages.items():
            for clock in (BOOTTIME, RAW):
                page.rate(clock, rate(node_id))

    def overlaps(self):
        return bool(audit(self.stage).contradictions)
