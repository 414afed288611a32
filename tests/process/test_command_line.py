# ctest-processors: 1
"""Wrong command lines and configurations: exit 2, every problem named with its value."""

import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from process_case import DEADLINE, PortHolder, find_program

PEERS = "1=127.0.0.1:{0},2=127.0.0.1:{1},3=127.0.0.1:{2}"

# What is changed in a sound command line; the words that the complaint must contain.
WRONG = [
    ({"--id": None}, ["--id"]),
    ({"--peers": None}, ["--peers"]),
    ({"--id": "4"}, ["4"]),
    ({"--id": "0"}, ["0"]),
    ({"--id": "-3"}, ["-3"]),
    ({"--id": "9223372036854775808"}, ["9223372036854775808"]),
    ({"--id": "seven"}, ["seven"]),
    ({"--peers": "1=h:1000,1=h:1001,2=h:1002"}, ["1"]),
    ({"--peers": "1=h:1000,2=h:1000,3=h:1002"}, ["h:1000"]),
    ({"--peers": "1=h:70000,2=h:1001,3=h:1002"}, ["70000"]),
    ({"--peers": "1=h:0,2=h:1001,3=h:1002"}, ["h:0"]),
    ({"--peers": "1=localhost,2=h:1001,3=h:1002"}, ["localhost"]),
    ({"--peers": "1=,2=h:1001,3=h:1002"}, ["1="]),
    ({"--peers": "nonsense"}, ["nonsense"]),
    ({"--peers": "@/no/such/file"}, ["/no/such/file"]),
    ({"--peers": ",".join(f"{i}=h:{1000 + i}" for i in range(1, 66))}, ["65", "64"]),
    ({"--algorithm": "paxos"}, ["paxos", "bully", "ring"]),
    ({"--quorum": "2"}, ["2", "majority", "none"]),
    ({"--profile": "moon"}, ["moon", "lan"]),
    ({"--heartbeat": "50"}, ["50"]),
    ({"--heartbeat": "fast"}, ["fast"]),
    ({"--heartbeat": "-5ms"}, ["-5ms"]),
    ({"--heartbeat": "0ms"}, ["0ms"]),
    ({"--lease": "100ms", "--suspect-after": "200ms"}, ["100", "200"]),
    ({"--heartbeat": "100ms", "--suspect-after": "200ms"}, ["300", "200"]),
    ({"--lease": "20s"}, ["20", "10"]),
    ({"--priority": "1001"}, ["1001"]),
    ({"--priority": "high"}, ["high", "never"]),
    ({"--preempt-delay": "10"}, ["10"]),
    ({"--advertise": "x" * 257}, ["256"]),
    ({"--first-epoch": "7"}, ["7", "clock"]),
    ({"--fast-release": "maybe"}, ["maybe"]),
    ({"--realtime": "very"}, ["very"]),
    ({"--ring-heartbeats": "none"}, ["none", "mesh"]),
    ({"--listen": "nowhere"}, ["nowhere"]),
    ({"--cluster": "../x"}, ["../x"]),
    ({"--log-level": "loud"}, ["loud"]),
    ({"--no-such-flag": "1"}, ["--no-such-flag"]),
    ({"--config": "/no/such/file"}, ["/no/such/file"]),
    ({"--quorum": "none", "--on-elected": "true"}, ["none", "on-elected"]),
]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.program = find_program()
        folder = tempfile.TemporaryDirectory(prefix="bullring-line-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.ports = PortHolder()
        self.addCleanup(self.ports.release)
        self.peers = PEERS.format(*(self.ports.take() for _ in range(3)))

    def run_program(self, *arguments, environment=None):
        return subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, timeout=DEADLINE,
            env=environment or {},
        )  # fmt: skip

    def node(self, changes, environment=None):
        flags = {"--id": "1", "--peers": self.peers, "--data-dir": str(self.folder / "data")}
        flags.update(changes)
        line = [word for flag, value in flags.items() if value is not None for word in (flag, value)]
        return self.run_program("node", *line, environment=environment)

    def check_refused(self, done, words, status=2):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        for trace in ("terminate called", "std::", "Assertion"):
            self.assertNotIn(trace, done.stderr)

    def test_wrong_flags_of_node(self):
        for changes, words in WRONG:
            with self.subTest(**{flag[2:]: value for flag, value in changes.items()}):
                done = self.node(changes)
                self.check_refused(done, words)
                self.assertFalse((self.folder / "data").exists(), "a wrong line leaves no trace")

    def test_every_problem_is_reported(self):
        done = self.node({"--id": "0", "--algorithm": "paxos", "--lease": "5", "--priority": "x"})
        self.check_refused(done, ["--id", "paxos", "--lease", "--priority"])
        self.assertEqual(len(done.stderr.splitlines()), 4, done.stderr)

    def test_a_broken_constraint_is_named_with_its_numbers(self):
        done = self.node({"--heartbeat": "100ms", "--suspect-after": "250ms"})
        self.check_refused(done, ["300", "250"])

    def test_an_unknown_key_in_the_file_is_named(self):
        config = self.folder / "node.toml"
        config.write_text('algorithm = "ring"\nhaertbeat = "50ms"\n')
        self.check_refused(self.node({"--config": str(config)}), ["haertbeat"])

    def test_a_wrong_value_in_the_file_is_named(self):
        config = self.folder / "node.toml"
        config.write_text('heartbeat = "50"\n')
        self.check_refused(self.node({"--config": str(config)}), ["50"])

    def test_a_file_that_is_no_toml_is_named(self):
        config = self.folder / "node.toml"
        config.write_text("heartbeat = \n= 7")
        self.check_refused(self.node({"--config": str(config)}), ["node.toml"])

    def test_a_wrong_variable_is_named(self):
        done = self.node({}, environment={"BULLRING_ALGORITHM": "paxos"})
        self.check_refused(done, ["BULLRING_ALGORITHM", "paxos"])

    def test_the_line_wins_over_the_environment_and_that_over_the_file(self):
        config = self.folder / "node.toml"
        config.write_text('algorithm = "from-file"\nprofile = "from-file"\n')
        environment = {"BULLRING_PROFILE": "from-variable", "BULLRING_HEARTBEAT": "from-variable"}
        done = self.node({"--config": str(config), "--heartbeat": "from-line"}, environment)
        self.check_refused(done, ["from-line", "from-variable", "from-file"])
        for name, source in (
            ("algorithm", "from-file"), ("profile", "from-variable"), ("heartbeat", "from-line"),
        ):  # fmt: skip
            line = next(l for l in done.stderr.splitlines() if name in l.lower())
            self.assertIn(source, line)

    def test_no_subcommand_and_an_unknown_one(self):
        self.check_refused(self.run_program(), [])
        self.check_refused(self.run_program("elect"), ["elect"])

    def test_help_and_version(self):
        for line in (["--help"], ["--version"], *([c, "--help"] for c in
                     ("node", "status", "watch", "resign"))):  # fmt: skip
            done = self.run_program(*line)
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            self.assertTrue(done.stdout)
        shown = self.run_program("node", "--help").stdout
        for flag in ("--id", "--peers", "--algorithm", "--listen", "--cluster", "--advertise",
                     "--priority", "--preempt", "--no-preempt", "--preempt-delay", "--quorum",
                     "--profile", "--heartbeat", "--suspect-after", "--lease", "--lease-max",
                     "--realtime", "--ring-heartbeats", "--ring-renewal", "--bootstrap-wait",
                     "--first-epoch", "--fast-release", "--data-dir", "--events", "--trace",
                     "--on-elected", "--on-deposed", "--on-change"):  # fmt: skip
            self.assertIn(flag, shown)

    def test_a_port_in_use_is_a_failure_while_running(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen(1)
            port = taken.getsockname()[1]
            done = self.node({"--peers": f"1=127.0.0.1:{port}"})
        self.check_refused(done, [str(port)], status=1)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_an_events_file_that_cannot_be_opened(self):
        done = self.node({"--events": str(self.folder / "no" / "such" / "file")})
        self.check_refused(done, ["no/such/file"], status=1)


if __name__ == "__main__":
    unittest.main()
