"""Thousands of random histories: new ones with each commit, the same ones for one commit."""

import json

import pytest
from simulator import ALL, commit_number

pytestmark = [pytest.mark.alone, pytest.mark.limit(1200)]

SEEDS = 40_000 if ALL else 2_000


def test_no_seed_breaks_a_promise(run_sim, tmp_path):
    first = 1_000_000 + commit_number() % 1_000_000_000
    seeds = f"{first}..{first + SEEDS - 1}"
    print(f"seeds {seeds}: bullring-sim sweep --seeds {seeds}", flush=True)
    result = run_sim.sweep(seeds, "--shrunk-to", tmp_path / "shrunk.txt")
    assert result["seeds"] == SEEDS
    assert result["violations"] == []
    assert result["twice"] > SEEDS // 200
    rate = result["delivered"] / result["cpu_ns"] * 1e9
    print(f"{result['delivered']} messages delivered, {rate / 1e6:.2f} million a CPU second")


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_all_kinds_of_faults_may_be_asked_for(run_sim, nodes):
    """Also those that say nothing in a cluster of that size."""
    result = run_sim.sweep("1..60", "--no-shrink", "--faults", "all", "--nodes", nodes)
    assert result["seeds"] == 60 and result["violations"] == []


def test_the_same_seed_gives_the_same_trace_byte_for_byte(run_sim, tmp_path):
    for name in ("one", "two"):
        run_sim("run", "--seed", 17, "--quiet", "--trace", tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one", "two"))
    assert len(one) > 10_000
    assert one == two


def test_a_saved_run_is_the_same_run(run_sim, tmp_path):
    saved = tmp_path / "saved.txt"
    run_sim("run", "--seed", 29, "--quiet", "--save", saved, "--trace", tmp_path / "a")
    run_sim("scenario", saved, "--trace", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_shards_add_up_to_the_whole(run_sim, tmp_path):
    whole = run_sim.sweep("1..60", "--no-shrink")
    parts = [tmp_path / f"part-{i}" for i in range(3)]
    for i, part in enumerate(parts):
        run_sim("sweep", "--seeds", "1..60", "--shard", f"{i}/3", "--json", part)
    again = run_sim("report", *parts, parts[1], status=2)
    assert f"'{parts[1]}': seeds of 1..60 are in another result too" in again.stderr
    total = run_sim("report", *parts).stdout
    assert total.startswith(f"60 seeds ({whole['twice']} of them twice)"), total
    assert f"digest {whole['digest']}" in total
    assert f"{whole['delivered']} messages delivered" in total


def result(tmp_path, **changes):
    """A file as `sweep --json` writes it."""
    share = {"first": 1, "last": 2000, "shard": 0, "shards": 1, "flags": "", "full": True}
    result = {"shares": [share | changes.pop("share", {})], "seeds": 2000, "violations": []}
    path = tmp_path / f"result-{len(list(tmp_path.iterdir()))}.json"
    path.write_text(json.dumps(result | changes))
    return path


def test_a_report_says_how_to_see_a_failure_again(run_sim, tmp_path):
    flags = " --nodes 5 --algorithm ring"
    found = {"seed": 11, "check": "I1", "what": "two", "flags": flags}
    shown = run_sim("report", result(tmp_path, violations=[found]), status=1).stdout
    assert f"see it with: bullring-sim run{flags} --seed 11" in shown


def test_a_report_misses_what_its_sweeps_would_have_missed(run_sim, tmp_path):
    shown = run_sim("report", result(tmp_path), status=1).stdout
    assert "never happened, so it was not tested: crash\n" in shown
    narrowed = result(tmp_path, share={"flags": " --nodes 1", "full": False})
    assert "never happened" not in run_sim("report", narrowed).stdout


@pytest.mark.parametrize("changes", [{"seeds": -5}, {"digest": "seven"}, {"share": {"shard": 3}}])
def test_a_report_names_the_file_that_is_none(run_sim, tmp_path, changes):
    path = result(tmp_path, **changes)
    assert str(path) in run_sim("report", path, status=1).stderr


def test_a_result_is_kept_when_nobody_reads_the_summary(run_sim, tmp_path):
    path = tmp_path / "result.json"
    with open("/dev/full", "w", encoding="utf-8") as full:
        run_sim("sweep", "--seeds", "1..3", "--json", path, status=1, stdout=full)
    assert json.loads(path.read_text())["seeds"] == 3


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.txt"
    path.write_text("nodes 3\nat 0s start all\nat +0s expect leader within 5s\n")
    return path


@pytest.mark.parametrize("place", ["nowhere/file", "scenario.txt/file"])
@pytest.mark.parametrize(
    "command",
    [
        "sweep --seeds 1..1000000 --json",
        "sweep --seeds 1..1000000 --shrunk-to",
        "run --seed 1 --save",
        "run --seed 1 --trace",
        "scenario scenario.txt --diagram",
        "messages --chart",
        "explore --json",
        "explore --counterexample",
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(run_sim, scenario, command, place):
    done = run_sim(*command.split(), place, status=1)
    assert done.stdout == ""
    assert place in done.stderr


def test_seeds_and_parts_of_pictures_are_checked(run_sim):
    run_sim("run", "--seed", -1, status=2)
    run_sim("run", "--seed", 2**63, status=2)
    run_sim("run", "--seed", 1, "--from", "1s", status=2)
    run_sim("run", "--seed", 1, "--diagram", "a.html", "--from", "2s", "--to", "1s", status=2)


def test_jobs_do_not_change_the_result(run_sim):
    one, two = (run_sim.sweep("61..100", "--jobs", jobs) for jobs in (1, 2))
    assert one["digest"] == two["digest"]
    assert one["coverage"] == two["coverage"]


def test_without_a_majority_one_leader_is_left_when_all_is_mended(run_sim):
    said = run_sim("sweep", "--seeds", "1..400", "--quorum", "none").stdout
    assert "request_parked 0" in said  # no promise was given, so it was that mode
    assert "L4: a leader in" in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sweep --seeds 9..3", "'9..3'"),
        ("sweep --seeds x", "'x'"),
        ("sweep --seeds 1..2 --shard 3/3", "'3/3'"),
        ("sweep --seeds 1..2 --faults rain", "'rain'"),
        ("sweep --seeds 1..2 --nodes 65", "'65'"),
        ("run --seed 1 --duration 1d", "'1d'"),
        ("run --seed 1 --algorithm paxos", "paxos"),
        ("run --seed 1 --quorum one", "one"),
        ("fly", "subcommand"),
    ],
)
def test_wrong_usage_names_the_value(run_sim, line, words):
    assert words in run_sim(*line.split(), status=2).stderr
