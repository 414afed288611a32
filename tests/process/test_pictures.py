"""`--trace` of real nodes, drawn together: the picture tells what the event streams tell."""

import re
import shutil
import subprocess
import xml.etree.ElementTree

from harness.node import ROOT
from clusters import on_both

NODE = shutil.which("nodejs") or shutil.which("node")


def drawn(traces, *flags):
    done = subprocess.run(
        [NODE, ROOT / "src" / "viewer" / "svg.js", *traces, *flags],
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
    old = cluster.start().wait_settled()
    killed_ns = old.kill()
    elected = cluster.wait_elected(killed_ns)
    new = cluster.wait_leader()
    assert new.id != old.id
    for node in cluster:
        if node is not old:
            node.stop()

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
    for part in (picture, drawn(traces, "--heartbeats", "--whole")):
        took = [float(us) for us in re.findall(r"after (\S+) [nµm]?s", part.replace("−", "-"))]
        assert len(took) > 3 * (n - 2)
        assert min(took) >= 0
