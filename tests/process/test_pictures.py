"""`--trace` of real nodes, drawn together: the picture tells what the event streams tell."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from process_case import ROOT, ProcessCase, expanded, over

SIMULATOR = pathlib.Path(os.environ.get("BULLRING_SIM", ROOT / "build" / "bullring-sim"))


@expanded
@unittest.skipUnless(SIMULATOR.exists(), "the simulator, which draws, is not built")
class Pictures(ProcessCase):
    def draw(self, traces, *flags):
        done = subprocess.run(
            [SIMULATOR, "diagram", *traces, "-o", "-", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @over([("bully", 5), ("ring", 5)])
    def test_a_failover_of_real_processes_is_drawn(self, algorithm, n):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        cluster = self.cluster(n, algorithm)
        traces = []
        for node in cluster:
            traces.append(pathlib.Path(folder.name) / f"node-{node.id}.trace")
            node.flags = ["--trace", str(traces[-1])]
        cluster.start()
        old = cluster.wait_settled()
        killed_ns = old.kill()
        elected = cluster.wait_elected(killed_ns)
        new = cluster.wait_leader()
        self.assertNotEqual(new.id, old.id)
        for node in cluster:
            if node is not old:
                node.terminate()
                node.wait_exit()

        picture = self.draw(traces, "--title", "a failover")
        root = xml.etree.ElementTree.fromstring(picture)
        texts = ["".join(element.itertext()) for element in root.iter()
                 if element.tag.endswith(("}text", "}title"))]  # fmt: skip
        for node in cluster:
            self.assertIn(f"node {node.id}", texts)
        leads = f"node {elected['node']} leads in epoch {elected['epoch']}"
        self.assertTrue(any(text.startswith(leads) for text in texts), f"{leads}: {texts}")
        # An arrow that goes back in time would say that the files were not put together well.
        took = [float(us) for us in re.findall(r"after (-?[0-9.]+) [µm]?s", picture)]
        self.assertGreater(len(took), 3 * (n - 2))
        self.assertGreaterEqual(min(took), 0)

        whole = ("--from", "0s", "--to", "1h", "--heartbeats")
        self.assert_vector_clocks(self.draw(traces, "--format", "shiviz", *whole), n)

    def assert_vector_clocks(self, log, n):
        """Each node counts its own steps one by one, and hears of all others."""
        lines = re.findall(r"^(node\d+) (\{.*\})$", log, re.MULTILINE)
        newest = {}
        for host, text in lines:
            clock = json.loads(text)
            before = newest.get(host, {})
            self.assertEqual(clock[host], before.get(host, 0) + 1)
            for other, count in before.items():
                self.assertGreaterEqual(clock[other], count)
            newest[host] = clock
        self.assertEqual(len(newest), n)
        for clock in newest.values():
            self.assertEqual(len(clock), n)


if __name__ == "__main__":
    unittest.main()
