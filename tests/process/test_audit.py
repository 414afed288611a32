"""`bullring audit`: its exit status and what it prints, of streams made by hand and real ones."""

import json
import resource
import signal
import subprocess

import pytest
from harness.node import ROOT, find_program
from clusters import LONG, ON_USUAL, TEXTBOOK

JSON_KEYS = ["proved", "seconds", "from", "to", "lines", "nodes", "clocks"]
JSON_KEYS += ["leaderships", "contradictions", "gaps"]
BOOT = "11111111-2222-3333-4444-555555555555"


def line(at_ms, node, event, **more):
    head = {
        "ts_ns": at_ms * 1_000_000,
        "time": f"2026-01-01T00:{at_ms // 60_000:02}:{at_ms // 1000 % 60:02}.{at_ms % 1000:03}Z",
        "node": node,
        "event": event,
    }
    return json.dumps({**head, **more}, separators=(",", ":")) + "\n"


def started(at_ms, node, boot=BOOT, quorum="majority", **more):
    return line(at_ms, node, "started", quorum=quorum, peers=[1, 2], pid=node, boot=boot, **more)


def elected(at_ms, node, epoch):
    return line(at_ms, node, "elected", epoch=epoch, grants=[1, 2])


def deposed(at_ms, node, epoch, until_ms=None):
    until = (at_ms if until_ms is None else until_ms) * 1_000_000
    return line(at_ms, node, "deposed", epoch=epoch, reason="resigned", held_until_ns=until)


FIRST = started(10, 1) + elected(100, 1, 1) + deposed(200, 1, 1)


@pytest.fixture
def audit(tmp_path):
    """Runs it over streams, which become the files a, b, … of its directory."""

    def run(*streams, flags=(), names=None, **options):
        names = names or [chr(ord("a") + i) for i in range(len(streams))]
        for name, stream in zip(names, streams):
            (tmp_path / name).write_text(stream)
        return subprocess.run(
            [find_program(), "audit", *flags, *names],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            **options,
        )

    return run


@pytest.mark.parametrize(
    ("second", "where"),
    [
        (elected(199, 2, 2), ("a:3", "b:2")),
        (elected(150, 2, 2) + deposed(160, 2, 2), ("a:3", "b:2")),
        (elected(201, 2, 1), ("a:2", "b:2")),
        (elected(50, 2, 2) + deposed(60, 2, 2), ("b:2", "a:2")),
        (line(150, 2, "leader", leader=2, epoch=1, advertised=""), ("a:2", "b:2")),
    ],
    ids=["overlap", "within", "same-epoch", "falling-epoch", "followed-another"],
)
def test_the_two_lines_that_contradict_are_printed(audit, second, where):
    streams = {"a": FIRST, "b": started(10, 2) + second}
    done = audit(*streams.values())
    assert done.returncode == 1
    quoted = [text[2:] for text in done.stdout.splitlines() if text.startswith("  ")]
    expected = []
    for place in where:
        name, number = place.split(":")
        expected.append(f"{place}: {streams[name].splitlines()[int(number) - 1]}")
    assert quoted == expected
    assert done.stderr.count("\n") == 1
    assert f"{where[0]} and {where[1]}" in done.stderr


def test_logs_of_clients_are_judged(audit):
    """Those of the page, and of another one that worked a moment too early."""
    page = (ROOT / "src/manual/bullring-audit.1.md").read_text().partition("## LOGS OF CLIENTS")[2]
    lines = [json.loads(text) for text in page.splitlines() if text.startswith("{")]
    first = "".join(json.dumps(one) + "\n" for one in lines)
    until_ns = lines[2]["held_until_ns"]

    def judged(from_ns):
        begun = lines[1] | {"node": 2, "epoch": lines[1]["epoch"] + 1, "ts_ns": from_ns}
        second = [lines[0] | {"node": 2}, begun]
        return audit(first, "".join(json.dumps(one) + "\n" for one in second), flags=["--strict"])

    well = judged(until_ns)
    assert (well.returncode, well.stderr) == (0, "")
    assert judged(until_ns - 1).returncode == 1


