"""Redis Sentinel: three Redis servers, a sentinel beside each, and redis-cli that listens to each.

The leader is the Redis server that is the primary; the sentinels agree on another when it is gone.
"""

import socket

from harness.events import now_ns
from peers.observer import FOLLOWS, LEADS, ObserverError
from peers.system import MEMBERS, Setting, System

GROUP = "bench"
PRIMARY = MEMBERS[0]
# The first leader is configured, so a first start elects nobody.
KINDS = ("crash", "hang", "handover")


def parse_switch(ports, line):
    """The meaning of a line of +switch-master: GROUP address port address port."""
    words = line.split()
    if len(words) != 5 or words[0] != GROUP:
        return []
    members = {str(port): member for member, port in ports.items()}
    return [(FOLLOWS, members[words[2]]), (LEADS, members[words[4]])]


class Sentinel(System):
    name = "redis-sentinel"
    package = "redis-sentinel"
    programs = ("redis-server", "redis-sentinel", "redis-cli")
    recipe = "the lines of `redis-cli subscribe +switch-master` at each sentinel"
    longest_s = 120.0
    settings = (
        Setting("as shipped (down after 30 s)", {"down": 30000}, True, KINDS),
        *(
            Setting(f"down after {down} ms", {"down": down}, False, KINDS)
            for down in (20, 50, 100, 200, 500, 1000)
        ),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.redis = {member: self.ports.take() for member in MEMBERS}
        self.sentinels = {member: self.ports.take() for member in MEMBERS}
        self.changed = False

    @property
    def period_s(self):
        return min(self.values["down"] / 1000, 1)

    def start(self):
        for member in MEMBERS:
            self._start_redis(member)
        self._wait_replicas()
        for member in MEMBERS:
            self.start_member(member)
        self.observer.set_leader(PRIMARY)

    def _start_redis(self, member):
        follow = [] if member == PRIMARY else ["--replicaof", f"127.0.0.1 {self.redis[PRIMARY]}"]
        flags = ["--port", self.redis[member], "--bind", "127.0.0.1", "--dir", self.directory]
        # Debian's default waits 5 s before a copy, for more replicas to come.
        flags += ["--save", "", "--repl-diskless-sync-delay", 0]
        self.spawn(f"redis-{member}", ["redis-server", *flags, *follow])

    def start_member(self, member):
        port = self.sentinels[member]
        lines = [
            f"port {port}",
            "bind 127.0.0.1",
            f"dir {self.directory}",
            f"sentinel monitor {GROUP} 127.0.0.1 {self.redis[PRIMARY]} 2",
            f"sentinel down-after-milliseconds {GROUP} {self.values['down']}",
            f"sentinel failover-timeout {GROUP} 180000",
            f"sentinel parallel-syncs {GROUP} 1",
        ]
        # A sentinel writes into its file, so that each start needs a new one.
        config = self.directory / f"sentinel-{member}.conf"
        config.write_text("\n".join(lines) + "\n")
        self.spawn(f"sentinel-{member}", ["redis-sentinel", config])
        self.observer.wait(lambda: self._ask(port, "PING"), "a sentinel", 10)
        self.spawn(
            f"listener-{member}",
            ["redis-cli", "-p", port, "subscribe", "+switch-master"],
            lambda line: parse_switch(self.redis, line),
            None,
        )

    def revive(self):
        """After a failover all is begun anew: sentinels take minutes to know all replicas again."""
        if self.all_run() and not self.changed:
            return
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.processes.clear()
        self.observer.pause(0.05)  # The last lines of the listeners.
        for member in MEMBERS:
            self.observer.forget(member)
        self.changed = False
        self.start()

    def _wait_replicas(self):
        def attached():
            told = self._ask(self.redis[PRIMARY], "INFO replication")
            return told.count("state=online") == len(MEMBERS) - 1

        self.observer.wait(attached, "both replicas", 30)

    @staticmethod
    def _ask(port, request):
        """The first part of an answer, empty without one."""
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                connection.sendall(f"{request}\r\n".encode())
                return connection.recv(1 << 16).decode(errors="replace")
        except OSError:
            return ""

    def leader_processes(self, member):
        return [self.processes[f"redis-{member}"].pid]

    def member_processes(self, member):
        return [self.processes[f"{part}-{member}"].pid for part in ("redis", "sentinel")]

    def hand_over(self, member):
        at_ns = now_ns()
        self._ask(self.sentinels[member], f"SENTINEL FAILOVER {GROUP}")
        self.changed = True
        return at_ns

    def claims(self, member):
        return True

    def two_lead_until(self, member, resumed_ns):
        """Until the resumed server itself no longer says that it is the primary."""
        limit_ns = resumed_ns + int(self.longest_s * 1e9)
        while (at_ns := now_ns()) < limit_ns:
            if "master" not in self._ask(self.redis[member], "ROLE"):
                self.changed = True
                return at_ns
            self.observer.pause(0.002)
        raise ObserverError("the resumed server remains a primary")

    def healthy(self):
        for port in self.sentinels.values():
            if "+OK 3 usable" not in self._ask(port, f"SENTINEL CKQUORUM {GROUP}"):
                return False
            replicas = self._ask(port, f"SENTINEL REPLICAS {GROUP}")
            if replicas.count("\r\nok\r\n") != 2 or "down" in replicas.split("down-after")[0]:
                return False
        return True
