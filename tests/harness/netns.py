"""Networks of namespaces, one a node. Need root and iproute2, nothing else.

In one the nodes hang on a router of their own, and the way from any node to any other can be cut: a
cut is a rule in the router that drops what goes from one address to another, so each direction is
cut by itself. In the other they hang on a switch, as hosts that share an address do.
"""

import atexit
import json
import os
import secrets
import shutil
import subprocess

PORT = 7100


def unavailable():
    """Why namespaces can't be had here, None if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    probe = f"bullring-{secrets.token_hex(4)}-probe"
    tried = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"ip netns add: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", probe], check=True)
    return None


class Spaces:
    """A namespace in the middle, and one for each ID, with eth0 that leads to the middle one.

    Use close(), or the end of the process, to remove them again.
    """

    def __init__(self):
        # Not of the process's ID: one that was killed has left its own behind.
        self._base = f"bullring-{secrets.token_hex(4)}"
        self._middle = f"{self._base}-middle"
        self._spaces = []
        self.addresses = {}
        atexit.register(self.close)
        self._add(self._middle)

    def _link(self, port, node_id):
        """The namespace of that ID, whose eth0 is connected with `port` in the middle."""
        space = self._name(node_id)
        self._add(space)
        peer = ["peer", "name", "eth0", "netns", space]
        self._ip("link", "add", port, "netns", self._middle, "type", "veth", *peer)
        self._ip("-n", self._middle, "link", "set", port, "up")
        self._ip("-n", space, "link", "set", "lo", "up")
        self._ip("-n", space, "link", "set", "eth0", "up")
        return space

    def _name(self, node_id):
        return f"{self._base}-{node_id}"

    def _add(self, space):
        self._ip("netns", "add", space)
        self._spaces.append(space)

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def _in(self, space, *words):
        subprocess.run(["ip", "netns", "exec", space, *words], check=True, capture_output=True)

    @staticmethod
    def _path(space):
        return f"/run/netns/{space}"

    def path(self, node_id):
        """By which setns(2) enters a node's namespace."""
        return self._path(self._name(node_id))

    def prefix(self, node_id):
        """The words that run a command in a node's namespace, as the same process."""
        return ["ip", "netns", "exec", self._name(node_id)]

    def close(self):
        for space in self._spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
        self._spaces = []
        atexit.unregister(self.close)


class Namespaces(Spaces):
    """The one in the middle is a router."""

    def __init__(self, ids):
        super().__init__()
        self._cuts = set()
        self._in(self._middle, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        for number, node_id in enumerate(ids, 1):
            self._attach(number, node_id)

    def _attach(self, number, node_id):
        port = f"port{number}"
        space = self._link(port, node_id)
        net = f"10.99.{number}"
        self._ip("-n", self._middle, "addr", "add", f"{net}.1/24", "dev", port)
        self._ip("-n", space, "addr", "add", f"{net}.2/24", "dev", "eth0")
        self._ip("-n", space, "route", "add", "default", "via", f"{net}.1")
        self.addresses[node_id] = f"{net}.2"

    def cut_way(self, source, target):
        """Packets from source to target are lost from now on; the other direction is untouched."""
        if (source, target) not in self._cuts:
            self._cuts.add((source, target))
            self._rule("add", source, target)

    def cut_link(self, one, other):
        self.cut_way(one, other)
        self.cut_way(other, one)

    def isolate(self, node_id, still=()):
        """Cuts a node off from all but those in `still`."""
        for other in self.addresses:
            if other != node_id and other not in still:
                self.cut_link(node_id, other)

    def heal(self):
        for source, target in self._cuts:
            self._rule("del", source, target)
        self._cuts.clear()

    def _rule(self, action, source, target):
        self._ip(
            "-n",
            self._middle,
            "rule",
            action,
            "from",
            self.addresses[source],
            "to",
            self.addresses[target],
            "blackhole",
        )


class Bridge(Spaces):
    """The one in the middle is a switch: all are on one network, NETWORK.0/24 and fd99::/64."""

    def __init__(self, ids, network="10.99.0"):
        super().__init__()
        self._network = network
        self._ip("-n", self._middle, "link", "add", "switch", "type", "bridge")
        self._ip("-n", self._middle, "link", "set", "switch", "up")
        self._number = {}
        for number, node_id in enumerate(ids, 1):
            self._number[node_id] = number
            self._attach(number, node_id)

    def _attach(self, number, node_id):
        space = self._link(f"port{number}", node_id)
        self.plug(node_id)
        self._ip("-n", space, "addr", "add", f"{self._network}.{number}/24", "dev", "eth0")
        self._ip("-n", space, "addr", "add", f"fd99::{number}/64", "dev", "eth0", "nodad")
        self.addresses[node_id] = f"{self._network}.{number}"

    def add_card(self, node_id, name):
        """One more interface of that host, on the same network."""
        port = f"{self._port(node_id)}-{name}"
        peer = ["peer", "name", name, "netns", self._name(node_id)]
        self._ip("link", "add", port, "netns", self._middle, "type", "veth", *peer)
        self._ip("-n", self._middle, "link", "set", port, "up", "master", "switch")
        self.ip(node_id, "link", "set", name, "up")

    def hardware_address(self, node_id, name):
        shown = ["ip", "-n", self._name(node_id), "-json", "link", "show", "dev", name]
        found = subprocess.run(shown, check=True, capture_output=True, text=True).stdout
        return json.loads(found)[0]["address"]

    def ip(self, node_id, *words):
        """iproute2 in a node's namespace."""
        self._ip("-n", self._name(node_id), *words)

    def write(self, node_id, path, text):
        """Into a file below /proc/sys/net, as a node's namespace has it."""
        self._in(self._name(node_id), "sh", "-c", f"echo {text} > {path}")

    def addresses_of(self, node_id, *words):
        """The output of iproute2 for all interfaces there."""
        shown = ["ip", "-n", self._name(node_id), "-o", "addr", "show", *words]
        return subprocess.run(shown, check=True, capture_output=True, text=True).stdout

    def unplug(self, node_id):
        """Nothing passes any more; the node's interface still has its carrier."""
        self._ip("-n", self._middle, "link", "set", self._port(node_id), "nomaster")

    def plug(self, node_id):
        self._ip("-n", self._middle, "link", "set", self._port(node_id), "master", "switch")

    def carrier(self, node_id, on):
        """Of the node's interface, as if somebody pulled the cable."""
        self._ip("-n", self._middle, "link", "set", self._port(node_id), "up" if on else "down")

    def _port(self, node_id):
        return f"port{self._number[node_id]}"
