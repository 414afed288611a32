"""The rounds of an attack on a leader and its command, and how they are judged."""

from harness.task import Family
from clusters import rounds

# The shield kills 50 ms before the end of such a lease. A virtual machine stands still for 20 to
# 40 ms now and then, in which nobody can kill anything.
LEASE = ["--lease", "700ms"]
FLAGS = ["--kill-after", "100ms", "--restart-delay", "20ms", *LEASE]
ROUNDS = 5, 20  # for each of two algorithms: in the gate, with BULLRING_TEST_ALL


class Rounds:
    """One cluster for all rounds of a kind; the processes that were killed are started again."""

    def __init__(self, new_cluster, journal, algorithm, n):
        self.cluster = new_cluster(n, algorithm, profile="fast")
        self.journal = journal
        self.witness = algorithm == "bully"

    def __call__(self, attack, *words, count=ROUNDS, flags=()):
        """`attack` gets the cluster, the leader and its family; a round ends when it returns."""
        self._start(words, flags)
        played = 0
        for _ in rounds(*count):
            leader, family = self.cluster.wait_for(self._at_work, "a leader with its command")
            before = len(self.journal.begun())
            attack(self.cluster, leader, family)
            self.cluster.wait_for(lambda b=before: len(self.journal.begun()) > b, "the next")
            self.journal.judge()
            for node in self.cluster:
                # One that has been asked to end may still be about to.
                if not node.current.expected_to_run:
                    node.wait_exit()
                    node.start()
            played += 1
        assert len(self.journal.begun()) > played

    def _start(self, words, flags):
        for node in self.cluster:
            # Two that run the command and a witness are the commonest small cluster.
            if self.witness and node.id == 1:
                node.flags = ["--priority", "never", *LEASE, *flags]
            else:
                node.flags = [*FLAGS, *flags]
                node.task = self.journal.command(*words)
        self.cluster.start()
        self.cluster.wait_settled()

    def _at_work(self):
        """The leader and its processes, once its command has begun."""
        leader = self.cluster.agreed_leader()
        if leader is None or leader.task is None:
            return None
        family = Family(leader)
        began = [line[2] for line in self.journal.begun()]
        return (leader, family) if family.complete and family.command in began else None
