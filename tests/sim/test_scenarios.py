# ctest-processors: 1
"""Every scenario keeps its word: the rows of the failure table, the graphs of partial
connectivity, and one for each bug that was ever found."""

import pathlib
import unittest

from simulator import ROOT, SimulatorCase

SCENARIOS = ROOT / "tests" / "scenarios"


class Scenarios(SimulatorCase):
    def test_all_are_kept(self):
        files = sorted(SCENARIOS.rglob("*.txt"))
        self.assertGreater(len(files), 100)
        shown = self.run_sim("scenario", *files).stdout
        self.assertIn(f"{len(files)} scenarios, 0 broken", shown)

    def test_a_directory_stands_for_the_scenarios_in_it(self):
        files = len(list((SCENARIOS / "found").rglob("*.txt")))
        shown = self.run_sim("scenario", SCENARIOS / "found").stdout
        self.assertIn(f"{files} scenarios, 0 broken", shown)
        empty = self.run_sim("scenario", self.folder(), status=1)
        self.assertIn("no scenario (*.txt) is in it", empty.stderr)

    def test_one_that_expects_too_much_is_broken_in_its_line(self):
        file = self.folder() / "wrong.txt"
        file.write_text("nodes 3\nat 0s start all\nat +0s expect leader 1 within 5s\n")
        shown = self.run_sim("scenario", file, status=1).stdout
        self.assertIn(f"BROKEN  {file}:3: L1", shown)

    def test_what_is_not_understood_is_named_with_its_line(self):
        file = self.folder() / "wrong.txt"
        file.write_text("nodes none\nat 1s explode 3\nat soon crash 1\ncolour red\n")
        complaint = self.run_sim("scenario", file, status=2).stderr
        for words in (
            f"{file}:1: nodes 'none'", f"{file}:2: 'explode'", f"{file}:3: 'at soon'",
            f"{file}:4: 'colour'",
        ):  # fmt: skip
            self.assertIn(words, complaint)

    def test_a_file_that_is_no_scenario_is_not_told_in_full(self):
        file = self.folder() / "wrong.txt"
        file.write_text(f"{'x' * 5000}\n" * 1000)
        complaint = self.run_sim("scenario", file, status=2).stderr
        self.assertIn("and 980 more", complaint)
        self.assertLess(len(complaint), 20_000)

    def test_a_missing_file_is_an_error(self):
        self.assertIn("can't be read", self.run_sim("scenario", "nowhere.txt", status=1).stderr)


class Files(unittest.TestCase):
    def test_each_begins_with_what_it_is_about(self):
        for file in SCENARIOS.rglob("*.txt"):
            with self.subTest(pathlib.PurePath(file).name):
                self.assertTrue(file.read_text().startswith("# "))


if __name__ == "__main__":
    unittest.main()
