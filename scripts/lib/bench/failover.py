"""One crash of a leader, step by step: every message and event of all nodes on one clock.

Tracing costs time of its own, so the figures are larger than the bench's; the order and the
proportions are what it shows.
"""

import json

from bench.cases import crash
from harness.cluster import Cluster

ROUNDS = 11
NODES = 5
AFTER_NS = 2_000_000


def show_failover(algorithm):
    """Prints the round whose time is the median of a few."""
    with Cluster(NODES, algorithm, label="failover") as cluster:
        for node in cluster:
            _trace_to_file(node)
            node.start()
        rounds = sorted((_crash(cluster) for _ in range(ROUNDS)), key=lambda found: found[0])
        took_ns, killed_ns, leader, elected = rounds[len(rounds) // 2]
        print(
            f"{algorithm}, {NODES} nodes, lan: node {leader} is killed, node {elected['node']} is"
            f" elected {took_ns / 1e6:.3f} ms later (median of {ROUNDS} crashes, while traced)\n"
        )
        until_ns = elected["ts_ns"] + AFTER_NS
        for ts_ns, node, text in _lines(cluster, killed_ns, until_ns):
            print(f"{(ts_ns - killed_ns) / 1e6:9.3f} ms  node {node}  {text}")


def _trace_file(node):
    return f"{node.data_dir}.{len(node.incarnations)}.trace"


def _trace_to_file(node):
    node.flags = ["--trace", _trace_file(node)]


def _crash(cluster):
    leader = cluster.wait_settled()
    killed_ns, elected = crash(leader)
    leader.wait_exit()
    _trace_to_file(leader)
    leader.start()
    cluster.wait_settled()
    return elected["ts_ns"] - killed_ns, killed_ns, leader.id, elected


def _lines(cluster, from_ns, until_ns):
    found = []
    for node in cluster:
        for path in sorted(node.data_dir.parent.glob(f"{node.data_dir.name}.*.trace")):
            for line in path.read_text().splitlines():
                told = json.loads(line)
                if told["dir"] != "event":  # the event streams have those
                    found.append((told["ts_ns"], node.id, _message(told)))
    for event in cluster.events():
        detail = {
            key: event[key]
            for key in ("peer", "reason", "leader", "epoch", "grants")
            if key in event
        }
        words = " ".join(f"{key} {value}" for key, value in detail.items())
        found.append((event["ts_ns"], event["node"], f"*** {event['event']} {words}"))
    return sorted(line for line in found if from_ns <= line[0] <= until_ns)


def _message(told):
    arrow = "->" if told["dir"] == "send" else "<-"
    epoch = f" epoch {told['epoch']}" if "epoch" in told else ""
    return f"{arrow} node {told['peer']}  {told['kind']}{epoch}"
