"""The demo's second cluster: the same crash where members have a key.

Anybody on the way can end a TCP connection, so the end of the leader's connections releases
nothing there; its undertaker says that it is dead, and nobody else can.
"""

from harness.cluster import Cluster
from harness.secrets import key_environment, key_line, write_private
from demo.report import ms
from demo.steps import CRASH

ROW = "the same, with keys"


def secured_crash(size, algorithm, report):
    flags = ["--first-epoch", "0", "--no-preempt"]
    cluster = Cluster(size, algorithm, flags=flags, name="secured", label="secured")
    cluster.on_event = report.show_event
    report.section()
    try:
        _play(cluster, report)
    finally:
        cluster.close()


def _play(cluster, report):
    report.heading("The same crash where all members share a key (--security key)")
    key_file = write_private(cluster.directory / "demo.key", key_line())
    cluster.environment |= key_environment(key_file)
    report.act(f"{cluster.size} processes are started, with a key")
    cluster.start()
    old = cluster.wait_settled()
    other_key = write_private(cluster.directory / "other.key", key_line())
    refused = cluster.resign("--key-file", str(other_key), "--timeout", "500ms")
    report.expect(
        refused.returncode == 1 and old.leads,
        "somebody who has another key asks the leader to resign: refused",
    )
    killed_ns = old.kill()
    report.act(f"kill -9 of node {old.id}, the leader", killed_ns)
    elected = cluster.wait_elected(killed_ns)
    took = elected["ts_ns"] - killed_ns
    cluster.wait_leader()
    report.expect(
        took / 1e6 < cluster.timing.promise / 2,
        f"node {elected['node']} leads {ms(took)} after the kill, not after the lease"
        f" ({cluster.timing.promise:.0f} ms): the undertaker has spoken",
    )
    audit = cluster.audit()
    report.expect(audit.proved, "bullring audit: no two leaderships overlapped, and epochs rose")
    report.result(ROW, f"{ms(took)}, node {elected['node']}", below=CRASH)
