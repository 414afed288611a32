"""`bullring run`: the command runs where the leader is, and how it ends in each way."""
# ctest-timeout: 600

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from process_case import ProcessCase, find_program

from bullring_task import Family, Journal, alive, signal_all

QUICK = ["--kill-after", "300ms", "--restart-delay", "100ms"]


def permitted_to_be_nice():
    words = [sys.executable, "-c", "import os; os.setpriority(os.PRIO_PROCESS, 0, -20)"]
    return subprocess.run(words, stderr=subprocess.DEVNULL, timeout=30).returncode == 0


class Run(ProcessCase):
    def cluster_of(self, *words, n=3, algorithm="bully", flags=(), witness=False):
        """A settled cluster whose nodes run a locked command."""
        cluster = self.cluster(n, algorithm, profile="fast", flags=[*QUICK, *flags])
        self.journal = Journal(cluster.directory)
        for node in cluster:
            node.task = self.journal.command(*words)
        if witness:
            cluster[1].task = None
            cluster[1].flags = ["--priority", "never"]
            cluster.flags = []
            for node in list(cluster)[1:]:
                node.flags = [*QUICK, *flags]
        cluster.start()
        cluster.wait_settled()
        self.wait_begun(cluster, 1)
        return cluster

    def wait_begun(self, cluster, count):
        cluster.wait_for(
            lambda: len(self.journal.begun()) >= count, f"command number {count} to begin"
        )
        return self.journal.begun()[count - 1]

    def tearDown(self):
        if hasattr(self, "journal"):
            self.assertEqual([], self.journal.problems())

    def test_the_command_has_its_environment_and_stdin_and_streams(self):
        cluster = self.cluster(1, profile="fast", flags=QUICK)
        node = cluster[1]
        node.task = [
            "sh", "-c",
            "env | grep ^BULLRING_ | sort; ls /proc/self/fd;"
            " grep -E '^Sig(Blk|Ign)' /proc/self/status; exec sleep 60",
        ]  # fmt: skip
        cluster.environment["BULLRING_EPOCH"] = "stale"
        node.start()
        leader = cluster.wait_leader()
        out = node.current.out_path
        cluster.wait_for(lambda: "BULLRING_LEADER" in out.read_text(), "the command's output")
        cluster.wait_for(lambda: out.read_text().count("\n") >= 10, "all that it says")
        self.assertEqual(
            out.read_text().split("\n")[:4],
            ["BULLRING_CLUSTER=bullring", f"BULLRING_EPOCH={leader.view[1]}", "BULLRING_ID=1",
             "BULLRING_LEADER=1"],
        )  # fmt: skip
        # stdin, stdout, stderr, and the directory that ls looks at.
        self.assertEqual(out.read_text().split("\n")[4:8], ["0", "1", "2", "3"])
        masks = [line.split()[1] for line in out.read_text().split("\n")[8:10]]
        self.assertEqual([int(mask, 16) for mask in masks], [0, 0])
        family = Family(node)
        own = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, family.command), own)
        if permitted_to_be_nice():
            for process in (family.guard, family.shield):
                self.assertEqual(os.getpriority(os.PRIO_PROCESS, process), -20)
        self.assertEqual(os.getpgid(family.command), family.command)
        self.assertNotEqual(os.getpgid(family.guard), os.getpgid(family.node))

    def test_only_the_leader_runs_it_and_a_resign_moves_it(self):
        cluster = self.cluster_of()
        first = cluster.leader()
        self.assertEqual(self.journal.begun()[0][0], first.id)
        self.assertEqual(cluster.resign().returncode, 0)
        second = self.wait_begun(cluster, 2)
        self.assertNotEqual(second[0], first.id)
        self.assertEqual(
            [line[0] for line in self.journal.lines()], ["begin", "end", "begin"]
        )
        deposed = [e for e in cluster.events() if e["event"] == "deposed"]
        self.assertEqual(deposed[0]["reason"], "resigned")

    def test_sigterm_ends_the_command_hands_over_and_gives_its_status(self):
        cluster = self.cluster_of()
        first = cluster.leader()
        first.terminate()
        self.assertEqual(first.wait_exit(), 7)
        self.wait_begun(cluster, 2)
        other = next(node for node in cluster if node.acting and not node.leads)
        other.terminate()
        self.assertEqual(other.wait_exit(), 0)  # it ran no command

    def test_a_command_that_ignores_sigterm_is_killed(self):
        cluster = self.cluster_of("ignore")
        first = cluster.leader()
        command = Family(first).command
        first.terminate()
        self.assertEqual(first.wait_exit(), 128 + signal.SIGKILL)
        self.assertFalse(alive(command))
        self.wait_begun(cluster, 2)

    def test_the_handover_of_a_command_that_ignores_sigterm_is_no_failure_of_its_guard(self):
        cluster = self.cluster_of("ignore", flags=["--max-restarts", "0"])
        for count in range(2, 6):
            self.assertEqual(cluster.resign("--timeout", "20s").returncode, 0)
            self.wait_begun(cluster, count)
        for node in cluster:
            for word in ("stands still", "only votes", " error "):
                self.assertNotIn(word, node.current.log())

    def test_hooks_stand_around_the_command(self):
        cluster = self.cluster(2, profile="fast", flags=QUICK)
        told = pathlib.Path(cluster.directory) / "told"
        hook = f'echo "$BULLRING_ROLE $BULLRING_REASON $BULLRING_EPOCH" >> {told}'
        for node in cluster:
            node.flags = [
                *QUICK, "--on-elected", hook, "--on-deposed", f"sleep 0.1; {hook}",
            ]  # fmt: skip
            node.task = [
                "sh", "-c", f"trap 'sleep 0.1; echo ended >> {told}; exit' TERM;"
                f" echo begun >> {told}; while :; do sleep 0.02; done",
            ]  # fmt: skip
        cluster.start()
        first = cluster.wait_settled()
        cluster.wait_for(lambda: told.exists() and "begun" in told.read_text(), "the command")
        epoch = first.view[1]
        self.assertEqual(cluster.resign("--timeout", "20s").returncode, 0)
        cluster.wait_for(lambda: told.read_text().count("begun") == 2, "the next command")
        cluster.wait_for(lambda: told.read_text().count("leader elected") == 2, "its hook")
        lines = told.read_text().split("\n")
        # The hook and the command start together; the end has an order.
        self.assertEqual(sorted(lines[:2]), ["begun", f"leader elected {epoch}"])
        self.assertEqual(lines[2:4], ["ended", f"follower resigned {epoch}"])
        # What ends by itself ends so for the hook, too.
        second = cluster.wait_settled()
        signal_all([Family(second).command])
        cluster.wait_for(lambda: "follower task_failed" in told.read_text(), "on-deposed")

    def test_under_nohup_the_command_ignores_sighup(self):
        cluster = self.cluster(1, profile="fast", flags=QUICK)
        cluster[1].task = ["sleep", "60"]
        previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            cluster.start()
        finally:
            signal.signal(signal.SIGHUP, previous)
        cluster.wait_leader()
        cluster.wait_for(lambda: Family(cluster[1]).complete, "the command")
        command = Family(cluster[1]).command
        cluster[1].current.process.send_signal(signal.SIGHUP)
        cluster.never(lambda: not alive(command), "SIGHUP has ended the command", 0.5)

    def test_the_guard_keeps_to_the_format_of_the_log(self):
        cluster = self.cluster_of(flags=["--log-format", "json"], n=1)
        cluster[1].kill()
        log = cluster[1].current.log
        cluster.wait_for(lambda: "is gone without a word" in log(), "the guard's line")
        for line in log().splitlines():
            self.assertEqual(json.loads(line)["node"], 1)

    def test_a_program_that_the_kernel_does_not_know_is_told(self):
        cluster = self.cluster(1, profile="fast", flags=QUICK)
        script = pathlib.Path(cluster.directory) / "script"
        script.write_text("echo a shell has run this\n")
        script.chmod(0o755)
        cluster[1].task = [str(script)]
        cluster.start()
        cluster.wait_for(lambda: "Exec format error" in cluster[1].current.log(), "the reason")
        self.assertIn(f"its command {script} cannot be started", cluster[1].current.log())
        self.assertNotIn("a shell has run", cluster[1].current.out_path.read_text())

    def test_a_descendant_that_has_left_the_group_ends_before_another_leads(self):
        cluster = self.cluster_of("fork", "group")
        self.assertEqual(cluster.resign("--timeout", "10s").returncode, 0)
        self.wait_begun(cluster, 2)

    def test_a_command_that_ends_hands_over_and_the_node_stands_again_later(self):
        cluster = self.cluster_of(n=1)
        signal_all([Family(cluster[1]).command])
        self.wait_begun(cluster, 2)
        deposed = [e for e in cluster.events() if e["event"] == "deposed"]
        self.assertEqual([e["reason"] for e in deposed], ["task_failed"])

    def test_on_exit_vote_and_leave(self):
        cluster = self.cluster_of(flags=["--on-exit", "vote"], n=1)
        signal_all([Family(cluster[1]).command])
        cluster.wait_no_leader()
        why = cluster.status()["nodes"][0]["why"]
        self.assertIn("only votes", why)
        self.assertIn("signal 9", why)
        left = self.cluster(1, profile="fast", flags=[*QUICK, "--on-exit", "leave"])
        left[1].task = ["sh", "-c", "sleep 0.3; exit 5"]
        left.start()
        left[1].current.expected_to_run = False
        self.assertEqual(left[1].wait_exit(), 5)
        self.assertIn("a voter less", left[1].current.log())

    def test_a_command_that_cannot_be_started_later(self):
        cluster = self.cluster(1, profile="fast", flags=QUICK)
        program = pathlib.Path(cluster.directory) / "program"
        program.write_text("#!/bin/sh\nexec sleep 60\n")
        program.chmod(0o755)
        cluster[1].task = [str(program)]
        cluster.start()
        cluster.wait_leader()
        cluster.wait_for(lambda: Family(cluster[1]).complete, "the command")
        program.chmod(0o644)
        signal_all([Family(cluster[1]).command])
        cluster.wait_no_leader()
        cluster.wait_for(
            lambda: "cannot be started" in cluster.status()["nodes"][0]["why"], "the reason"
        )
        program.chmod(0o755)
        cluster.wait_for(lambda: Family(cluster[1]).complete, "the command again")

    def test_max_restarts(self):
        cluster = self.cluster_of(
            "exit=3", n=1, flags=["--max-restarts", "2", "--restart-delay", "20ms"]
        )
        self.wait_begun(cluster, 3)
        cluster.wait_for(
            lambda: "only votes" in cluster.status()["nodes"][0]["why"], "the end of restarts"
        )
        self.assertEqual(len(self.journal.begun()), 3)

    def test_a_stopped_command_is_stalled(self):
        cluster = self.cluster_of("stop")
        self.wait_begun(cluster, 2)
        deposed = [e for e in cluster.events() if e["event"] == "deposed"]
        self.assertEqual(deposed[0]["reason"], "stalled")

    def test_a_command_that_shows_no_progress_is_stalled(self):
        cluster = self.cluster_of("progress=30", flags=["--stall-after", "400ms"])
        self.wait_begun(cluster, 2)
        deposed = [e for e in cluster.events() if e["event"] == "deposed"]
        elected = [e for e in cluster.events() if e["event"] == "elected"]
        self.assertEqual(deposed[0]["reason"], "stalled")
        self.assertGreater(deposed[0]["ts_ns"] - elected[0]["ts_ns"], 0.9e9)

    def test_progress_by_descriptor(self):
        cluster = self.cluster(1, profile="fast", flags=[*QUICK, "--stall-after", "300ms"])
        cluster[1].task = [
            "sh", "-c", "while :; do echo >&$BULLRING_PROGRESS_FD; sleep 0.05; done"
        ]  # fmt: skip
        cluster.start()
        cluster.wait_leader()
        cluster.never(lambda: not cluster[1].leads, "a busy command is taken for stalled", 1.0)

    def test_a_closed_progress_descriptor_is_said_and_the_file_still_counts(self):
        cluster = self.cluster(1, profile="fast", flags=[*QUICK, "--stall-after", "400ms"])
        cluster[1].task = [
            "sh", "-c",
            'exec 3>&-; while :; do touch "$BULLRING_PROGRESS_FILE"; sleep 0.05; done',
        ]  # fmt: skip
        cluster.start()
        cluster.wait_leader()
        cluster.never(lambda: not cluster[1].leads, "a busy command is taken for stalled", 1.0)
        self.assertIn("closed its progress descriptor", cluster[1].current.log())

    def test_signals_are_passed_on(self):
        cluster = self.cluster(1, profile="fast", flags=QUICK)
        cluster[1].task = [
            "sh", "-c",
            "for s in HUP USR1 USR2 WINCH; do trap \"echo got $s\" $s; done; echo ready;"
            " while :; do sleep 0.05; done",
        ]  # fmt: skip
        cluster.start()
        out = cluster[1].current.out_path
        cluster.wait_for(lambda: "ready" in out.read_text(), "the traps")
        for name in ("HUP", "USR1", "USR2", "WINCH"):
            cluster[1].current.process.send_signal(getattr(signal, "SIG" + name))
            cluster.wait_for(lambda name=name: f"got {name}" in out.read_text(), name)

    def test_the_figures_are_told_at_the_start(self):
        cluster = self.cluster_of(n=1)
        self.assertIn("gets 300ms from SIGTERM to SIGKILL", cluster[1].current.log())

    def test_health(self):
        cluster = self.cluster(3, profile="fast")
        good = pathlib.Path(cluster.directory) / "good"
        for node in cluster:
            pathlib.Path(f"{good}-{node.id}").touch()
            node.task = ["sleep", "60"]
            node.flags = [
                *QUICK, "--health-cmd", f"test -e {good}-{node.id}", "--health-interval", "50ms",
                "--health-failures", "2", "--preempt-delay", "300ms",
            ]  # fmt: skip
        cluster.start()
        first = cluster.wait_settled()
        pathlib.Path(f"{good}-{first.id}").unlink()
        second = cluster.wait_for(
            lambda: cluster.agreed_leader() not in (None, first) and cluster.agreed_leader(),
            "another leader",
        )
        self.assertNotEqual(second.id, first.id)
        deposed = [e for e in cluster.events() if e["event"] == "deposed"]
        self.assertEqual(deposed[0]["reason"], "unhealthy")
        entry = next(n for n in cluster.status()["nodes"] if n["id"] == first.id)
        self.assertFalse(first.leads, entry)

    def test_a_killed_node_is_replaced_as_soon_as_its_command_is_dead(self):
        # Not when its lease ends: the guard resigns in its name.
        cluster = self.cluster_of(flags=["--lease", "4s", "--heartbeat", "20ms"])
        killed_ns = cluster.wait_settled().kill()
        took_ms = (cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6
        self.assertLess(took_ms, 1000)

    def test_two_and_a_witness(self):
        cluster = self.cluster_of(witness=True)
        first = cluster.leader()
        first.kill()
        second = self.wait_begun(cluster, 2)
        self.assertNotIn(second[0], (1, first.id))


class BadInput(unittest.TestCase):
    def run_with(self, *words):
        return subprocess.run(
            [find_program(), *words], capture_output=True, text=True, timeout=30,
            env={**os.environ, "HOME": "/nonexistent"},
        )  # fmt: skip

    def assert_refused(self, part, *words):
        result = self.run_with("run", "--id", "1", "--peers", "1=127.0.0.1:1", *words)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_the_command_line(self):
        self.assert_refused("no command")
        self.assert_refused("no command", "--")
        self.assert_refused('"sleep"; a command goes after --', "sleep", "60")
        self.assert_refused('"/no/such/thing" is not found', "--", "/no/such/thing")
        self.assert_refused('"no-such-thing" is not found', "--", "no-such-thing")
        self.assert_refused('"/etc/passwd" is not executable', "--", "/etc/passwd")
        self.assert_refused('"/tmp" is not executable', "--", "/tmp")
        self.assert_refused("--quorum majority", "--quorum", "none", "--", "true")
        self.assert_refused("on-exit", "--on-exit", "sometimes", "--", "true")
        self.assert_refused("kill-after", "--kill-after", "2", "--", "true")
        self.assert_refused(
            "kill-after (2s) + suspect-after (200ms) + 2 × heartbeat (100ms) must be ≤ lease (1s)",
            "--lease", "1s", "--suspect-after", "200ms", "--heartbeat", "50ms", "--", "true",
        )  # fmt: skip
        self.assert_refused("lease-max", "--kill-after", "10s", "--", "true")
        self.assert_refused("max-restarts", "--max-restarts", "-1", "--", "true")
        self.assert_refused("stall-after", "--stall-after", "0s", "--", "true")
        self.assert_refused("health-cmd", "--health-interval", "1s", "--", "true")
        result = self.run_with("node", "--id", "1", "--peers", "1=127.0.0.1:1", "--", "true")
        self.assertEqual(result.returncode, 2)

    def test_all_that_is_wrong_is_told_at_once(self):
        result = self.run_with(
            "run", "--id", "9", "--peers", "1=127.0.0.1:1", "--lease", "11s", "--on-exit", "x",
            "--health-cmd", "no-such-check", "--", "no-such-thing",
        )  # fmt: skip
        self.assertEqual(result.returncode, 2)
        for part in ('--id: "9"', "lease (11s)", '--on-exit: "x"', '"no-such-check" is not',
                     '"no-such-thing" is not'):  # fmt: skip
            self.assertIn(part, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 5)

    def test_a_script_without_its_interpreter(self):
        with tempfile.TemporaryDirectory(prefix="bullring-run-") as folder:
            script = pathlib.Path(folder) / "script"
            script.write_text("#!/no/such/shell\n")
            script.chmod(0o755)
            self.assert_refused('a script for "/no/such/shell", which is not found', "--",
                                str(script))

    def test_a_health_command_that_is_not_there(self):
        result = subprocess.run(
            [find_program(), "run", "--id", "1", "--peers", "1=127.0.0.1:1", "--data-dir",
             "/nonexistent/dir", "--health-cmd", "no-such-check --now", "--", "true"],
            capture_output=True, text=True, timeout=30,
        )  # fmt: skip
        self.assertEqual(result.returncode, 2)
        self.assertIn('"no-such-check" is not found', result.stderr)


if __name__ == "__main__":
    unittest.main()
