"""`bullring lead`: for cron; a command that runs if the node on this machine leads now."""

import os
import signal
import stat
import subprocess
import unittest

from process_case import ALL, ProcessCase, expanded, find_program, now_ns, over

from bullring_task import Family, Journal, alive, child_named, signal_all


@expanded
class Lead(ProcessCase):
    def cluster_of(self, n=3, algorithm="bully", flags=()):
        cluster = self.cluster(n, algorithm, profile="fast", flags=flags)
        self.journal = Journal(cluster.directory)
        cluster.start()
        cluster.wait_settled()
        return cluster

    def lead(self, node, *flags, command):
        process = subprocess.Popen(
            [find_program(), "lead", "--data-dir", str(node.data_dir), *flags, "--", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=node.cluster.environment,
        )  # fmt: skip
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def begun(self, cluster, count=1):
        cluster.wait_for(lambda: len(self.journal.begun()) >= count, "the command")
        return self.journal.begun()[count - 1]

    def tearDown(self):
        if hasattr(self, "journal"):
            self.assertEqual([], self.journal.problems(several_an_epoch=True))

    def test_who_leads_runs_it_and_who_does_not_says_75(self):
        cluster = self.cluster_of()
        leader = cluster.leader()
        out, errors = self.lead(
            leader, command=["sh", "-c", "env | grep ^BULLRING_ | sort; exit 5"]
        ).communicate(timeout=30)
        self.assertEqual(
            out.split(),
            ["BULLRING_CLUSTER=bullring", f"BULLRING_EPOCH={leader.view[1]}",
             f"BULLRING_ID={leader.id}", "BULLRING_LEADER=1"],
        )  # fmt: skip
        self.assertEqual(errors, "")
        other = next(node for node in cluster if node is not leader)
        process = self.lead(other, command=["true"])
        # Without a word, which cron would send by mail.
        self.assertEqual(process.communicate(timeout=30), ("", ""))
        self.assertEqual(process.returncode, 75)
        process = self.lead(other, "--log-level", "debug", command=["true"])
        self.assertIn("does not lead", process.communicate(timeout=30)[1])
        process = self.lead(leader, "--id", str(other.id), command=["true"])
        self.assertIn(f"is {leader.id} of cluster", process.communicate(timeout=30)[1])
        self.assertEqual(process.returncode, 2)
        self.assertEqual(self.lead(leader, command=["sh", "-c", "exit 5"]).wait(30), 5)
        self.assertEqual(
            self.lead(leader, command=["sh", "-c", "kill -9 $$"]).wait(30), 128 + 9
        )
        self.assert_unchanged(cluster, leader, 0.3, "after short commands")
        mode = stat.S_IMODE(os.stat(leader.data_dir / "lead.sock").st_mode)
        self.assertEqual(mode, 0o600)

    def test_a_node_that_hangs_does_not_answer(self):
        cluster = self.cluster_of(n=1)
        cluster[1].hang()
        process = self.lead(cluster[1], command=["true"])
        self.assertIn("does not answer", process.communicate(timeout=30)[1])
        self.assertEqual(process.returncode, 69)
        cluster[1].resume()

    def test_no_node_and_bad_input(self):
        program = find_program()

        def status(*words):
            return subprocess.run(
                [program, "lead", *words], capture_output=True, text=True, timeout=30
            )

        gone = status("--data-dir", "/nonexistent", "--", "true")
        self.assertEqual(gone.returncode, 69)
        self.assertIn("no node answers in /nonexistent", gone.stderr)
        self.assertEqual(status("--data-dir", "/tmp", "--", "no-such-command").returncode, 2)
        self.assertEqual(status("--data-dir", "/tmp").returncode, 2)
        self.assertEqual(status("--", "true").returncode, 2)
        self.assertEqual(status("--data-dir", "/tmp", "--wait", "3", "--", "true").returncode, 2)

    def test_wait(self):
        cluster = self.cluster_of()
        first = cluster.leader()
        other = next(node for node in cluster if node is not first)
        waiting = self.lead(other, "--wait", "30s", command=self.journal.command("exit=0"))
        self.assertEqual(cluster.resign("--to", str(other.id)).returncode, 0)
        self.assertEqual(waiting.wait(30), 0)
        self.assertEqual(self.begun(cluster)[0], other.id)
        self.assertEqual(
            self.lead(first, "--wait", "50ms", command=["true"]).wait(30), 75
        )

    @over([("bully", 3), ("ring", 3)])
    def test_a_resign_waits_for_the_command(self, algorithm, n):
        cluster = self.cluster_of(n, algorithm)
        leader = cluster.leader()
        process = self.lead(leader, "--kill-after", "300ms", command=self.journal.command("ignore"))
        command = self.begun(cluster)[2]
        self.assertEqual(cluster.resign("--timeout", "10s").returncode, 0)
        self.assertFalse(alive(command))
        self.assertEqual(process.wait(30), 128 + signal.SIGKILL)

    @over([("bully", 3), ("ring", 3)])
    def test_neither_death_lets_two_work_at_once(self, algorithm, n):
        cluster = self.cluster_of(n, algorithm)
        for kill in ("node", "lead", "guard", "all") * (5 if ALL else 2):
            leader = cluster.wait_leader()
            before = len(self.journal.begun())
            process = self.lead(leader, "--wait", "10s", command=self.journal.command("fork"))
            command = self.begun(cluster, before + 1)[2]
            guard = child_named(process.pid, "run-guard")
            pids = {"node": [leader.current.process.pid], "lead": [process.pid],
                    "guard": [guard]}  # fmt: skip
            pids["all"] = pids["node"] + pids["lead"] + [guard]
            if leader.current.process.pid in pids[kill]:
                leader.current.expected_to_run = False
                leader.current.killed_ns = now_ns()
            signal_all(pids[kill])
            if leader.current.expected_to_run:
                cluster.wait_for(lambda: not self.journal.locked(), "the end of the command")
                self.assertFalse(alive(command))
                self.assertTrue(leader.leads)
            else:
                leader.wait_exit()
                successor = cluster.wait_elected(leader.current.killed_ns)["node"]
                self.assertFalse(self.journal.locked())
                again = self.lead(cluster[successor], "--wait", "10s",
                                  command=self.journal.command("exit=0"))  # fmt: skip
                self.assertEqual(again.wait(30), 0)
                leader.start()
                cluster.wait_settled()
            process.wait(30)

    def test_without_commands_the_end_of_the_node_is_quick_again(self):
        cluster = self.cluster_of(flags=["--lease", "1s"])
        leader = cluster.leader()
        self.assertEqual(self.lead(leader, command=["true"]).wait(30), 0)
        # From now on grants are tied again; those that are not have to run out.
        cluster.never(lambda: not leader.leads, "the leader is lost", 1.2)
        killed_ns = leader.kill()
        took_ms = (cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6
        self.assertLess(took_ms, 500)

    def test_a_killed_run_says_no_last_word_while_lead_works(self):
        cluster = self.cluster(3, profile="fast", flags=["--kill-after", "100ms"])
        self.journal = Journal(cluster.directory)
        for node in cluster:
            node.task = ["sleep", "60"]
        cluster.start()
        leader = cluster.wait_settled()
        process = self.lead(leader, "--wait", "10s", command=self.journal.command("ignore"))
        command = self.begun(cluster)[2]
        killed_ns = leader.kill()
        cluster.wait_elected(killed_ns)
        self.assertFalse(alive(command))
        process.wait(30)

    def test_beside_run(self):
        cluster = self.cluster(1, profile="fast", flags=["--kill-after", "200ms"])
        self.journal = Journal(cluster.directory)
        cluster[1].task = ["sleep", "60"]
        cluster.start()
        cluster.wait_leader()
        process = self.lead(cluster[1], "--wait", "10s", command=self.journal.command())
        command = self.begun(cluster)[2]
        cluster.wait_for(lambda: Family(cluster[1]).complete, "the node's own command")
        signal_all([Family(cluster[1]).command])
        self.assertEqual(process.wait(30), 7)  # its node has handed over
        self.assertFalse(alive(command))


if __name__ == "__main__":
    unittest.main()
