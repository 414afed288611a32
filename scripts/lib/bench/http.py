#!/usr/bin/env python3
"""Measures how much slower a crash is found while HTTP clients keep all nodes busy.

Blocks of crashes take turns: without clients ("alone"), with requests to as many servers that are
no nodes ("elsewhere"), with event streams of all nodes ("streams"), and with those and requests to
all nodes ("http").
"""

import argparse
import json
import random
import signal
import sys
import time

from bench.cases import Case, Runner
from bench.http_load import (
    CONNECTIONS,
    STREAMS,
    Generator,
    OtherServer,
    Place,
    Streams,
    check_programs,
    wait_until_all_ask,
)
from bench.http_report import MODES, print_results, results
from bench.steady import conditions
from harness.events import EventError
from harness.node import ClusterError
from script_main import run_main

ROUNDS = 10  # of a block
# Before each kill: the rate and the answers of this time are told.
WINDOW_NS = 100_000_000


class HttpRunner(Runner):
    """One cluster, and the crashes of all blocks."""

    def __init__(self, case, rate):
        super().__init__(case, None)
        self.rate = rate
        self.place = Place()
        self.servers = []
        self.mode = "alone"
        self.clients = {}  # of a node: what it was when they began, and they themselves
        self.generators = []  # of this block, also those that are closed
        self.kills_ns = []  # of this block, by the wall clock
        self.times = {mode: [] for mode in MODES}
        self.answers = {mode: [] for mode in MODES}
        self.windows_ns = dict.fromkeys(MODES, 0)
        self.events = 0
        for node in self.cluster:
            node.http = self.cluster.ports.take()
            node.flags = ["--http", f"127.0.0.1:{node.http}"]

    def run(self, blocks):
        try:
            for _ in self.cluster:
                self.servers.append(OtherServer(self.place, self.cluster.ports.take()))
            self.cluster.start()
            self.cluster.wait_settled()
            for _ in range(blocks):
                # Not always in one order, for what one block leaves behind is in the next.
                for mode in random.sample(MODES, len(MODES)):
                    self._block(mode)
            self.cluster.check_intervals()
        finally:
            self._end_clients(list(self.clients))
            for server in self.servers:
                server.close()
            self.cluster.close()
            self.place.close()
        return self

    def _block(self, mode):
        self.mode = mode
        self.samples, self.generators, self.kills_ns = self.times[mode], [], []
        for _ in range(ROUNDS):
            self.crash()
        self._end_clients(list(self.clients))
        self._count()

    def _settled_leader(self):
        """The leader, when all clients have been asking for a while."""
        super()._settled_leader()
        self._start_clients()
        leader = super()._settled_leader()
        self.kills_ns.append(time.time_ns())
        return leader

    def _start_clients(self):
        if self.mode == "alone":
            return
        for node, server in zip(self.cluster, self.servers):
            serves = server if self.mode == "elsewhere" else node.current
            if node in self.clients and self.clients[node][0] is serves:
                continue
            self._end_clients([node] if node in self.clients else [])
            self.clients[node] = (serves, self._clients_of(node, server))
        wait_until_all_ask([one for _, clients in self.clients.values() for one in clients])
        # The rate is told of the time before a kill, and they have to ask for as long.
        time.sleep(WINDOW_NS / 1e9)

    def _clients_of(self, node, server):
        clients = []
        if self.mode != "streams":
            port = server.port if self.mode == "elsewhere" else node.http
            clients.append(Generator(self.place, port, self.rate / self.case.nodes))
            self.generators += clients
        if self.mode != "elsewhere":
            clients.append(Streams(self.place, node.http))
        return clients

    def _end_clients(self, nodes):
        for node in nodes:
            for one in self.clients.pop(node)[1]:
                one.close()
                self.events += one.events()

    def _count(self):
        """Counts the requests in the windows of this block."""
        windows = [(killed_ns - WINDOW_NS, killed_ns) for killed_ns in self.kills_ns]
        self.windows_ns[self.mode] += WINDOW_NS * len(windows)
        for generator in self.generators:
            self.answers[self.mode] += [
                request
                for request in generator.requests()
                if any(begin <= request.sent_ns < end for begin, end in windows)
            ]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench http", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 blocks of each kind, not 30")
    parser.add_argument("--blocks", type=int, metavar="B", help="so many blocks of each kind")
    parser.add_argument("--nodes", type=int, choices=(3, 5, 7), default=3, help="3 by default")
    parser.add_argument(
        "--rate", type=int, default=10_000, metavar="R", help="requests/s of all; 10000 by default"
    )
    parser.add_argument("--json", metavar="FILE", help="write the results and all samples there")
    arguments = parser.parse_args()
    for name in ("blocks", "rate"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            parser.error(f"--{name} {value}: must be at least 1")
    return arguments


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    check_programs()
    blocks = arguments.blocks or (3 if arguments.quick else 30)
    case = Case("crash", "bully", arguments.nodes, "lan", ROUNDS * blocks)
    where = conditions() | {
        "case": case.name,
        "rate": arguments.rate,
        "connections": f"{CONNECTIONS} a node",
        "streams": f"{STREAMS} a node",
    }
    print(", ".join(f"{key} {value}" for key, value in where.items()))
    print(f"{blocks} blocks of {ROUNDS} crashes of each kind\n", flush=True)
    began = time.monotonic()
    found = results(HttpRunner(case, arguments.rate).run(blocks))
    print_results(found)
    print(f"\n{time.monotonic() - began:.0f} s")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"conditions": where, **found}, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    run_main(main, "scripts/bench", (ClusterError, EventError, OSError))
