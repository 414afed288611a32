"""Faults of the membership: nodes join, leave, and get or lose a vote, in the middle of all else.

A few nodes more than the cluster is founded with are there to join it. A change is asked for as an
operator does it, by `bullring member` on one of the machines.
"""

import shutil

from chaos.fault import OnOneNode, kinds

LOOK_MS = 20
LEAST_VOTES = 2  # that a change leaves; two that are asked for at a time may leave one


class Roll:
    """The members by the newest list that any node has told, and whether each has a vote."""

    def __init__(self, founders):
        self.votes = dict.fromkeys(founders, True)
        self._tag = (0, 0)

    def note(self, event):
        if event["event"] != "members":
            return
        tag = tuple(map(int, event["tag"].split(".")))
        if tag > self._tag:
            self._tag = tag
            self.votes = {member["id"]: member["vote"] for member in event["members"]}

    def can_spare(self, node_id):
        """Whether enough votes are left without it."""
        votes = [i for i, has_one in self.votes.items() if has_one and i != node_id]
        return len(votes) >= LEAST_VOTES


class Change(OnOneNode):
    """Asked for until it is done, as an operator does. Seen is the answer; what it did stays."""

    claims = ("membership",)

    def strike(self):
        self.over = False
        self.asked = self.words()
        self.ask()
        return True

    def ask(self):
        self.asking = self.stage.ask_for_change(*self.asked, timeout_s=1)
        self.look()

    def look(self):
        if self.over:
            return
        if self.asking.poll() is None:
            self.stage.after(LOOK_MS, self.look)
        elif self.asking.returncode != 0:
            self.ask()

    def undo(self):
        self.over = True
        done = self.asking.poll() == 0
        self.asking.kill()
        self.asking.wait()
        return done


@kinds("member-leaves")
class Leaves(Change):
    """Its process goes on: it disturbs nobody."""

    def suits(self, node):
        return node.id in self.stage.roll.votes and self.stage.roll.can_spare(node.id)

    def words(self):
        return "remove", str(self.node.id)

    def undo(self):
        done = super().undo()
        if done:
            self.stage.removed.add(self.node.id)
        return done


@kinds("member-votes")
class Votes(Change):
    """Gets a vote if it has none, and else loses it."""

    def suits(self, node):
        votes = self.stage.roll.votes
        return node.id in votes and (not votes[node.id] or self.stage.roll.can_spare(node.id))

    def words(self):
        word = "demote" if self.stage.roll.votes[self.node.id] else "promote"
        return word, str(self.node.id)


@kinds("member-joins")
class Joins(OnOneNode):
    """One that is no member asks to be one, with a vote or without; with the state of before, or,
    if it was removed, which it would remember, with none. Seen is that it is on a list; it stays
    there."""

    # No operator changes it meanwhile, and its disk is its own.
    claims = ("process", "membership", "disk")

    def suits(self, node):
        return node.id not in self.stage.roll.votes

    def strike(self):
        self.over = False
        self.stage.keep_down(self.node)
        if self.node.running:
            self.node.terminate()
        self.come()
        return True

    def come(self):
        if self.over:
            return
        if self.node.running:
            self.stage.after(LOOK_MS, self.come)
            return
        if self.is_gone_for_good():
            for path in self.node.data_dir.iterdir():
                if path.name != "lock":
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.stage.removed.discard(self.node.id)
        self.stage.to_join(self.node, with_a_vote=self.drawn.chances[1] < 0.5)
        self.leave_it()

    def is_gone_for_good(self):
        """Whether its state may be lost: an operator knows that it is no voter any more."""
        return self.node.id in self.stage.removed and self.node.id not in self.stage.roll.votes

    def leave_it(self):
        self.over = True
        self.stage.let_up(self.node)

    def undo(self):
        if not self.over:
            self.leave_it()
        return self.node.id in self.stage.roll.votes
