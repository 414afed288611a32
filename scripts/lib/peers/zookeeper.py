"""ZooKeeper: three servers, and three clients that contend by kazoo's election recipe.

The leader by the recipe is the client with the lowest ephemeral sequential node; when it dies, its
session has to end. The ensemble's own leader is another one, and is measured beside it.
"""

import pathlib

from peers.observer import FOLLOWS, LEADS, WAITS
from peers.service import Service
from peers.system import ALWAYS, MEMBERS, Setting

# The second writes the server's log to its errors.
JARS = ("/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar")
# Debian's own: another has no kazoo.
PYTHON = "/usr/bin/python3"
_SAYS = {"leads": LEADS, "follows": FOLLOWS, "waits": WAITS}


def parse_client(member, line):
    """The meaning of a line of a client; corosync's client writes the same."""
    return [(_SAYS[line], member)] if line in _SAYS else []


class Zookeeper(Service):
    name = "zookeeper"
    package = "zookeeper"
    programs = ("java", PYTHON, *JARS, "/usr/lib/python3/dist-packages/kazoo")
    recipe = "a line of a client with kazoo's Election"
    longest_s = 60.0
    settings = (
        Setting("as shipped (tick 2 s, session 10 s)", {"tick": 2000, "session": 10}, shipped=True),
        *(
            # A session is at least two ticks; the server ends it on a tick.
            Setting(
                f"tick {tick} ms, session {session} s",
                {"tick": tick, "session": session},
                kinds=(*ALWAYS, "service crash"),
            )
            for tick, session in ((50, 0.2), (100, 0.4), (200, 0.8), (500, 1.5), (1000, 3))
        ),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.clients = {member: self.ports.take() for member in MEMBERS}
        lines = [
            f"tickTime={self.values['tick']}",
            # Times of the ensemble are in ticks: Debian's, in seconds as shipped.
            f"initLimit={20000 // self.values['tick']}",
            f"syncLimit={10000 // self.values['tick']}",
            "admin.enableServer=false",
            *(
                f"server.{member}=127.0.0.1:{self.ports.take()}:{self.ports.take()}"
                for member in MEMBERS
            ),
        ]
        for member, port in self.clients.items():
            data = self.directory / f"data-{member}"
            data.mkdir()
            (data / "myid").write_text(f"{member}\n")
            own = [f"dataDir={data}", f"clientPort={port}", "clientPortAddress=127.0.0.1"]
            (self.directory / f"zoo-{member}.cfg").write_text("\n".join([*lines, *own]) + "\n")

    @property
    def period_s(self):
        return self.values["session"] / 3

    def start_member(self, member):
        self.spawn_server(
            member,
            [
                *("java", "-Dzookeeper.jmx.log4j.disable=true", "-cp", ":".join(JARS)),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                self.directory / f"zoo-{member}.cfg",
            ],
        )
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.clients.values())
        self.spawn(
            f"client-{member}",
            [
                PYTHON,
                pathlib.Path(__file__).with_name("zookeeper_client.py"),
                *(hosts, self.values["session"]),
            ],
            lambda line: parse_client(member, line),
            member,
        )

    @staticmethod
    def leads_service(line):
        return "LEADING - LEADER ELECTION TOOK" in line

    def healthy(self):
        return len(self.observer.waiting) == len(MEMBERS) - 1
