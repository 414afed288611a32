"""Plays one round: the cluster starts and has a leader, the faults of the course come and go, all
is healed, and within the bound there has to be a leader again that all follow.
"""

import heapq
import itertools
import pathlib
import time

import chaos.clients
import chaos.clocks
import chaos.commands
import chaos.limits
import chaos.links
import chaos.members
import chaos.processes
import chaos.trust  # noqa: F401 - they register the kinds
from harness.netns import PORT
from chaos.course import RUN
from chaos.fault import CLASSES
from chaos.stage import KILL_AFTER_MS, Stage

START_S = 60  # on a machine that does much else
LOOK_S = 0.003
DIAL_AGAIN_S = 1.5  # R in protocol/sessions/README.md
CHANGE_S = 10
NOBODY = 150  # the ID of a member that no machine has
RESOLVER_S = 1.0  # the name server is asked once, for so long


def bound_s(timing, what):
    """Within what all follow a leader once all is healed: twice what L1 in protocol/README.md says
    of a network that does not change, and before that the nodes have to find each other again."""
    stable = timing.promise + timing.suspect_after + 2 * timing.ring_timeout
    if what == RUN:
        stable += 2 * KILL_AFTER_MS
    return 2 * stable / 1000 + DIAL_AGAIN_S + RESOLVER_S


class Outcome:
    """The outcome of a round; the judge adds the faults."""

    def __init__(self, a_round):
        self.round = a_round
        self.struck = {}
        self.missed = {}
        self.seconds = 0.0
        self.healed_after_s = None
        self.violations = []  # of safety
        self.problems = []  # any other
        self.leaderships = 0
        self.unproved = 0
        self.overlaps = None  # only of a round in which nothing is promised

    def is_wrong(self):
        return bool(self.violations or self.problems)


class Player:
    def __init__(self, world, a_round):
        self.world = world
        self.round = a_round
        self.outcome = Outcome(a_round)
        self._due = []
        self._serial = itertools.count()
        self._active = {}
        self.stage = Stage(world, a_round, self._after)

    def _at(self, at, work):
        heapq.heappush(self._due, (at, next(self._serial), work))

    def _after(self, ms, work):
        self._at(time.monotonic() + ms / 1000, work)

    def play(self):
        """Everything up to the leader at the end."""
        self.begin()
        if self.outcome.problems:
            return
        begun = time.monotonic()
        for drawn in self.round.faults:
            self._at(begun + drawn.at_ms / 1000, lambda drawn=drawn: self._strike(drawn))
        self.go_on(lambda: time.monotonic() > begun + self.round.ms / 1000)
        self._black_out()
        self.heal()
        self.outcome.seconds = time.monotonic() - begun

    def begin(self):
        self.stage.start_founders()
        if not self._await_leader(START_S):
            self.outcome.problems.append(f"no leader {START_S} s after the start")

    def _await_leader(self, seconds):
        """After how many seconds all followed one leader, who stayed from then on for as long as a
        promise lasts; None if there was none so far. Where processes lead, one works under it."""
        cluster = self.stage.cluster
        begun = time.monotonic()
        since, view = None, None

        def settled():
            nonlocal since, view
            now = time.monotonic()
            members = self.stage.roll.votes
            all_there = all(cluster[node_id].acting for node_id in members)
            leader = cluster.agreed_leader(among=members) if all_there else None
            crew = self.stage.crew
            if leader and crew and not crew.works(leader, leader.view[1]):
                leader = None
            if leader is None or leader.view != view:
                since, view = now, leader and leader.view
            if view is not None and now > since + cluster.timing.promise_s:
                return True
            return view is None and now > begun + seconds

        self.go_on(settled)
        took = since - begun
        return took if view is not None and took <= seconds else None

    def go_on(self, until):
        while not until() and not self.world.stopping:
            self.stage.cluster.poll()
            self.stage.mend()
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                heapq.heappop(self._due)[2]()
            time.sleep(LOOK_S)

    def _strike(self, drawn):
        fault = CLASSES[drawn.kind](self.stage, drawn)
        if fault.begin():
            self._active[drawn.number] = fault
            self._after(drawn.ms, lambda: self._end(drawn.number))
        else:
            self._count(fault, False)

    def _end(self, number):
        fault = self._active.pop(number, None)
        if fault is not None:
            self._count(fault, fault.end())

    def _count(self, fault, struck):
        counts = self.outcome.struck if struck else self.outcome.missed
        counts[fault.kind] = counts.get(fault.kind, 0) + 1
        ended = "struck" if struck else "missed"
        self.world.log(f"round {self.round.number}: {fault.drawn}: {ended} {fault.whom}".rstrip())

    def _black_out(self):
        """At the end of every other round nobody reaches anybody, until nobody leads any more, and
        none that stands still could go on as if nothing had happened. One that is the only voter by
        now rightly leads on."""
        if self.round.number % 2 == 0:
            network = self.stage.network
            rule = network.add("cut", network.all_pairs())
            begun = time.monotonic()
            least = begun + self.stage.cluster.timing.promise_s

            def dark():
                now = time.monotonic()
                led = self.stage.leader_id() is not None and sum(self.stage.roll.votes.values()) > 1
                return now > begun + START_S or (now > least and not led)

            self.go_on(dark)
            network.remove(rule)

    def heal(self):
        for number in list(self._active):
            self._end(number)
        self._due.clear()
        self.stage.let_up_all()
        if self.world.stopping:
            return
        limit = bound_s(self.stage.cluster.timing, self.round.what)
        took = self._await_leader(limit)
        self.outcome.healed_after_s = took
        if took is None and not self.world.stopping:
            self.outcome.problems.append(
                f"no leader that all follow {limit:.1f} s after all was healed\n"
                + self.stage.cluster.timeline(60)
            )
        elif not self.world.stopping:
            self._change_members()

    def _change_members(self):
        """With all healed, a change of the members is done when asked for: one that runs nowhere
        is added, without a vote."""
        stage = self.stage
        asking = stage.ask_for_change("add", f"{NOBODY}=n{NOBODY}:{PORT}", timeout_s=CHANGE_S)
        limit = time.monotonic() + 2 * CHANGE_S
        listed = False  # once: the leader forgets it again

        def known():
            nonlocal listed
            listed = listed or NOBODY in stage.roll.votes
            done = asking.poll() is not None and (listed or asking.returncode != 0)
            return done or time.monotonic() > limit

        self.go_on(known)
        done = listed and asking.poll() == 0
        asking.kill()
        asking.wait()
        if not done and not self.world.stopping:
            said = pathlib.Path(f"{stage.directory}/member-{stage.questions}.log").read_text()
            self.outcome.problems.append(
                f"bullring member add, with all healed: {said or 'no answer'}\n"
                + stage.cluster.timeline(60)
            )
