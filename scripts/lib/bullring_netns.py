"""A network of namespaces, one a node, in which the way from any node to any other can be cut.

Needs root and iproute2, nothing else. The nodes hang on a router of their own; a cut is a rule in
the router that drops what goes from one address to another, so each direction is cut by itself.
"""

import atexit
import os
import shutil
import subprocess

PORT = 7100


def unavailable():
    """Why namespaces can't be had here, None if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    probe = f"bullring-{os.getpid()}-probe"
    tried = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"ip netns add: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", probe], check=True)
    return None


class Namespaces:
    """Use close(), or the end of the process, to remove them again."""

    _made = 0

    def __init__(self, ids):
        Namespaces._made += 1
        self._base = f"bullring-{os.getpid()}-{Namespaces._made}"
        self._router = f"{self._base}-router"
        self._spaces = []
        self._cuts = set()
        self.addresses = {}
        atexit.register(self.close)
        self._add(self._router)
        self._in(self._router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        for number, node_id in enumerate(ids, 1):
            self._attach(number, node_id)

    def _attach(self, number, node_id):
        space = self._name(node_id)
        self._add(space)
        port = f"port{number}"
        self._ip(
            "link",
            "add",
            port,
            "netns",
            self._router,
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            space,
        )
        net = f"10.99.{number}"
        self._ip("-n", self._router, "addr", "add", f"{net}.1/24", "dev", port)
        self._ip("-n", self._router, "link", "set", port, "up")
        self._ip("-n", space, "addr", "add", f"{net}.2/24", "dev", "eth0")
        self._ip("-n", space, "link", "set", "lo", "up")
        self._ip("-n", space, "link", "set", "eth0", "up")
        self._ip("-n", space, "route", "add", "default", "via", f"{net}.1")
        self.addresses[node_id] = f"{net}.2"

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

    def prefix(self, node_id):
        """What runs a command in a node's namespace, as the same process."""
        return ["ip", "netns", "exec", self._name(node_id)]

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
            self._router,
            "rule",
            action,
            "from",
            self.addresses[source],
            "to",
            self.addresses[target],
            "blackhole",
        )

    def close(self):
        for space in self._spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
        self._spaces = []
        atexit.unregister(self.close)
