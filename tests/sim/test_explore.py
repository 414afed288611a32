# ctest-processors: 1
"""A bounded exhaustive search, and pictures of what the simulator runs."""

import json
import unittest
import xml.etree.ElementTree

from simulator import ALL, ROOT, SimulatorCase

SECONDS = 150 if ALL else 15
LECTURE = ROOT / "tests" / "scenarios" / "lecture"


def sent(lines, kinds, begin, end):
    """How often each of these kinds is sent in that time (ms), but for what goes to who hangs."""
    hung = {line["node"] for line in lines if line["kind"] == "pause"}
    count = dict.fromkeys(kinds, 0)
    for line in lines:
        if line["dir"] == "send" and line["kind"] in count and line["peer"] not in hung:
            count[line["kind"]] += begin <= line["t_ns"] / 1e6 < end
    return count


class Explore(SimulatorCase):
    def test_no_interleaving_breaks_a_promise(self):
        for algorithm in ("bully", "ring"):
            with self.subTest(algorithm):
                path = self.folder() / f"{algorithm}.json"
                shown = self.run_sim(
                    "explore", "--nodes", 3, "--algorithm", algorithm, "--faults", 2,
                    "--time-limit", f"{SECONDS}s", "--json", path,
                ).stdout  # fmt: skip
                result = json.loads(path.read_text())
                print(shown)
                self.assertGreater(result["states"], 50_000)

    def test_wrong_usage_is_refused(self):
        self.run_sim("explore", "--algorithm", "paxos", status=2)
        self.run_sim("explore", "--nodes", "0", status=2)


    def test_a_path_that_was_found_is_a_scenario(self):
        path = self.folder() / "path.txt"
        path.write_text("# A leader dies.\nnodes 3\nalgorithm bully\nstart settled\nsteps\ncrash 3\n")
        shown = self.run_sim("scenario", "--verbose", path).stdout
        self.assertIn(f"kept    {path}", shown)
        self.assertIn("crash 3", shown)
        self.run_sim("scenario", path, "--diagram", self.folder() / "a.svg", status=2)
        path.write_text(path.read_text().replace("\n", "\r\n"))
        self.run_sim("scenario", path)
        path.write_text(path.read_text() + "crash 3\n")
        self.assertIn(f"BROKEN  {path}: ", self.run_sim("scenario", path, status=1).stdout)
        path.write_text(path.read_text() + "fly 1\n")
        self.assertIn("line 8: not a step: fly 1", self.run_sim("scenario", path, status=2).stderr)


class Pictures(SimulatorCase):
    def test_a_scenario_says_which_part_is_drawn(self):
        scenario, whole, part = (self.folder() / name for name in ("a.txt", "a.svg", "b.svg"))
        story = "nodes 3\nat 0s start all\nat 1s {}mark\nat 2s crash 3\nat 3s mark\n"
        scenario.write_text(story.format(""))
        self.run_sim("scenario", scenario, "--diagram", whole)
        self.assertIn(">dies</text>", whole.read_text())
        scenario.write_text(story.format("picture begins\nat 1500ms picture ends\nat +0s "))
        self.run_sim("scenario", scenario, "--diagram", part)
        self.assertNotIn(">dies</text>", part.read_text())
        self.assertIn("500 ms of the trace, from 1", part.read_text())

    def test_a_run_is_drawn_and_its_trace_draws_the_same(self):
        direct, trace, later = (self.folder() / name for name in ("a.svg", "trace", "b.svg"))
        self.run_sim("run", "--seed", 12, "--quiet", "--trace", trace, "--diagram", direct)
        self.run_sim("diagram", trace, "-o", later)
        for picture in (direct, later):
            root = xml.etree.ElementTree.parse(picture).getroot()
            self.assertTrue(root.tag.endswith("svg"))
            self.assertGreater(len(list(root.iter())), 50)

    def test_the_pictures_in_the_documents_are_those_of_their_scenarios(self):
        pictures = sorted((ROOT / "sim" / "pictures").glob("*.svg"))
        self.assertGreaterEqual(len(pictures), 12)
        for picture in pictures:
            with self.subTest(picture.name):
                (scenario,) = (ROOT / "tests" / "scenarios").rglob(f"{picture.stem}.txt")
                drawn = self.folder() / picture.name
                self.run_sim("scenario", scenario, "--diagram", drawn)
                self.assertEqual(drawn.read_text(), picture.read_text())

    def test_the_lecture_counts_what_its_scenarios_send(self):
        asked = {"ELECTION": 10, "OK": 2, "LEADER": 8, "COORDINATOR": 4}
        walked = {"TOKEN": 7, "CTOKEN": 4, "TACK": 10, "COORDINATOR": 4}
        granted = {"ELECTION": 0, "COORDINATOR": 6, "GRANT": 3}  # 3 of them announce
        for name, begin, end, counted in (
            ("03-concurrent-initiators", 0, 20, asked),
            ("04-ring-one-and-two-initiators", 1007, 1020, {"TOKEN": 4, "CTOKEN": 4}),
            ("04-ring-one-and-two-initiators", 1029, 1060, {"TOKEN": 4, "CTOKEN": 3}),
            ("05-the-tokens-holder-dies", 1518, 1530, walked),
            ("07-the-same-with-a-majority", 1510, 2700, {"ELECTION": 0, "LEADER": 0}),
            ("08-hang-and-return", 2012, 2014.9, granted),
        ):
            with self.subTest(name):
                trace = self.folder() / "trace"
                self.run_sim("scenario", LECTURE / f"{name}.txt", "--trace", trace)
                lines = [json.loads(line) for line in trace.read_text().splitlines()]
                self.assertEqual(sent(lines, counted, begin, end), counted)

    def test_messages_are_counted_beside_theory(self):
        chart = self.folder() / "chart.svg"
        shown = self.run_sim("messages", "--to", 7, "--seeds", 5, "--chart", chart).stdout
        best = [line.split()[:3] for line in shown.splitlines() if line.split()[:1] == ["5"]]
        self.assertEqual(best, [["5", "9", "9"], ["5", "17", "17"]])
        textbook = self.run_sim("messages", "--to", 8, "--seeds", 5, "--quorum", "none").stdout
        rows = [line.split() for line in shown.splitlines() + textbook.splitlines()]
        large = self.run_sim("messages", "--from", 24, "--to", 24, "--seeds", 1).stdout
        rows += [line.split() for line in large.splitlines()]
        counted = [row for row in rows if row and row[0].isdigit()]
        self.assertEqual(len(counted), 2 * (5 + 6 + 1))
        for nodes, best, theory, *_ in counted:
            self.assertEqual(best, theory, nodes)
        xml.etree.ElementTree.parse(chart)


if __name__ == "__main__":
    unittest.main()
