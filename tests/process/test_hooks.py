# ctest-processors: 1
"""The hooks of a live cluster: in order, with what they were promised, and never of two leaders."""

import pathlib
import unittest

from process_case import ProcessCase, expanded, over


@expanded
class Hooks(ProcessCase):
    def cluster_with_hooks(self, n, algorithm, on_deposed):
        """A started cluster whose hooks write into one file, which its lines are read from."""
        cluster = self.cluster(n, algorithm)
        self.file = pathlib.Path(cluster.directory) / "hooks"
        told = f'"$BULLRING_ID $BULLRING_EPOCH $BULLRING_ROLE $BULLRING_REASON" >>{self.file}'
        for node in cluster:
            node.flags = [
                "--on-elected", f"echo elected {told}",
                "--on-deposed", f"echo deposing {told}; {on_deposed}; echo deposed {told}",
                "--on-change", f'echo change "$BULLRING_ID $BULLRING_LEADER" >>{self.file}',
            ]  # fmt: skip
        cluster.start()
        cluster.wait_settled()
        return cluster

    def lines(self, *words):
        found = [line.split() for line in self.file.read_text().splitlines()]
        return [line for line in found if line[0] in words]

    @over([("bully", 3), ("ring", 3)])
    def test_deposed_ends_before_the_next_is_elected(self, algorithm, n):
        cluster = self.cluster_with_hooks(n, algorithm, "sleep 0.3")
        first = cluster.leader()
        self.assertEqual(cluster.resign().returncode, 0)
        cluster.wait_for(lambda: len(self.lines("elected")) == 2, "the second on-elected")
        lines = self.lines("elected", "deposing", "deposed")
        self.assertEqual(
            [line[0] for line in lines], ["elected", "deposing", "deposed", "elected"]
        )
        self.assertEqual({line[1] for line in lines[:3]}, {str(first.id)})
        self.assertNotEqual(lines[3][1], str(first.id))
        self.assertGreater(int(lines[3][2]), int(lines[0][2]))
        self.assertEqual(lines[0][3:], ["leader", "elected"])
        self.assertEqual(lines[2][3:], ["follower", "resigned"])
        second = lines[3][1]
        cluster.wait_for(
            lambda: {line[1] for line in self.lines("change") if line[2:] == [second]}
            == {str(node.id) for node in cluster},
            "everybody's on-change",
        )

    @over([("bully", 3)])
    def test_a_hook_that_does_not_end_is_killed_and_another_leads(self, algorithm, n):
        cluster = self.cluster_with_hooks(n, algorithm, "exec sleep 60")
        first = cluster.leader()
        self.assertEqual(cluster.resign("--timeout", "8s").returncode, 0)
        cluster.wait_for(lambda: len(self.lines("elected")) == 2, "the second on-elected")
        self.assertEqual(self.lines("deposed"), [])
        self.assertNotEqual(self.lines("elected")[1][1], str(first.id))

    @over([("ring", 3)])
    def test_a_killed_leader_with_hooks_is_replaced_when_its_promises_end(self, algorithm, n):
        cluster = self.cluster_with_hooks(n, algorithm, "true")
        killed_ns = cluster.leader().kill()
        took_ms = (cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6
        self.assertGreater(took_ms, 300)  # no early release: a hook's child may outlive the node


if __name__ == "__main__":
    unittest.main()
