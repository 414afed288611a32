"""etcd: three servers, and three clients that campaign by etcdctl's own recipes.

The leader by the recipe is the client whose key is the oldest; when it dies, its lease has to end.
The servers' own leader (Raft) is another one, and is measured beside it.
"""

import subprocess

from peers.observer import LEADS
from peers.service import Service
from peers.system import ALWAYS, MEMBERS, Setting

ELECTION = "bench"
_RAFT = {"heartbeat": 100, "election": 1000}


class Etcd(Service):
    name = "etcd"
    package = "etcd-server"
    programs = ("etcd", "etcdctl")
    recipe = "the lines of `etcdctl elect` (which has a TTL of 60 s) or `etcdctl lock --ttl`"
    settings = (
        Setting("elect, as shipped (60 s)", {"ttl": None, **_RAFT}, shipped=True),
        Setting("lock, as shipped (10 s)", {"ttl": 10, **_RAFT}, shipped=True),
        *(
            Setting(
                f"lock --ttl {ttl}, raft {heartbeat}/{election} ms",
                {"ttl": ttl, "heartbeat": heartbeat, "election": election},
                kinds=(*ALWAYS, "service crash"),
            )
            # A TTL is whole seconds, and at least one and a half times the election timeout.
            for ttl, heartbeat, election in ((1, 10, 100), (1, 50, 500), (2, 100, 1000))
        ),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.longest_s = 90.0 if self.values["ttl"] is None else 30.0
        self.clients = {member: f"127.0.0.1:{self.ports.take()}" for member in MEMBERS}
        self.peers = {member: f"127.0.0.1:{self.ports.take()}" for member in MEMBERS}
        self.endpoints = ",".join(self.clients.values())

    @property
    def period_s(self):
        return (self.values["ttl"] or 60) / 3

    def start_member(self, member):
        client, peer = f"http://{self.clients[member]}", f"http://{self.peers[member]}"
        everyone = ",".join(f"{other}=http://{at}" for other, at in self.peers.items())
        self.spawn_server(
            member,
            [
                *("etcd", "--name", member, "--data-dir", self.directory / f"data-{member}"),
                *("--listen-client-urls", client, "--advertise-client-urls", client),
                *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
                *("--initial-cluster", everyone, "--initial-cluster-state", "new"),
                *("--heartbeat-interval", self.values["heartbeat"]),
                *("--election-timeout", self.values["election"]),
            ],
        )
        if self.values["ttl"] is None:
            recipe = ["elect", ELECTION, f"member-{member}"]
        else:
            recipe = ["lock", "--ttl", self.values["ttl"], ELECTION]
        self.spawn(
            f"client-{member}",
            # While the servers are being started, the first dial may take longer than usual.
            ["etcdctl", "--endpoints", self.endpoints, "--dial-timeout", "30s", *recipe],
            lambda line: [(LEADS, member)],
            member,
        )

    def healthy(self):
        """Each client has its key in the queue, and no dead one has."""
        shown = subprocess.run(
            ["etcdctl", "--endpoints", self.endpoints, "get", "--prefix", ELECTION, "--keys-only"],
            capture_output=True,
            text=True,
        )
        return len(shown.stdout.split()) == len(MEMBERS)

    @staticmethod
    def leads_service(line):
        """By Raft."""
        return "became leader at term" in line
