"""Changes of the members of a cluster, and how each of them is timed.

A change is settled when a majority of the voters has the new list on its disk, by their own event
streams; times are differences of CLOCK_BOOTTIME.
"""

import shutil

from bench.cases import Floor, at_random_phase, crash_ns, find_floor
from bench.steady import Idle, cpu_ns, rates, resident_kib
from harness.cluster import Cluster, now_ns
from harness.node import ClusterError

FLAGS = ["--no-preempt", "--forget-after", "0"]
JOINED_S = 120  # within what all members without a vote are in


def settled_ns(cluster, since_ns, votes):
    """When a majority of these voters had the list that has just these members and votes."""
    voters = [node_id for node_id, vote in votes.items() if vote]

    def has_it(event):
        if event["event"] != "members" or event["ts_ns"] < since_ns or event["node"] not in voters:
            return False
        return {member["id"]: member["vote"] for member in event["members"]} == votes

    def majority():
        first = {}
        for event in filter(has_it, cluster.events()):
            first.setdefault(event["node"], event["ts_ns"])
        return sorted(first.values())[len(voters) // 2] if len(first) > len(voters) // 2 else None

    return cluster.wait_for(majority, f"the list {votes} is settled")


def started_ns(node):
    """A node listens before it says that it has started."""
    node.cluster.wait_for(lambda: node.current.stream.of("started"), f"node {node.id} runs")
    return node.current.stream.of("started")[0]["ts_ns"]


class Members:
    """Three voters, and those that take their places, each under a new ID."""

    def __init__(self, algorithm, flags=FLAGS):
        self.cluster = Cluster(3, algorithm, label="bench", flags=flags)
        self.votes = {1: True, 2: True, 3: True}
        self.next_id = 4

    def __enter__(self):
        self.cluster.start()
        self.leader = self.cluster.wait_settled()
        return self

    def __exit__(self, kind, error, trace):
        self.cluster.__exit__(kind, error, trace)

    def new_node(self, *flags):
        node = self.cluster.new_node(self.next_id)
        self.next_id += 1
        node.join = [self.cluster[i].address for i in self.votes if self.cluster[i].running]
        node.flags = list(flags)
        return node

    def asked(self, *words):
        """The command that changes the list; the clock just before."""
        began_ns = now_ns()
        done = self.cluster.member(*words, peers=self.peers())
        if done.returncode != 0:
            raise ClusterError(f"member {' '.join(words)}: {done.stderr.strip()}")
        return began_ns

    def peers(self):
        return ",".join(f"{i}={self.cluster[i].address}" for i in self.votes)

    def settled(self, since_ns):
        return settled_ns(self.cluster, since_ns, self.votes)

    def forget(self, node):
        """A node that is no member any more is not needed any more."""
        if node.running:
            node.terminate()
            node.wait_exit()
        shutil.rmtree(node.data_dir)

    def follower(self):
        return self.cluster[max(i for i in self.votes if i != self.leader.id)]


def changes(algorithm, rounds):
    """Times in ns by what was changed, of followers; and how many leaderships there were."""
    times = {}

    def note(what, took_ns):
        times.setdefault(what, []).append(took_ns)

    with Members(algorithm) as members:
        votes = members.votes
        for _ in range(rounds):
            # A machine dies for ever, and another one takes its place.
            dead = members.follower()
            dead.kill()
            dead.wait_exit()
            node = members.new_node("--voter").start()
            votes[node.id] = True
            listens_ns = started_ns(node)
            note("join with a vote", members.settled(listens_ns) - listens_ns)
            del votes[dead.id]
            members.asked("remove", str(dead.id))
            note("replace a dead one", members.settled(listens_ns) - listens_ns)
            members.forget(dead)
            # A fourth one comes and goes.
            node = members.new_node()
            votes[node.id] = False
            asked_ns = members.asked("add", f"{node.id}={node.address}")
            note("add", members.settled(asked_ns) - asked_ns)
            node.start()
            votes[node.id] = True
            listens_ns = started_ns(node)
            members.asked("promote", str(node.id))
            note("promote a new one", members.settled(listens_ns) - listens_ns)
            votes[node.id] = False
            asked_ns = members.asked("demote", str(node.id))
            note("demote", members.settled(asked_ns) - asked_ns)
            del votes[node.id]
            asked_ns = members.asked("remove", str(node.id))
            note("remove", members.settled(asked_ns) - asked_ns)
            members.forget(node)
        leaderships = len(members.cluster.check_intervals())
    return times, leaderships


def leader_removed(algorithm, rounds):
    """For how long nobody led, in ns."""
    gaps = []
    with Members(algorithm) as members:
        for _ in range(rounds):
            node = members.new_node("--voter").start()
            members.votes[node.id] = True
            members.settled(started_ns(node))
            members.cluster.wait_settled()
            leader = members.leader
            asked_ns = members.asked("remove", str(leader.id))
            del members.votes[leader.id]
            elected = members.cluster.wait_elected(asked_ns)
            deposed = leader.current.stream.of("deposed")[-1]
            gaps.append(elected["ts_ns"] - deposed["held_until_ns"])
            members.settled(asked_ns)
            members.forget(leader)
            members.leader = members.cluster[elected["node"]]
        members.cluster.check_intervals()
    return gaps


def crashes_ns(cluster, rounds):
    times = []
    for _ in range(rounds):
        leader = cluster.wait_settled()
        at_random_phase()
        times.append(crash_ns(leader))
        leader.restart()
    return times


def floor_ns(nodes, rounds):
    """Of as many bare processes, three of which have a vote."""
    floor = Floor(nodes, find_floor(), voters=3)
    try:
        times = []
        for _ in range(rounds):
            at_random_phase()
            times.append(floor.round_ns())
        return times
    finally:
        floor.close()


def cost(cluster, ids, seconds):
    """Of the one of these that costs most: % of a core, and MiB."""
    pids = [cluster[i].current.process.pid for i in ids]
    used = rates(seconds, lambda: {pid: cpu_ns([pid]) for pid in pids})
    return {
        "cpu_percent": max(used.values()) / 1e7,
        "resident_mib": max(map(resident_kib, pids)) / 1024,
    }


def with_members_without_a_vote(algorithm, count, seconds, rounds):
    """The cost of three voters, and how long a crash of the leader takes, alone and beside `count`
    members without a vote; and the floors under these.
    """
    with Members(algorithm) as members:
        cluster = members.cluster
        told = {"alone": cost(cluster, (1, 2, 3), seconds)}
        told["alone"]["crash_ns"] = crashes_ns(cluster, rounds)
        nodes = [members.new_node().start() for _ in range(count)]
        all_of_them = {**members.votes, **{node.id: False for node in nodes}}
        cluster.wait_for(
            lambda: cluster.member_list(peers=members.peers())[1] == all_of_them,
            "all have joined",
            JOINED_S,
        )
        cluster.wait_leader(among=all_of_them, deadline=JOINED_S)
        told["beside"] = cost(cluster, (1, 2, 3), seconds)
        told["beside"]["crash_ns"] = crashes_ns(cluster, rounds)
        cluster.check_intervals()
    told["alone"]["floor_ns"] = floor_ns(3, rounds)
    told["beside"]["floor_ns"] = floor_ns(3 + count, rounds)
    return told


def growth(algorithm, nodes, seconds, rounds):
    """The cost of a node of so many voters, its messages, and how long a crash takes."""
    told = Idle(algorithm, nodes, "lan", seconds).run()
    with Cluster(nodes, algorithm, label="bench", flags=FLAGS) as cluster:
        cluster.start()
        told["crash_ns"] = crashes_ns(cluster, rounds)
        cluster.check_intervals()
    return told
