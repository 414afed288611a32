"""`--trace` of real nodes, drawn together: the picture tells what the event streams tell."""

import json
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import pytest
from harness.node import ROOT
from clusters import on_both


SIMULATOR = pathlib.Path(os.environ.get("BULLRING_SIM", ROOT / "build" / "bullring-sim"))
pytestmark = pytest.mark.skipif(
    not SIMULATOR.exists(), reason="the simulator, which draws, is not built"
)


def drawn(traces, *flags):
    done = subprocess.run(
        [SIMULATOR, "diagram", *traces, "-o", "-", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@on_both(5)
def test_a_failover_of_real_processes_is_drawn(new_cluster, tmp_path, algorithm, n):
    cluster = new_cluster(n, algorithm)
    traces = []
    for node in cluster:
        traces.append(tmp_path / f"node-{node.id}.trace")
        node.flags = ["--trace", str(traces[-1])]
    cluster.start()
    old = cluster.wait_settled()
    killed_ns = old.kill()
    elected = cluster.wait_elected(killed_ns)
    new = cluster.wait_leader()
    assert new.id != old.id
    for node in cluster:
        if node is not old:
            node.terminate()
            node.wait_exit()

    picture = drawn(traces, "--title", "a failover")
    root = xml.etree.ElementTree.fromstring(picture)
    texts = [
        "".join(element.itertext())
        for element in root.iter()
        if element.tag.endswith(("}text", "}title"))
    ]
    for node in cluster:
        assert f"node {node.id}" in texts
    leads = f"node {elected['node']} leads in epoch {elected['epoch']}"
    assert any(text.startswith(leads) for text in texts), f"{leads}: {texts}"
    # An arrow that goes back in time would say that the files were not put together well.
    took = [float(us) for us in re.findall(r"after (-?[0-9.]+) [µm]?s", picture)]
    assert len(took) > 3 * (n - 2)
    assert min(took) >= 0

    whole = ("--from", "0s", "--to", "1h", "--heartbeats")
    assert_vector_clocks(drawn(traces, "--format", "shiviz", *whole), n)


def assert_vector_clocks(log, n):
    """Each node counts its own steps one by one, and hears of all others."""
    lines = re.findall(r"^(node\d+) (\{.*\})$", log, re.MULTILINE)
    newest = {}
    for host, text in lines:
        clock = json.loads(text)
        before = newest.get(host, {})
        assert clock[host] == before.get(host, 0) + 1
        for other, count in before.items():
            assert clock[other] >= count
        newest[host] = clock
    assert len(newest) == n
    for clock in newest.values():
        assert len(clock) == n
