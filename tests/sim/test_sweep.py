# ctest-timeout: 1200
"""Thousands of random histories: new ones with each commit, the same ones for one commit."""

import unittest

from simulator import ALL, SimulatorCase, commit_number

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
        total = self.run_sim("report", *parts).stdout
        self.assertTrue(total.startswith(f"60 seeds ({whole['twice']} of them twice)"), total)
        self.assertIn(f"digest {whole['digest']}", total)
        self.assertIn(f"{whole['delivered']} messages delivered", total)

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
