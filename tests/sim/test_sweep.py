# ctest-timeout: 1200
"""Thousands of random histories: new ones with each commit, the same ones for one commit."""

import json
import subprocess
import unittest

from simulator import ALL, PROGRAM, SimulatorCase, commit_number

SEEDS = 40_000 if ALL else 4_000


class Sweep(SimulatorCase):
    def test_no_seed_breaks_a_promise(self):
        first = 1_000_000 + commit_number() % 1_000_000_000
        seeds = f"{first}..{first + SEEDS - 1}"
        print(f"seeds {seeds}: bullring-sim sweep --seeds {seeds}", flush=True)
        result = self.sweep(seeds, "--shrunk-to", self.folder() / "shrunk.txt")
        self.assertEqual(result["seeds"], SEEDS)
        self.assertEqual(result["violations"], [])
        self.assertGreater(result["twice"], SEEDS // 200)
        rate = result["delivered"] / result["cpu_ns"] * 1e9
        print(f"{result['delivered']} messages delivered, {rate / 1e6:.2f} million a CPU second")

    def test_the_same_seed_gives_the_same_trace_byte_for_byte(self):
        for name in ("one", "two"):
            self.run_sim("run", "--seed", 17, "--quiet", "--trace", self.folder() / name)
        one, two = ((self.folder() / name).read_bytes() for name in ("one", "two"))
        self.assertGreater(len(one), 10_000)
        self.assertEqual(one, two)

    def test_a_saved_run_is_the_same_run(self):
        saved = self.folder() / "saved.txt"
        self.run_sim("run", "--seed", 29, "--quiet", "--save", saved, "--trace", self.folder() / "a")
        self.run_sim("scenario", saved, "--trace", self.folder() / "b")
        self.assertEqual((self.folder() / "a").read_bytes(), (self.folder() / "b").read_bytes())

    def test_shards_add_up_to_the_whole(self):
        whole = self.sweep("1..60", "--no-shrink")
        parts = [self.folder() / f"part-{i}" for i in range(3)]
        for i, part in enumerate(parts):
            self.run_sim("sweep", "--seeds", "1..60", "--shard", f"{i}/3", "--json", part)
        again = self.run_sim("report", *parts, parts[1], status=2)
        self.assertIn(f"'{parts[1]}': seeds of 1..60 are in another result too", again.stderr)
        total = self.run_sim("report", *parts).stdout
        self.assertTrue(total.startswith(f"60 seeds ({whole['twice']} of them twice)"), total)
        self.assertIn(f"digest {whole['digest']}", total)
        self.assertIn(f"{whole['delivered']} messages delivered", total)

    def result(self, **changes):
        """A file as `sweep --json` writes it."""
        share = {"first": 1, "last": 2000, "shard": 0, "shards": 1, "flags": "", "full": True}
        result = {"shares": [share | changes.pop("share", {})], "seeds": 2000, "violations": []}
        path = self.folder() / f"result-{len(list(self.folder().iterdir()))}.json"
        path.write_text(json.dumps(result | changes))
        return path

    def test_a_report_says_how_to_see_a_failure_again(self):
        flags = " --nodes 5 --algorithm ring"
        found = {"seed": 11, "check": "I1", "what": "two", "flags": flags}
        shown = self.run_sim("report", self.result(violations=[found]), status=1).stdout
        self.assertIn(f"see it with: bullring-sim run{flags} --seed 11", shown)

    def test_a_report_misses_what_its_sweeps_would_have_missed(self):
        shown = self.run_sim("report", self.result(), status=1).stdout
        self.assertIn("never happened, so it was not tested: crash\n", shown)
        narrowed = self.result(share={"flags": " --nodes 1", "full": False})
        self.assertNotIn("never happened", self.run_sim("report", narrowed).stdout)

    def test_a_report_names_the_file_that_is_none(self):
        for changes in ({"seeds": -5}, {"digest": "seven"}, {"share": {"shard": 3}}):
            with self.subTest(**changes):
                path = self.result(**changes)
                self.assertIn(str(path), self.run_sim("report", path, status=1).stderr)

    def test_a_result_is_kept_when_nobody_reads_the_summary(self):
        path = self.folder() / "result.json"
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [PROGRAM, "sweep", "--seeds", "1..3", "--json", path], stdout=full,
                stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("stdout can't be written", done.stderr)
        self.assertEqual(json.loads(path.read_text())["seeds"], 3)

    def test_what_cannot_be_written_is_told_before_the_work(self):
        scenario = self.folder() / "scenario.txt"
        scenario.write_text("nodes 3\nat 0s start all\nat +0s expect leader within 5s\n")
        nowhere = self.folder() / "nowhere" / "file"
        below_a_file = scenario / "file"
        refused = self.run_sim("sweep", "--seeds", "1..1000000", "--json", below_a_file, status=1)
        self.assertIn(f"{below_a_file} can't be written: Not a directory", refused.stderr)
        for command in (
            ("sweep", "--seeds", "1..1000000", "--json"),
            ("sweep", "--seeds", "1..1000000", "--shrunk-to"),
            ("run", "--seed", 1, "--save"), ("run", "--seed", 1, "--trace"),
            ("scenario", scenario, "--diagram"), ("messages", "--chart"),
            ("explore", "--json"), ("explore", "--counterexample"),
        ):  # fmt: skip
            with self.subTest(command=command):
                done = self.run_sim(*command, nowhere, status=1)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"{nowhere} can't be written: No such file", done.stderr)

    def test_seeds_and_parts_of_pictures_are_checked(self):
        self.run_sim("run", "--seed", -1, status=2)
        self.run_sim("run", "--seed", 2**63, status=2)
        self.run_sim("run", "--seed", 1, "--from", "1s", status=2)
        self.run_sim(
            "run", "--seed", 1, "--diagram", "a.svg", "--from", "2s", "--to", "1s", status=2
        )

    def test_jobs_do_not_change_the_result(self):
        one, two = (self.sweep("61..100", "--jobs", jobs) for jobs in (1, 2))
        self.assertEqual(one["digest"], two["digest"])
        self.assertEqual(one["coverage"], two["coverage"])


class Textbook(SimulatorCase):
    def test_without_a_majority_one_leader_is_left_when_all_is_mended(self):
        said = self.run_sim("sweep", "--seeds", "1..400", "--quorum", "none").stdout
        self.assertIn("request_parked 0", said)  # no promise was given, so it was that mode
        self.assertIn("L4: a leader in", said)


class Usage(SimulatorCase):
    def test_wrong_usage_names_the_value(self):
        for arguments, words in {
            ("sweep", "--seeds", "9..3"): "'9..3'",
            ("sweep", "--seeds", "x"): "'x'",
            ("sweep", "--seeds", "1..2", "--shard", "3/3"): "'3/3'",
            ("sweep", "--seeds", "1..2", "--faults", "rain"): "'rain'",
            ("sweep", "--seeds", "1..2", "--nodes", "65"): "'65'",
            ("run", "--seed", "1", "--duration", "1d"): "'1d'",
            ("run", "--seed", "1", "--algorithm", "paxos"): "paxos",
            ("run", "--seed", "1", "--quorum", "one"): "one",
            ("fly",): "subcommand",
        }.items():
            with self.subTest(arguments):
                self.assertIn(words, self.run_sim(*arguments, status=2).stderr)


if __name__ == "__main__":
    unittest.main()
