"""keepalived: three VRRP routers in namespaces on one bridge; each tells its state by a FIFO.

There is no quorum and no lease: who hears nobody better is the master.
"""

import os

from peers.bridge import Bridge
from peers.observer import FOLLOWS, LEADS
from peers.system import MEMBERS, Setting, System, children

STATES = {"MASTER": LEADS, "BACKUP": FOLLOWS, "FAULT": FOLLOWS, "STOP": FOLLOWS}


def parse_state(member, line):
    """The meaning of a line of notify_fifo: INSTANCE "bench" MASTER 101."""
    words = line.split()
    if len(words) < 3 or words[0] != "INSTANCE" or words[2] not in STATES:
        return []
    return [(STATES[words[2]], member)]


class Keepalived(System):
    name = "keepalived"
    package = "keepalived"
    programs = ("keepalived", "ip")
    needs_root = True
    recipe = "the lines of keepalived's notify_fifo"
    settings = (
        Setting("as shipped (advert_int 1 s)", {"advert": 1}, shipped=True),
        *(
            Setting(f"VRRPv3, advert_int {advert * 1000:.0f} ms", {"advert": advert, "version": 3})
            for advert in (0.01, 0.02, 0.05, 0.1, 0.3)
        ),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.bridge = Bridge(MEMBERS)
        for member in MEMBERS:
            fifo = self.directory / f"fifo-{member}"
            os.mkfifo(fifo)
            # Open for both, so that it does not end when keepalived does.
            file = open(os.open(fifo, os.O_RDWR), "rb", buffering=0)
            self.observer.watch(file, member, lambda line, member=member: parse_state(member, line))
            (self.directory / f"keepalived-{member}.conf").write_text(self._config(member, fifo))

    def _config(self, member, fifo):
        version = [f"vrrp_version {self.values['version']}"] if "version" in self.values else []
        return "\n".join(
            [
                "global_defs {",
                f"notify_fifo {fifo}",
                *version,
                "}",
                "vrrp_instance bench {",
                "state BACKUP",
                "interface eth0",
                "virtual_router_id 51",
                f"priority {100 + member}",
                f"advert_int {self.values['advert']}",
                "virtual_ipaddress {",
                "10.99.0.100/24",
                "}",
                "}\n",
            ]
        )

    @property
    def period_s(self):
        return self.values["advert"]

    def start_member(self, member):
        self.spawn(
            member,
            [
                *self.bridge.private_prefix(member),
                *("keepalived", "--dont-fork", "--log-console", "--vrrp"),
                *("--use-file", self.directory / f"keepalived-{member}.conf"),
                *("--pid", self.directory / f"pid-{member}"),
                *("--vrrp_pid", self.directory / f"vrrp-pid-{member}"),
            ],
        )

    def leader_processes(self, member):
        """The process that was started, and the one of VRRP that it has started."""
        pid = self.processes[member].pid
        return [pid, *children(pid)]

    def healthy(self):
        """All run, and the highest, who takes the address back when it returns, has it."""
        return self.observer.leading == {max(MEMBERS)} and all(map(self.running, MEMBERS))

    def end(self, process):
        process.terminate()

    def close(self):
        super().close()
        self.bridge.close()
