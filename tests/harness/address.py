"""Hosts on a switch that share an address, and one more host, which watches who has it."""

import json
import os
import pathlib
import socket
import statistics
import struct
import subprocess

from harness import netns
from harness import system_calls
from harness.cluster import Cluster
from harness.node import ClusterError, python_environment
from harness.safety import SafetyViolation
from harness.waiting import DEADLINE

WATCH = str(pathlib.Path(__file__).with_name("programs") / "address_watch.py")
WATCHER = 9  # not a node: the ID of the host that watches
IPV4, IPV6 = "10.99.0.99", "fd99::99"
_TTL_BASE = 100  # as the watch has it
_RTM_NEWADDR, _NEW_WITH_ANSWER = 20, 0x405  # NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE
_IFA_ADDRESS, _IFA_LOCAL, _IFA_CACHEINFO, _IFA_PROTO = 1, 2, 6, 11
_MARK = 177


class Watch:
    """The observations of address_watch.py so far."""

    def __init__(self, spaces, nodes, address):
        named = [f"{node}={spaces.path(node)}" for node in nodes]
        self._process = subprocess.Popen(
            [*spaces.prefix(WATCHER), "python3", "-B", "-S", WATCH, address, *named],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=python_environment(),
        )
        os.set_blocking(self._process.stdout.fileno(), False)
        self._rest = b""
        self.seen = []
        self.held = []

    def poll(self):
        while chunk := self._process.stdout.read():
            lines = (self._rest + chunk).split(b"\n")
            self._rest = lines.pop()
            self.seen += [json.loads(line) for line in lines]
        if self._process.poll() is not None:
            raise ClusterError(f"the watch has ended with {self._process.returncode}")
        self.held = next((one["held"] for one in reversed(self.seen) if "held" in one), [])
        if overlaps := [one for one in self.seen if "overlap" in one]:
            raise SafetyViolation(f"two hosts had the address at one time: {overlaps}\n{self.seen}")

    def first_answer(self, after_ns, others_than):
        """When a node that is none of these has first answered a ping since, None: not yet."""
        for one in self.seen:
            if one["ns"] > after_ns and one.get("echo", others_than) != others_than:
                return one
        return None

    def late_since(self, since_ns):
        """How long the watch itself stood still since, at most, in milliseconds."""
        return max((one.get("late_ms", 0) for one in self.seen if one["ns"] > since_ns), default=0)

    def forget(self):
        """Forgets the time before a fault, which does not count for the next one."""
        self.seen = [{"ns": 0, "held": self.held}]

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Hosts:
    """A cluster of `bullring address`, each node on a host of its own. Use close()."""

    def __init__(self, n=3, algorithm="bully", held=(f"{IPV4}/24",), flags=(), make=Cluster):
        self.spaces = netns.Bridge([*range(1, n + 1), WATCHER])
        addresses = self.spaces.addresses
        hosts = {node: (addresses[node], netns.PORT) for node in range(1, n + 1)}
        self.cluster = make(n, algorithm, hosts=hosts, flags=flags)
        for node in self.cluster:
            node.prefix = self.spaces.prefix(node.id)
            node.held = [*held, "--dev", "eth0"]
            self._mark_answers(node.id)
        self.watch = Watch(self.spaces, hosts, held[0].split("/")[0])

    def _mark_answers(self, node):
        """By the number of hops that they could still go."""
        for name in ("ipv4/ip_default_ttl", "ipv6/conf/all/hop_limit", "ipv6/conf/eth0/hop_limit"):
            path = f"/proc/sys/net/{name}"
            self.spaces.write(node, path, str(_TTL_BASE + node))

    def wait_for(self, predicate, what, deadline=DEADLINE):
        def look():
            self.watch.poll()
            return predicate()

        return self.cluster.wait_for(look, what, deadline)

    def wait_held(self):
        """The leader, once it alone has the address and nothing holds up an election: all have
        promised themselves to it, and none what it promised before its restart."""
        longest_ms = self.cluster.timing.promise_s * 1000

        def settled():
            leader = self.cluster.agreed_leader()
            if leader is None or self.watch.held != [leader.id]:
                return None
            prefix = self.spaces.prefix(WATCHER)
            nodes = self.cluster.status(prefix=prefix)["nodes"]
            ready = [
                node
                for node in nodes
                if node["promised_to"] == leader.id and node["uptime_ms"] > longest_ms
            ]
            return leader if len(ready) == self.cluster.size else None

        return self.wait_for(settled, "the leader holds the address")

    def wait_taken_over(self, old, at_ns):
        """How long after `at_ns` another one than `old` has first answered, in milliseconds."""
        answer = self.wait_for(
            lambda: self.watch.first_answer(at_ns, old.id), "another host answers for the address"
        )
        return (answer["ns"] - at_ns) / 1e6

    def close(self):
        self.watch.close()
        self.spaces.close()


def leave_behind(spaces, node_id, address, device):
    """Puts an IPv4 address on as a holder does, with its mark, but for a minute: the iproute2 of
    Debian 12 knows no mark."""
    host, prefix = address.split("/")
    packed = socket.inet_aton(host)
    lifetime = struct.pack("=IIII", 60, 60, 0, 0)
    attributes = [(_IFA_LOCAL, packed), (_IFA_ADDRESS, packed), (_IFA_CACHEINFO, lifetime)]
    body = b"".join(
        struct.pack("=HH", 4 + len(value), kind) + value for kind, value in attributes
    ) + struct.pack("=HHBxxx", 5, _IFA_PROTO, _MARK)
    with system_calls.inside(spaces.path(node_id)):
        link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        index = socket.if_nametoindex(device)
    with link:
        wanted = struct.pack("=BBBBI", socket.AF_INET, int(prefix), 0, 0, index) + body
        head = struct.pack("=IHHII", 16 + len(wanted), _RTM_NEWADDR, _NEW_WITH_ANSWER, 1, 0)
        link.sendto(head + wanted, (0, 0))
        error = struct.unpack_from("=i", link.recv(4096), 16)[0]
        assert error == 0, os.strerror(-error)


def told(times_ms):
    """The figures of some failovers, as a line."""
    ordered = sorted(times_ms)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return (
        f"{len(ordered)} faults, reachable again after {statistics.median(ordered):.2f} ms "
        f"(median), {p99:.2f} ms (p99), {ordered[-1]:.2f} ms (most)"
    )
