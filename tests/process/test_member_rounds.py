"""Three members become five and three others again, round after round, while members are killed,
stopped and cut off: each change is done in the end, and the audit finds no overlap.
"""

import concurrent.futures
import shutil
import time

from harness import netns
import pytest
from clusters import on_both, rounds

REASON = netns.unavailable()
pytestmark = [
    pytest.mark.sanitize_long,
    pytest.mark.skipif(REASON is not None, reason=REASON or ""),
]

MACHINES = range(1, 7)
OPERATOR = 7
CHANGED_WITHIN = 60  # s, with all that is done to it meanwhile
HOLDS = (0.05, 2.5)  # s: less than a lease, and longer than one


class Attacker:
    """Does something to a member, and undoes it after a while."""

    def __init__(self, draw, spaces, cluster):
        self.draw = draw
        self.spaces = spaces
        self.cluster = cluster

    def strike(self, members):
        """Does one thing to one of them. From the thread that has started them, with whose end they
        end.
        """
        attack = self.draw.choice([self.kill, self.stop, self.isolate, self.cut])
        leader = self.cluster.leader()
        victim = self.cluster[self.draw.choice(sorted(members))]
        if leader is not None and leader.id in members and self.draw.random() < 0.5:
            victim = leader
        hold, delay = self.draw.uniform(*HOLDS), self.draw.uniform(0, 0.05)
        print(f"{attack.__name__} {victim.id} after {delay:.3f} s for {hold:.1f} s")
        time.sleep(delay)  # pause: at some time of the change
        undo = attack(victim)
        time.sleep(hold)  # pause: the fault lasts so long
        undo()

    def kill(self, node):
        node.kill()
        node.wait_exit()
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

    def __init__(self, new_cluster, algorithm, draw):
        self.draw = draw
        self.spaces = netns.Namespaces([*MACHINES, OPERATOR])
        hosts = {i: (self.spaces.addresses[i], netns.PORT) for i in MACHINES}
        self.members = {1, 2, 3}
        self.cluster = new_cluster(
            3, algorithm, hosts=hosts, flags=["--lease-max", "2s", "--forget-after", "0"]
        )
        for node in self.cluster:
            node.prefix = self.spaces.prefix(node.id)
        self.cluster.start()
        self.cluster.wait_leader()
        self.attacker = Attacker(draw, self.spaces, self.cluster)

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

    def done_under_fire(self, *changes):
        with concurrent.futures.ThreadPoolExecutor(1) as operator:
            all_done = operator.submit(lambda: [self.done(*words) for words in changes])
            self.attacker.strike(self.members)
            all_done.result()

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
        self.done_under_fire(("add", f"{node_id}={node.address}"), ("promote", str(node_id)))
        self.members.add(node_id)

    def goes(self, node_id):
        # First out of the configuration: when it is started again meanwhile it does not come back.
        self.cluster[node_id].join = None
        self.done_under_fire(("remove", str(node_id)))
        self.members.remove(node_id)
        node = self.cluster[node_id]
        self.cluster.wait_for(lambda: node.current.stream.events, f"node {node_id} runs")
        node.terminate()
        assert node.wait_exit() == 0

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


@on_both(3)
def test_three_become_five_and_three_others_under_fire(new_cluster, algorithm, n, draw):
    moving = Moving(new_cluster, algorithm, draw)
    try:
        for _ in rounds(1, 200):
            old = set(moving.members)
            for node_id in draw.sample(sorted(set(MACHINES) - old), 2):
                moving.comes(node_id)
            assert len(moving.members) == 5
            for node_id in draw.sample(sorted(old), 2):
                moving.goes(node_id)
            moving.settle()
        moving.cluster.check_intervals()
    finally:
        moving.spaces.close()
