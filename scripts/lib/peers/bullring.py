"""Bullring itself, by the same path as the others: its event stream on a pipe."""

import json

from harness.node import ROOT, clean_environment
from peers.observer import FOLLOWS, LEADS
from peers.system import MEMBERS, Setting, System

KINDS = {"elected": LEADS, "deposed": FOLLOWS}


def parse_event(member, line):
    """The meaning of a line of the event stream."""
    kind = KINDS.get(json.loads(line)["event"])
    return [(kind, member)] if kind else []


class Bullring(System):
    algorithm = ""
    programs = (str(ROOT / "build" / "bullring"),)
    recipe = "the lines `elected` and `deposed` of `bullring node --events -`"
    settings = (
        Setting("lan, as shipped", {"--profile": "lan"}, shipped=True),
        Setting(
            "lan, hang-after off",
            {"--profile": "lan", "--hang-after": "off"},
            shipped=True,
            kinds=("hang",),
        ),
        Setting("fast", {"--profile": "fast"}),
        Setting("lan", {"--profile": "lan"}),
    )

    def __init__(self, setting):
        super().__init__(setting)
        self.peers = ",".join(f"{member}=127.0.0.1:{self.ports.take()}" for member in MEMBERS)

    @classmethod
    def version(cls):
        return "this tree"

    def start_member(self, member):
        flags = {
            "--id": member,
            "--peers": self.peers,
            "--algorithm": self.algorithm,
            "--data-dir": self.directory / f"node-{member}",
            "--events": "-",
            **self.values,
        }
        words = [word for flag in flags.items() for word in flag]
        self.spawn(
            member,
            [*self.programs, "node", *words],
            lambda line: parse_event(member, line),
            member,
            environment=clean_environment(),
        )

    def leader_processes(self, member):
        return [self.processes[member].pid]


class Bully(Bullring):
    name = "bullring bully"
    algorithm = "bully"


class Ring(Bullring):
    name = "bullring ring"
    algorithm = "ring"