def test_each_file_that_is_no_event_stream_is_named(audit):
    done = audit(FIRST, "hello\n", started(10, 2) + "{}\n", flags=["missing"])
    assert (done.returncode, done.stdout) == (2, "")
    missing, hello, empty_object = done.stderr.splitlines()
    assert '"missing"' in missing and "No such file" in missing
    assert "b:1: not a line of an event stream: it is no JSON object" in hello
    assert "c:2: not a line of an event stream: it has no ts_ns" in empty_object


def test_nothing_is_proved_by_nothing(audit):
    done = audit("", "")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no file holds an event" in done.stderr
    assert audit().returncode == 2


def test_a_stream_comes_by_stdin_and_the_answer_as_json(audit):
    done = audit(flags=["--json", "-"], input=FIRST)
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert list(said) == JSON_KEYS
    assert said["proved"] is False
    assert [gap["kind"] for gap in said["gaps"]] == ["no_stream"]
    (held,) = said["leaderships"]
    assert (held["epoch"], held["elected_ns"], held["held_until_ns"]) == (1, 10**8, 2 * 10**8)


def test_a_million_lines_take_little_memory(tmp_path):
    """The limit is far below the size of the file."""
    path = tmp_path / "a"
    with open(path, "w") as file:
        file.write(started(0, 1))
        filler = "".join(line(1, 1, "peer_up", peer=2) for _ in range(10_000))
        for epoch in range(1, 101):
            file.write(elected(epoch * 10, 1, epoch) + filler + deposed(epoch * 10 + 5, 1, epoch))
    assert path.stat().st_size > 80e6
    done = subprocess.run(
        [find_program(), "audit", "--json", path],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (60_000_000, 60_000_000)),
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["lines"], len(said["leaderships"])) == (1_000_201, 100)


def test_an_answer_that_nobody_takes_is_a_failure(audit, tmp_path):
    (tmp_path / "a").write_text(FIRST)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [find_program(), "audit", tmp_path / "a"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, "stdout can't be written" in done.stderr) == (1, True)


@ON_USUAL
def test_kills_hangs_and_stops_of_leaders_are_proved_by_their_streams(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=LONG).start()
    epochs = set()
    for attack in ("kill", "hang_for_good", "terminate", "kill"):
        old = cluster.wait_settled()
        epochs.add(old.view[1])
        at_ns = getattr(old, attack)()
        cluster.wait_elected(at_ns)
        assert old.wait_exit() == (0 if attack == "terminate" else -signal.SIGKILL)
        old.start()
    epochs.add(cluster.wait_settled().view[1])
    audit = cluster.audit()
    assert audit.proved, audit.unproved()
    assert epochs <= {held.epoch for held in audit.leaderships}
    reasons = [held.reason for held in audit.leaderships]
    assert reasons.count("died") == 2 and reasons.count("hung") == 1 and "stopped" in reasons


def test_the_textbook_contradicts_itself_and_says_that_it_promises_nothing(new_cluster):
    """Two nodes that never meet both lead."""
    cluster = new_cluster(2, unjudged=TEXTBOOK, flags=["--quorum", "none"])
    for node in cluster:
        other = cluster.ports.take()
        node.peers = ",".join(
            f"{peer.id}=127.0.0.1:{peer.port if peer is node else other}" for peer in cluster
        )
    cluster.start()
    cluster.wait_for(lambda: all(node.leads for node in cluster), "both lead")
    for node in cluster:
        node.stop()
    audit = cluster.audit()
    assert audit.contradictions
    assert "without_quorum" in audit.gaps


def test_what_is_not_proved_fails_with_strict(audit):
    for flags, status in (([], 0), (["--strict"], 1)):
        done = audit(FIRST, flags=flags)
        assert done.returncode == status
        assert "do not prove it" in done.stdout
    assert "--strict" in done.stderr
    second = started(10, 2) + elected(201, 2, 2) + deposed(300, 2, 2)
    assert audit(FIRST, second, flags=["--strict"]).returncode == 0
