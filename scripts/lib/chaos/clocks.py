"""Faults of clocks: they run at another rate for a while.

What the protocol asks (A2 in protocol/README.md, ρ = 1000 ppm): at each node one of CLOCK_BOOTTIME
and CLOCK_MONOTONIC_RAW keeps the bound; the other one may do as it likes. Which one it is has to be
the same for as long as a promise lasts, so it is one for each node and round. Where RAW is the good
one, BOOTTIME runs too fast only, never too slow: a stream tells times of BOOTTIME alone, and of a
lease that has ended by RAW, a slow BOOTTIME would tell too late an end. The slow one is in
tests/process/test_clocks.py.
"""

from chaos.fault import OnOneNode, kinds
from chaos.links import both_ways
from chaos.shim import BOOTTIME, RAW

INSIDE_PPM = 999
RAW_PPM = 500_000
BOOTTIME_PPM = 80_000
OUTSIDE_PPM = 50_000, 400_000
# bullring-keeper reads the true BOOTTIME, so what the node is shown must not be far from it.
AHEAD_MAX_NS = 300_000_000
# So long after its clocks are bent a node may be cut off: it has renewed its lease by then.
CUT_AFTER_MS = 150


class Bent(OnOneNode):
    """A leader is cut off as well, every other time: one that thinks its lease longer than it is
    does harm only if another one is elected meanwhile."""

    claims = ("clocks",)

    def strike(self):
        self.rule = None
        self.over = False
        if self.drawn.chances[4] < 0.5:
            self.stage.after(CUT_AFTER_MS, self.cut_off)
        self.page = self.stage.pages[self.node.id]
        boottime, raw = self.rates()
        self.page.rate(BOOTTIME, boottime)
        self.page.rate(RAW, raw)
        self.before = self.page.readings
        return True

    def cut_off(self):
        if not self.over and self.node.leads:
            links = [(self.node.id, other) for other in self.stage.network.ids]
            pairs = both_ways((one, other) for one, other in links if one != other)
            self.rule = self.stage.network.add("cut", pairs)

    def undo(self):
        self.over = True
        if self.rule is not None:
            self.stage.network.remove(self.rule)
        struck = self.page.readings > self.before
        self.page.rate(BOOTTIME, 0)
        self.page.rate(RAW, 0)
        return struck

    def signed(self, chance, least, most):
        size = int(self.between(chance, least, most))
        return size if self.drawn.chances[chance + 1] < 0.5 else -size


@kinds("clock-inside")
class Inside(Bent):
    def rates(self):
        good = self.signed(0, 100, INSIDE_PPM)
        if self.stage.good_clock(self.node) == BOOTTIME:
            return good, self.signed(2, INSIDE_PPM, RAW_PPM)
        if self.page.offset_ns() > AHEAD_MAX_NS:
            return -INSIDE_PPM, good
        return int(self.between(2, INSIDE_PPM, BOOTTIME_PPM)), good


@kinds("clock-outside")
class Outside(Bent):
    """Both too fast, or both too slow."""

    def rates(self):
        sign = 1 if self.drawn.chances[2] < 0.5 else -1
        return tuple(sign * int(self.between(clock, *OUTSIDE_PPM)) for clock in (BOOTTIME, RAW))
