"""Three members become five and three others again, round after round, while members are killed,
stopped and cut off: each change is done in the end, and the audit finds no overlap.
"""

import concurrent.futures
import shutil
import time

from harness import netns
import pytest
from clusters import on_both, rounds
from harness.waiting import seen_within

REASON = netns.unavailable()
pytestmark = [
    pytest.mark.sanitize_long,
    pytest.mark.skipif(REASON is not None, reason=REASON or ""),
]

MACHINES = range(1, 7)
OPERATOR = 7
CHANGED_WITHIN = 60  # s, with all that is done to it meanwhile
SPREADS_WITHIN = 0.2  # s, if nothing hinders it
HELD_S = 2.5  # at most: longer than a lease


class Attacker:
    """Does something to a member while a change is under way, and undoes it."""

    def __init__(self, draw, spaces, cluster):
        self.draw = draw
        self.spaces = spaces
        self.cluster = cluster

    def strike(self, members, change):
        """Does one thing to one of them. From the thread that has started them, with whose end they
        end.
        """
        attack = self.draw.choice([self.kill, self.stop, self.isolate, self.cut])
        leader = self.cluster.leader()
        victim = self.cluster[self.draw.choice(sorted(members))]
        if leader is not None and leader.id in members and self.draw.random() < 0.5:
            victim = leader
        begins = self.draw.choice([self.at_once, self.when_a_list_spreads])
        ends = self.draw.choice([self.when_it_is_done, self.when_another_leads])
        print(f"{attack.__name__} {victim.id} {begins.__name__}, until {ends.__name__}")
        begins()
        undo = attack(victim)
        ends(change, victim)
        undo()

    def at_once(self):
        pass

    def when_a_list_spreads(self):
        known = self.lists()
        seen_within(SPREADS_WITHIN, lambda: self.lists() > known, every=0.001)

    def lists(self):
        self.cluster.poll()
        return sum(
            len(node.current.stream.of("members")) for node in self.cluster if node.incarnations
        )

    def when_it_is_done(self, change, victim):
        seen_within(HELD_S, change.done)

    def when_another_leads(self, change, victim):
        def another_leads():
            self.cluster.poll()
            return any(node.leads for node in self.cluster if node is not victim)

        seen_within(HELD_S, another_leads)

    def kill(self, node):
        node.crash()
        return node.start

    def stop(self, node):
        node.hang_for_good()

        def go_on():
            # A leader that stands still is ended by its undertaker.
            if node.ends_within(0.5):
                node.restart()
            else:
                node.resume()
                node.current.expected_to_run = True

        return go_on

    def isolate(self, node):
        self.spaces.isolate(node.id)
        return self.spaces.heal

    def cut(self, node):
        other = self.draw.choice([m for m in MACHINES if m != node.id])
        one_way = (node.id, other) if self.draw.random() < 0.5 else (other, node.id)
        self.spaces.cut_way(*one_way)
        return self.spaces.heal


class Moving:
    """A cluster whose members change."""

    def __init__(self, new_cluster, algorithm, draw, spaces):
        self.draw = draw
        self.spaces = spaces
        hosts = {i: (spaces.addresses[i], netns.PORT) for i in MACHINES}
        self.members = {1, 2, 3}
        self.cluster = new_cluster(
            3, algorithm, hosts=hosts, flags=["--lease-max", "2s", "--forget-after", "0"]
        )
        for node in self.cluster:
            node.prefix = self.spaces.prefix(node.id)
        self.cluster.start()
        self.cluster.wait_leader()
        self.attacker = Attacker(draw, spaces, self.cluster)

    def done(self, *words):
        """An operator who asks again until it is so."""
        end = time.monotonic() + CHANGED_WITHIN
        while True:
            asked = self.cluster.member(
                *words, peers=self.peers(), prefix=self.spaces.prefix(OPERATOR), timeout=120
            )
            if asked.returncode == 0:
                return
            assert asked.returncode == 1, asked.stderr
            assert time.monotonic() < end, f"{words}: {asked.stderr}"

    def done_under_fire(self, *changes, victims):
        with concurrent.futures.ThreadPoolExecutor(1) as operator:
            change = operator.submit(lambda: [self.done(*words) for words in changes])
            self.attacker.strike(victims, change)
            change.result()

    def peers(self):
        return ",".join(f"{i}={self.cluster[i].address}" for i in sorted(self.members))

    def comes(self, node_id):
        if node_id in self.cluster.nodes:
            node = self.cluster[node_id]
            if self.draw.random() < 0.5:
                shutil.rmtree(node.data_dir)
        else:
            node = self.cluster.new_node(node_id, self.spaces.addresses[node_id])
            node.port = netns.PORT
            node.prefix = self.spaces.prefix(node_id)
        node.join = [self.cluster[i].address for i in sorted(self.members)]
        node.start()
        self.done_under_fire(
            ("add", f"{node_id}={node.address}"), ("promote", str(node_id)), victims=self.members
        )
        self.members.add(node_id)

    def goes(self, node_id):
        """One that joins is ended before it is removed, or first taken out of the configuration."""
        node = self.cluster[node_id]
        ends_first = self.draw.random() < 0.5
        if ends_first or node.join is not None:
            node.join = None
            self.ends(node)
        if not ends_first and not node.running:
            node.start()
        victims = self.members - {node_id} if ends_first else self.members
        self.done_under_fire(("remove", str(node_id)), victims=victims)
        self.members.remove(node_id)
        if node.running:
            self.ends(node)

    def ends(self, node):
        self.cluster.wait_for(lambda: node.current.stream.events, f"node {node.id} runs")
        assert node.stop() == 0

    def settle(self):
        """Each member, and nobody else, has a vote, and all follow one leader."""
        expected = dict.fromkeys(self.members, True)

        def is_so():
            listed = self.cluster.member_list(
                peers=self.peers(), prefix=self.spaces.prefix(OPERATOR)
            )
            return listed[1] == expected

        self.cluster.wait_for(is_so, f"the members are {sorted(expected)}")
        self.cluster.wait_leader(among=self.members)


@pytest.fixture
def spaces():
    made = netns.Namespaces([*MACHINES, OPERATOR])
    yield made
    made.close()


@on_both(3)
def test_three_become_five_and_three_others_under_fire(new_cluster, algorithm, n, draw, spaces):
    moving = Moving(new_cluster, algorithm, draw, spaces)
    for _ in rounds(1, 200):
        old = set(moving.members)
        for node_id in draw.sample(sorted(set(MACHINES) - old), 2):
            moving.comes(node_id)
        assert len(moving.members) == 5
        for node_id in draw.sample(sorted(old), 2):
            moving.goes(node_id)
        moving.settle()
    moving.cluster.check_intervals()
