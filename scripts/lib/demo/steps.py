"""The steps of the demo on one cluster: each does one thing to it and says what came of it."""

from harness.events import now_ns
from demo.report import ms
from harness.waiting import seen_within

PREEMPT_DELAY_S = 0.5
CRASH = "kill -9 of the leader"


class Steps:
    def __init__(self, cluster, report):
        self.cluster = cluster
        self.report = report
        self.timing = cluster.timing

    def run(self):
        for step in (
            self.first_election,
            self.kill_leader,
            self.higher_node_returns,
            self.hang_leader,
            self.stop_leader,
            self.kill_majority,
            self.one_returns,
        ):
            step()
        self.audit()

    def audit(self):
        self.report.heading("bullring audit of all event streams")
        audit = self.cluster.audit()
        for line in str(audit).splitlines() + audit.unproved():
            self.report.line(now_ns(), line, "red")
        count = len(audit.leaderships)
        self.report.expect(
            audit.proved,
            f"{count} leaderships in {audit.seconds:.0f} s: no two overlapped, and epochs rose",
        )
        self.report.result("leaderships overlap", f"0 of {count}" if audit.proved else "see above")

    def first_election(self):
        self.report.heading("First election")
        self.cluster.start()
        started_ns = now_ns()
        self.report.act(f"{self.cluster.size} processes are started", started_ns)
        leader = self.cluster.wait_settled()
        highest = max(self.cluster.nodes)
        epoch = leader.view[1]
        took = self.cluster.elected_after(0)["ts_ns"] - started_ns
        self.report.expect(leader.id == highest, f"the highest node, {highest}, leads")
        self.report.expect(0 < epoch < 1024, f"a new cluster's epochs are small (epoch {epoch})")
        self.report.result("first election", f"{ms(took)}, node {leader.id}")

    def kill_leader(self):
        self.report.heading(CRASH)
        old = self.cluster.leader()
        epoch = old.view[1]
        killed_ns = old.kill()
        self.report.act(f"kill -9 of node {old.id}, the leader", killed_ns)
        elected = self.cluster.wait_elected(killed_ns)
        took = elected["ts_ns"] - killed_ns
        self.cluster.wait_leader()
        self.report.expect(
            elected["node"] != old.id and elected["epoch"] > epoch,
            f"node {elected['node']} leads {ms(took)} after the kill",
        )
        self.report.result(CRASH, f"{ms(took)}, node {elected['node']}")

    def higher_node_returns(self):
        self.report.heading("A higher node comes back")
        leader = self.cluster.leader()
        returning = max(node.id for node in self.cluster if not node.running)
        self.cluster[returning].restart()
        self.report.act(f"node {returning} is started again")
        row = "a higher node comes back"
        if self.cluster.algorithm == "ring":
            self.cluster.wait_settled()
            self.cluster.never(
                lambda: not leader.leads, f"node {leader.id} is deposed", PREEMPT_DELAY_S * 2
            )
            self.report.expect(
                leader.leads, f"node {leader.id} goes on leading: Ring does not preempt"
            )
            self.report.result(row, f"node {leader.id} stays")
            return
        deposed, elected = self._wait_takeover(leader, returning)
        gap = elected["ts_ns"] - deposed["held_until_ns"]
        self.report.expect(
            deposed["reason"] == "preempted",
            f"node {returning} takes over by handover: {ms(gap)} without a leader",
        )
        self.report.result(row, f"takes over, gap {ms(gap)}")

    def _wait_takeover(self, leader, successor):
        elected = self.cluster.wait_for(
            lambda: next(
                (
                    e
                    for e in self.cluster[successor].current.stream.of("elected")
                    if e["ts_ns"] > leader.current.stream.of("elected")[-1]["ts_ns"]
                ),
                None,
            ),
            f"node {successor} takes over from node {leader.id}",
        )
        self.cluster.wait_settled()
        return leader.current.stream.of("deposed")[-1], elected

    def _restore_rank(self):
        """Bully: lets the highest node take over, so that it doesn't in the middle of a step."""
        leader = self.cluster.wait_settled()
        highest = max(node.id for node in self.cluster.acting)
        if self.cluster.algorithm != "bully":
            return
        if leader.id != highest:
            self._wait_takeover(leader, highest)
        # A node that loses the leadership sooner is not handed it again for a minute.
        hold(self.cluster, PREEMPT_DELAY_S)

    def hang_leader(self):
        self.report.heading("SIGSTOP of the leader")
        self._restore_rank()
        old = self.cluster.leader()
        hung_ns = old.hang_for_good()
        self.report.act(f"SIGSTOP of node {old.id}, the leader: it hangs", hung_ns)
        elected = self.cluster.wait_elected(hung_ns)
        self.cluster.wait_leader()
        took = elected["ts_ns"] - hung_ns
        bound_ms = self.timing.promise + self.timing.campaign_timeout
        self.report.expect(
            took / 1e6 <= bound_ms + 200,
            f"node {elected['node']} leads after {ms(took)}: its keeper has killed node {old.id}",
        )
        old.restart()
        self.report.act(f"node {old.id} is started again")
        self.cluster.wait_settled()
        self.report.result("SIGSTOP of the leader", f"{ms(took)}, node {elected['node']}")
        self._restore_rank()

    def stop_leader(self):
        self.report.heading("A graceful stop")
        old = self.cluster.leader()
        asked_ns = old.terminate()
        self.report.act(f"SIGTERM to node {old.id}, the leader", asked_ns)
        elected = self.cluster.wait_elected(asked_ns)
        status = old.wait_exit()
        deposed = old.current.stream.of("deposed")[-1]
        gap = elected["ts_ns"] - deposed["held_until_ns"]
        self.report.expect(status == 0, f"node {old.id} exits with 0")
        self.report.expect(
            gap >= 0, f"node {elected['node']} leads: {ms(gap)} without a leader, no overlap"
        )
        self.report.result("graceful stop", f"gap {ms(gap)}, node {elected['node']}")
        old.start()
        self.report.act(f"node {old.id} is started again")
        self._restore_rank()

    def kill_majority(self):
        size, quorum = self.cluster.size, self.cluster.quorum
        doomed = sorted(self.cluster.nodes)[quorum - 1 :]
        leader = self.cluster.leader()
        if leader.id not in doomed:
            doomed[0] = leader.id
        self.report.heading(f"{len(doomed)} of {size} killed")
        # One after the other: the second may have been elected when it is killed as well.
        killed_ns = [self.cluster[node_id].kill() for node_id in doomed]
        self.report.act(f"kill -9 of nodes {', '.join(map(str, doomed))}", killed_ns[0])
        for node_id in doomed:
            self.cluster[node_id].wait_exit()
        self.cluster.wait_no_leader()
        self.cluster.never(
            lambda: any(node.leads for node in self.cluster),
            "a leader without a majority",
            self.timing.promise_s * 2,
        )
        self.report.expect(True, f"nobody leads: {size - len(doomed)} of {size} are no majority")
        self.report.result(f"{len(doomed)} of {size} killed", "nobody leads")

    def one_returns(self):
        self.report.heading("One comes back")
        returning = min(node.id for node in self.cluster if not node.running)
        started_ns = now_ns()
        self.cluster[returning].start()
        self.report.act(f"node {returning} is started again", started_ns)
        elected = self.cluster.wait_elected(started_ns)
        self.cluster.wait_leader()
        took = elected["ts_ns"] - started_ns
        self.report.expect(True, f"node {elected['node']} leads after {ms(took)}")
        self.report.result("one comes back", f"{ms(took)}, node {elected['node']}")


def two_leaders_ns(cluster):
    """For how long more than one node of the cluster led, summed up."""
    edges = []
    for held in cluster.leaderships():
        edges += [(held.start_ns, 1), (held.end_ns or now_ns(), -1)]
    total = leading = 0
    before = None
    for at_ns, change in sorted(edges):
        if leading > 1:
            total += at_ns - before
        leading += change
        before = at_ns
    return total


def hold(cluster, seconds):
    """Lets time pass while events are read and shown."""

    def look():
        cluster.poll()

    seen_within(seconds, look, every=0.005)
