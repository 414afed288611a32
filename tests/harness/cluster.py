"""Drives real `bullring` processes from outside: a cluster of nodes on this host.

Owns waiting on what the nodes' event streams say, and judging it. It waits for events with a
deadline, never for a fixed time, and takes nothing from a node's log. Every process that it starts
is dead when it is closed or when the caller dies, unless the cluster is handed over with
keep_running().
"""

import atexit
import functools
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from harness import events as bullring_events
from harness.audit import Audit
from harness.events import now_ns
from harness.net import PortHolder
from harness.node import ClusterError, Node, clean_environment, find_program
from harness.profiles import timing_of
from harness.safety import ProductFault, SafetyViolation
from harness.waiting import DEADLINE, seen_within, wait_until


class Cluster:
    """N nodes with one peer list. Use it as a context manager."""

    def __init__(
        self,
        n=5,
        algorithm="bully",
        profile="lan",
        flags=(),
        program=None,
        ids=None,
        name="bullring",
        hosts=None,
        kept=False,
        label="",
    ):
        self.program = program or find_program()
        self.algorithm = algorithm
        self.profile = profile
        self.timing = timing_of(profile, flags)
        self.flags = list(flags)
        self.name = name
        self.kept = kept
        self.environment = clean_environment()
        self.origin_ns = now_ns()
        self.on_event = None
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"bullring-{label or algorithm}-"))
        self.ports = PortHolder()
        ids = list(ids or range(1, n + 1))
        hosts = hosts or {}
        if hosts:
            # Off loopback it has to be said.
            self.environment["BULLRING_SECURITY"] = "none"
        self.nodes = {
            node_id: Node(self, node_id, *hosts.get(node_id, ("127.0.0.1", None)))
            for node_id in ids
        }
        for node in self.nodes.values():
            node.port = node.port or self.ports.take()
        self._last_liveness_check = 0.0
        atexit.register(self.close)

    # Composition.

    def __getitem__(self, node_id):
        return self.nodes[node_id]

    def __iter__(self):
        return iter(self.nodes.values())

    @property
    def size(self):
        return len(self.nodes)

    @property
    def quorum(self):
        return self.size // 2 + 1

    @property
    def shortest_lease_ms(self):
        """Of what the flags of its nodes say."""
        flags = ([*self.flags, *node.flags] for node in self)
        return min(timing_of(self.profile, some).lease for some in flags)

    @property
    def peers(self):
        return ",".join(f"{node.id}={node.address}" for node in self)

    @property
    def acting(self):
        return [node for node in self if node.acting]

    def start(self, ids=None):
        for node in self:
            if ids is None or node.id in ids:
                node.start()
        return self

    def settled(self):
        """Starts it; returns it and its leader, when all follow that one."""
        return self, self.start().wait_settled()

    def new_node(self, node_id, host="127.0.0.1"):
        """A node that is not running yet; all that start from now on have it in their peer list."""
        node = self.nodes[node_id] = Node(self, node_id, host, self.ports.take())
        return node

    # Waiting.

    def poll(self):
        """Reads what is new in all streams, hands it to on_event in the order of its clock."""
        fresh = []
        for node in self:
            if node.current is not None:
                fresh.extend(node.current.stream.poll())
        fresh.sort(key=lambda event: event["ts_ns"])
        if self.on_event is not None:
            for event in fresh:
                self.on_event(event)
        return fresh

    def wait_for(self, predicate, what, deadline=DEADLINE):
        """Polls until predicate() is true and returns its value."""

        def awaited():
            return f"{what}\n{self.timeline(40)}"

        look = functools.partial(self._look, predicate)
        return wait_until(look, awaited, deadline, every=0.003, error=ClusterError)

    def never(self, predicate, what, during):
        """Fails when predicate() becomes true within `during` seconds."""
        if seen_within(during, functools.partial(self._look, predicate), every=0.005):
            raise ClusterError(f"must not happen: {what}\n{self.timeline(40)}")

    def _look(self, predicate):
        self.poll()
        value = predicate()
        if not value:
            self._check_liveness()
        return value

    def _check_liveness(self):
        if time.monotonic() < self._last_liveness_check + 0.05:
            return
        self._last_liveness_check = time.monotonic()
        for node in self:
            incarnation = node.current
            if incarnation is None or not incarnation.expected_to_run:
                continue
            if incarnation.process.poll() is not None:
                incarnation.expected_to_run = False
                kind = ProductFault if incarnation.fault() else ClusterError
                raise kind(
                    f"node {node.id} ended by itself with {incarnation.process.returncode}:\n"
                    f"{incarnation.log()[-2000:]}"
                )

    def elected_after(self, ts_ns):
        """The first `elected` later than ts_ns, in all streams; None if there is none."""
        found = [event for event in self.events() if event["event"] == "elected"]
        return next((event for event in found if event["ts_ns"] > ts_ns), None)

    def wait_elected(self, after_ns, deadline=DEADLINE):
        return self.wait_for(lambda: self.elected_after(after_ns), "a leader is elected", deadline)

    def leader(self):
        """The node that leads now by its own stream, None if none or several do."""
        leading = [node for node in self if node.leads]
        return leading[0] if len(leading) == 1 else None

    def agreed_leader(self, among=None):
        """The leader that every acting node (or those among the given IDs) names."""
        nodes = [node for node in self.acting if among is None or node.id in among]
        views = {node.view for node in nodes}
        if len(views) != 1:
            return None
        leader_id, epoch = views.pop()
        if leader_id is None or not self[leader_id].leads:
            return None
        return self[leader_id] if self[leader_id].view == (leader_id, epoch) else None

    def wait_leader(self, deadline=DEADLINE, among=None):
        """Waits until one node leads and all that act follow it; returns it."""
        return self.wait_for(lambda: self.agreed_leader(among), "all follow one leader", deadline)

    def wait_no_leader(self, deadline=DEADLINE):
        return self.wait_for(
            lambda: not any(node.leads or node.view[0] for node in self.acting) or None,
            "nobody leads and nobody follows",
            deadline,
        )

    def wait_its_id(self, **options):
        """Waits until all nodes have the cluster's id on their disks: it comes with the first
        leader, and nothing else is written soon after. A node without it takes no list of those
        that have one (C12.2)."""

        def known():
            ids = {node["cluster_id"] for node in self.status(**options)["nodes"]}
            return len(ids) == 1 and None not in ids

        self.wait_for(known, "all know the cluster's id")

    def wait_settled(self, deadline=DEADLINE, credentials=()):
        """Waits until every acting node has granted the leader its lease: no silence is left.

        `credentials`: flags for `status`, where the environment has none.
        """
        self.wait_leader(deadline)
        status = None

        def settled_leader():
            nonlocal status
            status = self.status(*credentials)
            acting = {node.id for node in self.acting}
            promised = {
                entry["id"]
                for entry in status["nodes"]
                if entry["reachable"] and entry["promised_to"] == status["leader"]
            }
            self.poll()
            settled = status["leader"] is not None and acting <= promised
            leader = self.agreed_leader()
            if settled and leader and leader.view == (status["leader"], status["epoch"]):
                return leader
            return None

        def awaited():
            return f"all have granted the leader its lease: {status}\n{self.timeline(20)}"

        return wait_until(settled_leader, awaited, deadline, every=0.05, error=ClusterError)

    # The commands.

    def command(self, *arguments, timeout=DEADLINE, peers=None, prefix=(), program=None):
        """Runs a subcommand with this cluster's --peers and --cluster."""
        return subprocess.run(
            [
                *prefix,
                program or self.program,
                arguments[0],
                "--peers",
                peers or self.peers,
                "--cluster",
                self.name,
                *arguments[1:],
            ],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self.environment,
        )

    def resign(self, *arguments):
        """The subcommand; when it says that another leads, waits until the streams say so, too."""
        asked_ns = now_ns()
        done = self.command("resign", *arguments)
        if done.returncode == 0:
            self.wait_elected(asked_ns)
        return done

    def member(self, *arguments, **options):
        """The subcommand."""
        return self.command("member", *arguments, **options)

    def member_list(self, **options):
        """The tag, and whether each member has a vote, by its ID."""
        told = json.loads(self.member("list", "--json", **options).stdout)
        return told["tag"], {member["id"]: member["vote"] for member in told["members"]}

    def status(self, *arguments, **options):
        return json.loads(self.command("status", "--json", *arguments, **options).stdout)

    # Judging.

    def incarnations(self):
        return [(node, run) for node in self for run in node.incarnations]

    def events(self):
        """All events of all incarnations so far, in the order of the clock.

        The last line of a dead one may come when its successor's stream is read already.
        """
        for node in self:
            for run in node.incarnations[:-1]:
                run.stream.poll()
                run.stream.close()
        found = [event for _, run in self.incarnations() for event in run.stream.events]
        return sorted(found, key=lambda event: event["ts_ns"])

    def audit(self):
        """The verdict of `bullring audit` on all streams.

        A node's lines come from a thread of its own, and the last line of a dead one from another
        process: so the end of a leadership may be on its way to the file while the next one's begin
        is there already.
        """
        audit = None

        def says_all():
            nonlocal audit
            self.poll()
            paths = [run.stream.path for _, run in self.incarnations()]
            audit = Audit(self.program, paths, self.environment)
            return audit.proved or audit.contradictions

        seen_within(2, says_all, every=0.05)
        return audit

    def leaderships(self):
        """All so far, in the order in which they began."""
        return self.audit().leaderships

    def check_intervals(self):
        """No two leaderships overlap and epochs rise; returns them in order."""
        audit = self.audit()
        if audit.contradictions:
            raise SafetyViolation(str(audit))
        return audit.leaderships

    def judge_at_end(self):
        """The same when nothing more is done to the cluster.

        Nobody has told yet when a leadership ends that goes on. Beside a later one that is what has
        to be known, so all are killed: then their last lines tell.
        """
        audit = self.audit()
        if not audit.proved and not audit.contradictions:
            self.kill_all()
        return self.check_intervals()

    def check_ends(self):
        """No node has crashed, and no sanitizer reports anything."""
        for node, run in self.incarnations():
            if fault := run.fault():
                raise ProductFault(f"node {node.id}: {fault}\n{run.log()[-4000:]}")

    def timeline(self, last=None):
        lines = [bullring_events.describe(event, self.origin_ns) for event in self.events()]
        return "\n".join(lines[-last:] if last else lines)

    # The end.

    def keep_running(self):
        """The processes outlive the caller: only for a cluster made with kept=True."""
        atexit.unregister(self.close)
        self.ports.release()

    def kill_all(self):
        for _, run in self.incarnations():
            if run.process.poll() is None:
                run.expected_to_run = False
                run.process.kill()
        for _, run in self.incarnations():
            run.process.wait()

    def close(self, keep_files=False):
        self.kill_all()
        for _, run in self.incarnations():
            run.stream.close()
        self.ports.release()
        atexit.unregister(self.close)
        if not keep_files:
            shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close(keep_files=kind is not None)
        if kind is not None:
            print(f"logs and event streams are kept in {self.directory}")
