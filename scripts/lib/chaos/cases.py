"""A case that is not drawn. It proves that an overlap would be found: clocks far outside of the
bound make one.
"""

import time

from chaos.course import OUTSIDE, Round
from chaos.judge import audit
from chaos.links import both_ways
from chaos.play import Player
from chaos.shim import BOOTTIME, RAW


class ClocksApart(Player):
    """The clocks of a leader that is cut off run at 0.6, and those of the others at 1.4."""

    TIMES = 5  # several, for now and then the others are not in time
    nodes = 3

    def __init__(self, world):
        super().__init__(world, Round(0, OUTSIDE, 0, ()))

    def wait(self, seconds):
        limit = time.monotonic() + seconds
        self.go_on(lambda: time.monotonic() > limit)

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


CASES = {"clocks-apart": ClocksApart}
