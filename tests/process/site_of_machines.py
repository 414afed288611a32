"""Machines with addresses of their own, the nodes on them, and an operator who types what the
manual says.
"""

import json
import re
import shlex
import shutil
import subprocess

from harness import netns
from harness.node import Node
from harness.waiting import DEADLINE

NETWORK = "10.0.0"
TASK = ["sleep", "3600"]  # in place of COMMAND
OPERATOR = 7  # a machine without a node
# Short, so that nobody has to wait for it: the silence of an empty directory, and until members
# without a vote are forgotten.
SETTINGS = {"BULLRING_SECURITY": "none", "BULLRING_LEASE_MAX": "3s", "BULLRING_FORGET_AFTER": "1s"}


class PlacedNode(Node):
    """A node that is started by the words of a recipe, on the machine that they name."""

    machine = None
    words = ()

    def command(self, extra=()):
        return [*self.prefix, self.cluster.program, *self.words]


class Site:
    """Machines, the nodes on them, and an operator who types."""

    def __init__(self, network, cluster):
        self.network = network
        self.cluster = cluster
        algorithm = cluster.algorithm
        cluster.environment |= {**SETTINGS, "BULLRING_ALGORITHM": algorithm}
        self.peers = ""

    def found(self, n, command):
        self.peers = ",".join(f"{i}={NETWORK}.{i}:{netns.PORT}" for i in range(1, n + 1))
        rest = " -- COMMAND" if command == "run" else ""
        for node_id in range(1, n + 1):
            self.type(f"bullring {command} --id {node_id} --peers {self.peers}{rest}")
        self.cluster.wait_leader()

    def type(self, line):
        words = shlex.split(line)
        if words[0] == "#":
            self.do(line)
            return
        assert words[0] == "bullring", line
        if words[1] in ("node", "run"):
            self.start(words[1:])
            return
        node_id = int(words[3]) if words[1:3] == ["member", "refound"] else None
        done = self.run(*words[1:], on=node_id)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        # As the manual asks for after each change.
        if members := self.members():
            self.peers = ",".join(f"{m['id']}={m['address']}" for m in members)

    def do(self, comment):
        if comment == "# stop all nodes that are left":
            for node in self.cluster.acting:
                self.stop(node)
            return
        stop, address = re.fullmatch(
            rf"# stop node (\d+)(?:, and give its machine the address {NETWORK}\.(\d+))?", comment
        ).groups()
        node = self.cluster[int(stop)]
        self.stop(node)
        if address is not None:
            self.disk(node.machine).rename(self.disk(int(address)))

    def stop(self, node):
        assert node.stop() == 0

    def start(self, words):
        node_id = int(words[words.index("--id") + 1])
        address = re.search(rf"\b{node_id}={NETWORK}\.(\d+):{netns.PORT}", " ".join(words))
        node = self.cluster.nodes.get(node_id) or PlacedNode(self.cluster, node_id, "", netns.PORT)
        # One that joins says where it listens by the address that the others see.
        node.machine = int(address[1]) if address else node_id
        node.prefix = self.network.prefix(node.machine)
        node.words = [*words[:-1], *TASK] if words[-1] == "COMMAND" else words
        events = f"{node.data_dir}.{len(node.incarnations)}.events"
        node.environment = {"BULLRING_EVENTS": events, "XDG_STATE_HOME": self.disk(node.machine)}
        self.cluster.nodes[node_id] = node
        if "--peers" in words:
            self.peers = words[words.index("--peers") + 1]
        node.start()
        self.cluster.wait_for(lambda: node.current.stream.events, f"node {node_id} runs")

    def disk(self, machine):
        return self.cluster.directory / f"machine-{machine}"

    def lose(self, node_id):
        node = self.cluster[node_id]
        node.crash()
        shutil.rmtree(self.disk(node.machine))

    def run(self, *words, on=None):
        """A command of the operator, on a machine of its own or that of a node."""
        machine = OPERATOR if on is None else self.cluster[on].machine
        return subprocess.run(
            [*self.network.prefix(machine), self.cluster.program, *words],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            env=self.cluster.environment
            | {"XDG_STATE_HOME": str(self.disk(machine)), "BULLRING_PEERS": self.peers},
        )

    def members(self):
        listed = self.run("member", "list", "--json")
        return json.loads(listed.stdout)["members"] if listed.returncode == 0 else []

    def votes(self):
        return {member["id"]: member["vote"] for member in self.members()}
