"""The event stream, the log, signals and hooks of a node."""

import json
import os
import signal
import subprocess
import unittest

from process_case import DEADLINE, ProcessCase, expanded, over

FURTHER_KEYS = {
    "started": ["algorithm", "quorum", "peers", "version", "pid"],
    "peer_up": ["peer"],
    "peer_down": ["peer", "reason"],
    "election_started": ["epoch", "reason"],
    "leader": ["leader", "epoch", "advertised"],
    "elected": ["epoch", "grants"],
    "deposed": ["epoch", "reason", "held_until_ns"],
    "stopped": ["reason"],
}
REASONS_DOWN = {"eof", "reset", "timeout", "refused", "protocol"}


@expanded
class Events(ProcessCase):
    @over()
    def test_every_kind_has_its_keys_in_order(self, algorithm, n):
        cluster = self.cluster(n, algorithm, flags=["--advertise", "here"]).start()
        leader = cluster.wait_settled()
        leader.kill()
        leader.restart()
        cluster.wait_settled()
        for node in cluster:
            node.terminate()
        for node in cluster:
            self.assertEqual(node.wait_exit(), 0)
        seen = set()
        for event in cluster.events():
            seen.add(event["event"])
            self.assertEqual(list(event)[4:], FURTHER_KEYS[event["event"]], event)
            if event["event"] == "peer_down":
                self.assertIn(event["reason"], REASONS_DOWN)
            if event["event"] == "elected":
                self.assertGreaterEqual(len(set(event["grants"])), cluster.quorum)
                self.assertIn(event["node"], event["grants"])
            if event["event"] == "started":
                self.assertEqual((event["algorithm"], event["quorum"]), (algorithm, "majority"))
                self.assertEqual(event["peers"], list(cluster.nodes))
        self.assertEqual(seen, set(FURTHER_KEYS))

    @over()
    def test_a_streams_clock_never_goes_back_and_brackets_what_happened(self, algorithm, n):
        cluster = self.cluster(n, algorithm).start()
        cluster.wait_settled()
        for node in cluster:
            stamps = [event["ts_ns"] for event in node.current.stream.events]
            self.assertEqual(stamps, sorted(stamps))
            self.assertGreaterEqual(stamps[0], node.current.started_ns)

    @over()
    def test_each_follower_tells_the_loss_and_the_new_leader(self, algorithm, n):
        """The new leader's word may come before the end of the old one's sessions."""
        cluster = self.cluster(n, algorithm).start()
        old = cluster.wait_settled()
        killed_ns = old.kill()
        elected = cluster.wait_elected(killed_ns)
        cluster.wait_leader()
        for node in cluster.acting:
            told = [
                event["leader"] for event in node.current.stream.of("leader")
                if event["ts_ns"] > killed_ns
            ]  # fmt: skip
            self.assertIn(told, ([None, elected["node"]], [elected["node"]]))

    def test_the_stream_on_stdout(self):
        cluster = self.cluster(1, judged=False)
        process = subprocess.Popen(
            cluster[1].command(["--events", "-"]), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=cluster.environment,
        )  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        kinds = []
        while "elected" not in kinds:
            kinds.append(json.loads(process.stdout.readline())["event"])
        process.send_signal(signal.SIGINT)
        rest = [json.loads(line)["event"] for line in process.stdout]
        self.assertEqual(kinds[0], "started")
        self.assertEqual(rest[-1], "stopped")
        self.assertEqual(process.wait(DEADLINE), 0)

    def test_hangup_opens_the_file_again(self):
        cluster = self.cluster(1, judged=False).start()
        cluster.wait_settled()
        path = cluster[1].current.stream.path
        os.rename(path, path + ".1")
        cluster[1].current.process.send_signal(signal.SIGHUP)
        cluster.wait_for(lambda: os.path.exists(path), "the file is there again")
        cluster[1].terminate()
        self.assertEqual(cluster[1].wait_exit(), 0)
        with open(path, encoding="utf-8") as file:
            later = [json.loads(line)["event"] for line in file]
        with open(path + ".1", encoding="utf-8") as file:
            earlier = [json.loads(line)["event"] for line in file]
        self.assertEqual(later[-1], "stopped")
        self.assertEqual(earlier[0], "started")
        self.assertNotIn("stopped", earlier)

    @over()
    def test_a_reader_that_does_not_read_slows_no_election(self, algorithm, n):
        """Its stream ends with an error line; the node goes on."""
        cluster = self.cluster(n, algorithm, judged=False)
        stuck = cluster[n]
        fifo = cluster.directory / "stuck"
        os.mkfifo(fifo)
        held_open = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, held_open)
        os.set_blocking(held_open, False)
        self._fill(held_open)
        stuck.flags = ["--events", str(fifo)]
        cluster.start()
        leads = lambda: cluster.status()["leader"] == n  # noqa: E731
        cluster.wait_for(leads, "the node leads")
        stuck.kill()
        cluster.wait_for(lambda: cluster.status()["leader"] == n - 1, "another leads")

    @staticmethod
    def _fill(pipe):
        try:
            while True:
                os.write(pipe, b"x" * 4096)
        except BlockingIOError:
            pass


@expanded
class Log(ProcessCase):
    @over()
    def test_changes_are_logged_and_heartbeats_are_not(self, algorithm, n):
        cluster = self.cluster(n, algorithm, flags=["--log-format", "json"]).start()
        leader = cluster.wait_settled()
        before = {node.id: node.current.log() for node in cluster}
        self.assert_unchanged(cluster, leader, 2.0, "nothing")
        for node in cluster:
            self.assertEqual(node.current.log(), before[node.id])
            for line in before[node.id].splitlines():
                self.assertLessEqual({"time", "level", "node"}, set(json.loads(line)))


class Hooks(ProcessCase):
    def test_a_hook_for_each_change(self):
        cluster = self.cluster(1)
        said = cluster.directory / "said"
        cluster[1].flags = [
            "--on-elected", f"echo elected >> {said}", "--on-deposed", f"echo deposed >> {said}",
        ]  # fmt: skip
        cluster.start()
        cluster.wait_settled()

        def words():
            return said.read_text().split() if said.exists() else []

        cluster.wait_for(lambda: words() == ["elected"], "the hook for the election")
        cluster[1].terminate()
        self.assertEqual(cluster[1].wait_exit(), 0)
        self.assertEqual(words(), ["elected", "deposed"])


if __name__ == "__main__":
    unittest.main()
