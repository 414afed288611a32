"""Corosync: three nodes in namespaces on one bridge, and a client of libquorum beside each.

Corosync names no leader. The usual rule on top of it: the lowest ID of a quorate membership leads.
"""

import pathlib
import sys

from peers.bridge import Bridge
from peers.system import MEMBERS, Setting, System
from peers.zookeeper import parse_client


class Corosync(System):
    name = "corosync"
    package = "corosync"
    programs = ("corosync", "/usr/lib/x86_64-linux-gnu/libquorum.so.5", "ip")
    needs_root = True
    recipe = "a line of a client of libquorum: quorate, and the lowest ID"
    longest_s = 30.0
    settings = (
        Setting("as shipped (token 3 s)", {"token": None}, shipped=True),
        *(Setting(f"token {token} ms", {"token": token}) for token in (100, 200, 400, 1000)),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.bridge = Bridge(MEMBERS)
        token = self.values["token"]
        lines = ["totem {", "version: 2", "cluster_name: bench", "transport: knet"]
        lines += ["crypto_cipher: none", "crypto_hash: none"]
        if token:
            # consensus is 1.2 tokens by itself; the coefficient would add 650 ms for the third.
            lines += [f"token: {token}", "token_coefficient: 0"]
        lines += ["}", "logging {", "to_stderr: yes", "to_syslog: no", "}"]
        lines += ["quorum {", "provider: corosync_votequorum", "}", "nodelist {"]
        for member, address in self.bridge.addresses.items():
            lines += ["node {", f"name: member-{member}", f"nodeid: {member}"]
            lines += [f"ring0_addr: {address}", "}"]
        lines += ["}", "system {"]
        for member in MEMBERS:
            state = self.directory / f"state-{member}"
            state.mkdir()
            (self.directory / f"corosync-{member}.conf").write_text(
                "\n".join([*lines, f"state_dir: {state}", "}"]) + "\n"
            )

    @property
    def period_s(self):
        return (self.values["token"] or 3000) / 4000

    def start_member(self, member):
        config = self.directory / f"corosync-{member}.conf"
        self.spawn(
            f"corosync-{member}",
            [*self.bridge.private_prefix(member), "corosync", "-f", "-c", config],
        )
        client = pathlib.Path(__file__).with_name("corosync_client.py")
        self.spawn(
            f"client-{member}",
            [*self.bridge.prefix(member), sys.executable, client, member],
            lambda line: parse_client(member, line),
            member,
        )

    def leader_processes(self, member):
        return [self.processes[f"{part}-{member}"].pid for part in ("corosync", "client")]

    def healthy(self):
        return len(self.observer.waiting) == len(MEMBERS) - 1

    def close(self):
        super().close()
        self.bridge.close()
