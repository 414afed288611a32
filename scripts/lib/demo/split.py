"""The demo's last act: one partition, with the textbook's algorithm and with a majority lease.

The nodes reach each other through a relay in this process, which can be cut, so that no privilege
is needed. A relay ends TCP sessions by itself, which is what --fast-release off is for.
"""

from harness.cluster import Cluster
from harness.net import Relay
from demo.report import ms
from demo.steps import hold, two_leaders_ns


def _relayed(size, algorithm, quorum, report):
    flags = ["--quorum", quorum, "--fast-release", "off", "--first-epoch", "0"]
    flags += ["--no-preempt"] if quorum == "majority" else []
    cluster = Cluster(size, algorithm, flags=flags, name=f"split-{quorum}", label=f"split-{quorum}")
    relay = Relay()
    relay.put_between(cluster)
    cluster.on_event = lambda event: report.show_event(event, f"[{quorum:>8}] ")
    return cluster, relay


def split_brain(size, algorithm, report):
    """The leader's side of the partition has the fewer nodes."""
    textbook, textbook_relay = _relayed(size, algorithm, "none", report)
    ours, our_relay = _relayed(size, algorithm, "majority", report)
    report.section()
    try:
        _play(textbook, textbook_relay, ours, our_relay, report)
    finally:
        for part in (textbook, ours, textbook_relay, our_relay):
            part.close()


def _play(textbook, textbook_relay, ours, our_relay, report):
    report.heading("A partition: the textbook (--quorum none) beside --quorum majority")
    report.act(f"two clusters of {ours.size} processes are started")
    for cluster in (textbook, ours):
        cluster.start()
    textbook.wait_leader()
    leader = ours.wait_settled()
    ids = sorted(ours.nodes)
    few = set(sorted(ids, key=lambda node: node != leader.id)[: ours.size - ours.quorum])
    if max(ids) not in few:
        few.pop()
        few.add(max(ids))
    many = set(ids) - few
    _partition(textbook, textbook_relay, ours, our_relay, few, many, report)
    both = two_leaders_ns(textbook)
    ours.check_intervals()
    overlap = two_leaders_ns(ours)
    report.expect(
        textbook.audit().contradictions and not ours.audit().contradictions,
        "bullring audit: the streams of --quorum none contradict each other, the others do not",
    )
    report.expect(both > 0, f"--quorum none had two leaders for {ms(both)}: a split brain")
    report.expect(
        overlap == 0, "--quorum majority never had two: only one side can have a majority"
    )
    report.result("partition, --quorum none", f"two leaders for {ms(both)}")
    report.result(
        "partition, --quorum majority", f"two leaders for {ms(overlap)}" if overlap else "never two"
    )


def _partition(textbook, textbook_relay, ours, our_relay, few, many, report):
    cut = [(a, b) for a in few for b in many] + [(b, a) for a in few for b in many]
    for relay in (textbook_relay, our_relay):
        relay.cut(cut)
    sides = " | ".join(", ".join(map(str, sorted(side))) for side in (few, many))
    report.act(f"the network is cut: {sides}")
    textbook.wait_for(
        lambda: _leads_in(textbook, few) and _leads_in(textbook, many), "a leader on each side"
    )
    ours.wait_for(
        lambda: not _leads_in(ours, few) and _leads_in(ours, many),
        "a leader on the side of the majority only",
    )
    for _ in range(10):
        hold(textbook, 0.05)
        hold(ours, 0.05)
    report.expect(
        len(_leads_in(textbook, few | many)) == 2,
        f"--quorum none: nodes {_leads_in(textbook, few | many)} lead at the same time",
    )
    report.expect(
        len(_leads_in(ours, few | many)) == 1,
        f"--quorum majority: only node {_leads_in(ours, few | many)[0]} leads",
    )
    for relay in (textbook_relay, our_relay):
        relay.heal()
    report.act("the network is whole again")
    textbook.wait_leader()
    ours.wait_leader()
    report.expect(True, f"one leader each: node {textbook.leader().id} and node {ours.leader().id}")


def _leads_in(cluster, side):
    return sorted(node.id for node in cluster if node.id in side and node.leads)
