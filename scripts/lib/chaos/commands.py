"""Faults of the commands of `bullring run`: the next one misbehaves."""

from harness.task import Family, signal_all
from chaos.fault import Fault, kinds

WORDS = {
    "command-ignores": "ignore",
    "command-forks": "group",
    "command-forks-away": "fork",
    "command-exits": "exit=3",
    "command-closes": "close",
    "command-fills": "fill",
}
LOOK_MS = 50


@kinds(*WORDS)
class Misbehaves(Fault):
    """The one that runs is killed, so that there is a next one. Seen is that it began; then the
    next kind may have its turn."""

    def begin(self):
        if not self.stage.claim_once("command"):
            return False
        self.seen = False
        self.over = False
        self.before = len(self.stage.journal.lines("begin"))
        self.stage.habit.write_text(WORDS[self.kind])
        leader = self.stage.leader_id()
        if leader is not None:
            command = Family(self.stage.cluster[leader]).command
            signal_all([command] if command else [])
        self.stage.after(LOOK_MS, self.look)
        return True

    def look(self):
        if self.over:
            return
        begun = self.stage.journal.lines("begin")[self.before :]
        self.seen = any(WORDS[self.kind] in line for line in begun)
        if self.seen:
            self.leave_it()
        else:
            self.stage.after(LOOK_MS, self.look)

    def leave_it(self):
        self.over = True
        self.stage.habit.write_text("")
        self.stage.release_once("command")

    def end(self):
        self.look()
        if not self.over:
            self.leave_it()
        return self.seen
