"""Prints a run: a line a round, and a table at the end."""

# A kind that has been tried so often, and never struck, is out of order. Most miss now and then, as
# one that is to join and is cut off meanwhile.
TRIES = 8


class Report:
    def __init__(self, kinds):
        self.kinds = kinds
        self.outcomes = []

    def add(self, outcome):
        self.outcomes.append(outcome)

    def struck(self, kind):
        return sum(outcome.struck.get(kind, 0) for outcome in self.outcomes)

    def missed(self, kind):
        return sum(outcome.missed.get(kind, 0) for outcome in self.outcomes)

    @property
    def faults(self):
        return sum(map(self.struck, self.kinds))

    def never_struck(self):
        """The kinds that are out of order."""
        return [k for k in self.kinds if self.struck(k) == 0 and self.missed(k) >= TRIES]

    def hardly_tried(self):
        """The kinds for which the run was too short."""
        return [k for k in self.kinds if self.struck(k) == 0 and self.missed(k) < TRIES]

    def problems(self):
        return [problem for outcome in self.outcomes for problem in outcome.problems]

    def violations(self):
        return [what for outcome in self.outcomes for what in outcome.violations]

    @staticmethod
    def line(outcome):
        struck = sum(outcome.struck.values())
        healed = outcome.healed_after_s
        leader = "no leader" if healed is None else f"a leader {healed * 1000:.0f} ms after healing"
        beyond = outcome.overlaps
        overlaps = "" if beyond is None else f", {beyond} contradictions where nothing is promised"
        return (
            f"round {outcome.round.number} ({outcome.round.what}): {struck} faults in "
            f"{outcome.seconds:.1f} s, {outcome.leaderships} leaderships, {leader}{overlaps}"
            + "".join(f"\n  {problem}" for problem in outcome.violations + outcome.problems)
        )

    def table(self):
        wide = max(map(len, self.kinds))
        lines = [f"{'fault':<{wide}}  struck  missed"]
        for kind in self.kinds:
            lines.append(f"{kind:<{wide}}  {self.struck(kind):6}  {self.missed(kind):6}")
        seconds = sum(outcome.seconds for outcome in self.outcomes)
        lines.append(
            f"{self.faults} faults in {len(self.outcomes)} rounds, {seconds:.0f} s, "
            f"{self.faults / max(seconds, 0.001):.1f} a second"
        )
        return "\n".join(lines)

    def healing(self):
        took = sorted(o.healed_after_s for o in self.outcomes if o.healed_after_s is not None)
        if not took:
            return "no round came to its end"
        middle = took[len(took) // 2]
        longest = f"longest {took[-1] * 1000:.0f} ms"
        return f"a leader after healing: median {middle * 1000:.0f} ms, {longest}"

    def verdict(self):
        judged = [outcome for outcome in self.outcomes if outcome.overlaps is None]
        beyond = [outcome for outcome in self.outcomes if outcome.overlaps is not None]
        lines = [
            f"{sum(o.leaderships for o in judged)} leaderships audited in {len(judged)} rounds, "
            f"{sum(o.unproved for o in judged)} things that the streams do not prove"
        ]
        if beyond:
            lines.append(
                f"{sum(o.leaderships for o in beyond)} leaderships in {len(beyond)} rounds with "
                f"clocks outside of the bound: {sum(o.overlaps for o in beyond)} contradictions, "
                "not judged; epochs rose"
            )
        return "\n".join(lines)
