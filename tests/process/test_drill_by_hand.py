"""The faults that the page on drills lets an operator make from outside, word for word: each node
has a machine of its own, and they are typed on the leader's.
"""

import os
import re
import shlex
import subprocess

from harness import netns
import pytest
from clusters import on_both
from harness.node import ROOT
from harness.readme import sections

REASON = netns.unavailable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=REASON or "")

NETWORK = "10.0.0"
# A word of a fault, and the one that stands in its place where it is undone.
UNDONE = {"-STOP": "-CONT", "add": "del"}


def blocks():
    page = (ROOT / "src" / "manual" / "bullring-drill.1.md").read_text()
    found = [text for language, text in sections(page)["OTHER FAULTS"] if language == "sh"]
    return [[re.sub(r"\s+# .*", "", line) for line in text.splitlines()] for text in found]


def faults():
    """Each with what undoes it, if that stands below it."""
    lines, found = blocks()[0], []
    while lines:
        fault, undo = lines.pop(0), None
        words = fault.split()
        for word, opposite in UNDONE.items():
            if word in words:
                undo = lines.pop(0)
                assert opposite in undo.split(), undo
        found.append((fault, undo))
    return found


@pytest.fixture(scope="module")
def network():
    bridge = netns.Bridge(range(1, 4), NETWORK)
    yield bridge
    bridge.close()


class Site:
    def __init__(self, network, cluster, tmp_path):
        self.network = network
        self.cluster = cluster
        self.directory = tmp_path
        for node in cluster:
            node.prefix = network.prefix(node.id)
        cluster.start()
        (tmp_path / "members").write_text(cluster.peers.replace(",", "\n"))

    def type(self, node, line):
        # The machine that nothing reaches any more is another one.
        if f"{NETWORK}.{node.id}" in line:
            line = line.replace(f"{NETWORK}.{node.id}", f"{NETWORK}.{node.id % 3 + 1}")
        line = line.replace("PID", str(node.current.process.pid))
        bin_path = os.pathsep.join([os.path.dirname(self.cluster.program), os.environ["PATH"]])
        return subprocess.run(
            [*self.network.prefix(node.id), *shlex.split(line)],
            capture_output=True,
            text=True,
            cwd=self.directory,
            env=self.cluster.environment | {"PATH": bin_path},
        )

    def has_lost_somebody(self, since):
        return [e for e in self.cluster.events()[since:] if e["event"] == "peer_down"]


def test_there_are_faults():
    assert len(faults()) == 5


@on_both(3)
@pytest.mark.parametrize(("fault", "undo"), faults(), ids=[fault for fault, _ in faults()])
def test_a_fault_from_outside(new_cluster, network, tmp_path, algorithm, n, fault, undo):
    hosts = {i: (f"{NETWORK}.{i}", netns.PORT) for i in range(1, n + 1)}
    site = Site(network, new_cluster(n, algorithm, hosts=hosts), tmp_path)
    cluster = site.cluster
    node = cluster.wait_leader()
    before = len(cluster.events())
    if "kill" in fault:
        node.current.expected_to_run = False
    if "-STOP" in fault:
        node.current.stopped_ns = 0
    done = site.type(node, fault)
    if "qdisc kind is unknown" in done.stderr:
        pytest.skip("this kernel has no netem")
    assert done.returncode == 0, done.stderr
    if "netem" in fault:
        assert "netem" in site.type(node, "tc qdisc show dev eth0").stdout
    else:
        cluster.wait_for(lambda: site.has_lost_somebody(before), "somebody is lost")
    cluster.wait_for(lambda: [other for other in cluster if other.leads], "somebody leads")
    if undo is not None:
        undone = site.type(node, undo)
        assert undone.returncode == 0 or not node.running, undone.stderr
    if "kill" in fault:
        node.current.stopped_ns = None
        # By --hang-after, if it stood still; the machine may be too busy for that.
        if "-KILL" in fault or node.ends_within(1):
            node.restart()
    cluster.wait_leader()

    for each in cluster:
        runs = [run.stream.path for run in each.incarnations]
        joined = b"".join(open(path, "rb").read() for path in runs)
        (tmp_path / f"node-{each.id}.events").write_bytes(joined)
    status, audit = blocks()[1]
    assert site.type(cluster[1], status).returncode == 0
    judged = site.type(cluster[1], audit)
    assert judged.returncode == 0, judged.stdout + judged.stderr
