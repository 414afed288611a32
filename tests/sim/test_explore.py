"""A bounded exhaustive search, and pictures of what the simulator runs."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from harness.node import ROOT
from simulator import ALL, PROGRAM, SCENARIOS

SECONDS = 150 if ALL else 10
NODE = shutil.which("nodejs") or shutil.which("node")
PICTURES = sorted((ROOT / "sim" / "pictures").glob("*.svg"))


def drawn(page):
    """The drawing that a page begins with."""
    command = [NODE, ROOT / "src" / "viewer" / "svg.js", page]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sent(lines, kinds, begin, end):
    """How often each of these kinds is sent in that time (ms), but for what goes to who hangs."""
    hung = {line["node"] for line in lines if line["kind"] == "pause"}
    count = dict.fromkeys(kinds, 0)
    for line in lines:
        if line["dir"] == "send" and line["kind"] in count and line["peer"] not in hung:
            count[line["kind"]] += begin <= line["t_ns"] / 1e6 < end
    return count


@pytest.mark.parametrize("kinds", [None, "crash,cut,add,remove,promote,demote", "crash,greet"])
@pytest.mark.parametrize("algorithm", ["bully", "ring"])
def test_no_interleaving_breaks_a_promise(run_sim, tmp_path, algorithm, kinds):
    path = tmp_path / "result.json"
    searched = ["--nodes", 3, "--algorithm", algorithm, "--faults", 2]
    searched += ["--fault-kinds", kinds] if kinds else []
    shown = run_sim("explore", *searched, "--time-limit", f"{SECONDS}s", "--json", path).stdout
    print(shown)
    assert json.loads(path.read_text())["states"] > 50_000


def test_wrong_usage_is_refused(run_sim):
    run_sim("explore", "--algorithm", "paxos", status=2)
    run_sim("explore", "--nodes", "0", status=2)


def test_a_path_that_was_found_is_a_scenario(run_sim, tmp_path):
    path = tmp_path / "path.txt"
    path.write_text("# A leader dies.\nnodes 3\nby-hand settled\nmove crash 3\n")
    shown = run_sim("scenario", "--verbose", path).stdout
    assert f"kept    {path}" in shown
    assert "crash 3" in shown
    run_sim("scenario", path, "--diagram", tmp_path / "a.html")
    path.write_text(path.read_text().replace("\n", "\r\n"))
    run_sim("scenario", path)
    path.write_text(path.read_text() + "move crash 3\n")
    assert f"BROKEN  {path}:5: " in run_sim("scenario", path, status=1).stdout
    path.write_text(path.read_text() + "move fly 1\n")
    assert f"{path}:6: 'fly'" in run_sim("scenario", path, status=2).stderr


def test_a_scenario_says_which_part_is_drawn(run_sim, tmp_path):
    scenario, whole, part = (tmp_path / name for name in ("a.txt", "a.html", "b.html"))
    story = "nodes 3\nat 0s start all\nat 1s {}mark\nat 2s crash 3\nat 3s mark\n"
    scenario.write_text(story.format(""))
    run_sim("scenario", scenario, "--diagram", whole)
    assert ">dies</text>" in drawn(whole)
    scenario.write_text(story.format("picture begins\nat 1500ms picture ends\nat +0s "))
    run_sim("scenario", scenario, "--diagram", part)
    assert ">dies</text>" not in drawn(part)
    assert "500 ms of the trace, from 1" in drawn(part)


def test_a_run_is_drawn_and_its_trace_draws_the_same(run_sim, tmp_path):
    direct, trace, later = (tmp_path / name for name in ("a.html", "trace", "b.html"))
    run_sim("run", "--seed", 12, "--quiet", "--trace", trace, "--diagram", direct)
    run_sim("diagram", trace, "-o", later, "--title", "seed 12")
    for page in (direct, later):
        root = xml.etree.ElementTree.fromstring(drawn(page))
        assert root.tag.endswith("svg")
        assert len(list(root.iter())) > 50
    assert trace.read_text() in later.read_text()
    assert ">seed 12</text>" in drawn(later)
    run_sim("diagram", trace, "-o", tmp_path / "a.svg", status=2)


def test_the_page_is_one_script_that_is_sound(run_sim, tmp_path):
    """No name is in two of the viewer's files, which are one script there."""
    page, script = tmp_path / "a.html", tmp_path / "a.mjs"
    run_sim("run", "--seed", 12, "--quiet", "--diagram", page)
    (text,) = re.findall(r"<script type=\"module\">\n(.*?)</script>", page.read_text(), re.DOTALL)
    script.write_text(text)
    subprocess.run([NODE, "--check", script], check=True)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_a_picture_in_the_documents_is_that_of_its_scenario(tmp_path, picture):
    draw = [ROOT / "scripts" / "pictures", "--into", tmp_path, picture.stem]
    subprocess.run(draw, check=True, env={**os.environ, "BULLRING_SIM": str(PROGRAM)})
    assert (tmp_path / picture.name).read_text() == picture.read_text(), "run scripts/pictures"


def test_the_documents_have_pictures():
    assert len(PICTURES) == 12


ASKED = {"ELECTION": 10, "OK": 2, "LEADER": 8, "COORDINATOR": 4}
WALKED = {"TOKEN": 7, "CTOKEN": 4, "TACK": 10, "COORDINATOR": 4}
GRANTED = {"ELECTION": 0, "COORDINATOR": 6, "GRANT": 3}  # 3 of them announce


@pytest.mark.parametrize(
    ("name", "begin", "end", "counted"),
    [
        ("03-concurrent-initiators", 0, 20, ASKED),
        ("04-ring-one-and-two-initiators", 1007, 1020, {"TOKEN": 4, "CTOKEN": 4}),
        ("04-ring-one-and-two-initiators", 1029, 1060, {"TOKEN": 4, "CTOKEN": 3}),
        ("05-the-tokens-holder-dies", 1018, 1032, WALKED),
        ("07-the-same-with-a-majority", 1010, 2200, {"ELECTION": 0, "LEADER": 0}),
        ("08-hang-and-return", 1510, 1513, GRANTED),
    ],
)
def test_the_lecture_counts_what_its_scenarios_send(run_sim, tmp_path, name, begin, end, counted):
    trace = tmp_path / "trace"
    run_sim("scenario", SCENARIOS / "lecture" / f"{name}.txt", "--trace", trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert sent(lines, counted, begin, end) == counted


def test_messages_are_counted_beside_theory(run_sim, tmp_path):
    chart = tmp_path / "chart.svg"
    shown = run_sim("messages", "--to", 7, "--seeds", 5, "--chart", chart).stdout
    best = [line.split()[:3] for line in shown.splitlines() if line.split()[:1] == ["5"]]
    assert best == [["5", "9", "9"], ["5", "17", "17"]]
    textbook = run_sim("messages", "--to", 8, "--seeds", 5, "--quorum", "none").stdout
    rows = [line.split() for line in shown.splitlines() + textbook.splitlines()]
    large = run_sim("messages", "--from", 24, "--to", 24, "--seeds", 1).stdout
    rows += [line.split() for line in large.splitlines()]
    counted = [row for row in rows if row and row[0].isdigit()]
    assert len(counted) == 2 * (5 + 6 + 1)
    for nodes, best, theory, *_ in counted:
        assert best == theory, nodes
    xml.etree.ElementTree.parse(chart)
