"""The changes of leader that a node has seen, also before its start, by HTTP."""

import json
import re
import signal

import pytest
from harness.http import ask
from clusters import LONG, on_both
from harness.waiting import wait_until

pytestmark = pytest.mark.limit(120)


def counted(node):
    """bullring_leader_changes_total, of those that are not 0."""
    metrics = ask(node.http, "/metrics").body
    lines = [line for line in metrics.splitlines() if line.startswith("bullring_leader_changes")]
    values = {line.split('"')[1]: int(float(line.split()[-1])) for line in lines}
    return {reason: value for reason, value in values.items() if value}


def tally(reasons):
    return {reason: reasons.count(reason) for reason in reasons}


@on_both(3)
def test_history_failovers_and_metrics_have_one_reason_for_one_change(
    new_cluster, ports, algorithm, n
):
    cluster = new_cluster(n, algorithm, flags=["--no-preempt", *LONG])
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
    first = cluster.start().wait_settled()
    assert cluster.command("resign").returncode == 0
    second = cluster.wait_settled()
    assert second is not first
    second.kill()
    third = cluster.wait_settled()

    for node in (first, third):
        wait_until(
            lambda node=node: ask(node.http, "/failovers").json[0]["to"] == third.id,
            "the failover is remembered",
        )
        history = ask(node.http, "/history").json
        failovers = ask(node.http, "/failovers").json
        assert history["leaderless_since"] is None
        reasons = [change["reason"] for change in history["changes"]]
        assert reasons == [one["reason"] for one in failovers]
        assert reasons[0] == "died"
        assert reasons[1] == "resigned"
        assert reasons[-1] == "first"
        assert tally(reasons) == counted(node)
        events = node.current.stream.of("leader")
        told = [event["before"] for event in events if event["leader"] is not None]
        assert told == reasons[::-1]
        assert {event["before"] for event in events if event["leader"] is None} <= {None}


def test_while_nobody_leads_it_is_told_since_when(new_cluster, ports):
    cluster = new_cluster(3, profile="fast")
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
    leader = cluster.start().wait_settled()
    assert ask(leader.http, "/history").json["leaderless_since"] is None
    for node in cluster:
        if node is not leader:
            node.kill()

    def told():
        return ask(leader.http, "/history").json["leaderless_since"]

    cluster.wait_for(told, "that nobody leads")
    events = cluster.wait_for(
        lambda: [one for one in leader.current.stream.of("leader") if one["leader"] is None],
        "the loss in the stream",
    )
    assert told()[:19] == events[-1]["time"][:19]


def test_the_trace_of_a_failover_and_the_viewer_for_it_are_answered(new_cluster, ports):
    node = new_cluster(1)[1]
    node.http = ports.take()
    node.flags = ["--http", f"127.0.0.1:{node.http}"]
    node.start()
    node.cluster.wait_settled()
    wait_until(lambda: ask(node.http, "/failovers").json, "a failover")
    lines = [json.loads(line) for line in ask(node.http, "/failovers/1.jsonl").body.splitlines()]
    assert {line["node"] for line in lines} == {1}
    assert "elected" in [line["kind"] for line in lines]
    page = ask(node.http, "/viewer.html")
    needed = set(re.findall(r'(?:href|src)="([^"]+)"', page.body))
    for name in needed:
        needed = needed | set(re.findall(r'from "\./([^"]+)"', ask(node.http, f"/{name}").body))
    assert {"viewer.js", "draw.js", "trace.js", "draw.css"} <= needed
    types = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
    for name in needed:
        answer = ask(node.http, f"/{name}")
        assert (answer.status, answer.headers["Content-Type"]) == (200, types[name.split(".")[1]])
    for gone in ("/failovers/1.svg", "/failovers/1.bare.svg", "/failovers/legend.svg"):
        assert ask(node.http, gone).status == 404


@pytest.fixture
def alone(spawn, new_cluster, ports, tmp_path):
    """Starts the only member of a cluster, whose stream goes on in one file from run to run."""
    node = new_cluster(1)[1]
    port = ports.take()
    stream = tmp_path / "events"

    def start(events=stream):
        flags = ["--http", f"127.0.0.1:{port}", "--first-epoch", "0"]
        process = spawn(
            node.command([*flags, "--events", str(events)]), env=node.cluster.environment
        )
        wait_until(lambda: led(port), "it leads")
        return process

    def led(port):
        try:
            return ask(port, "/leader").status == 200
        except OSError:
            return False

    start.port, start.stream = port, stream
    return start


def epochs(alone):
    return [change["epoch"] for change in ask(alone.port, "/history").json["changes"]]


def test_what_was_seen_before_a_restart_is_told_after_it(alone):
    def leaders():
        lines = [json.loads(line) for line in alone.stream.read_text().splitlines()]
        return [line for line in lines if line["event"] == "leader" and line["leader"] == 1]

    for run, end in enumerate((signal.SIGKILL, signal.SIGTERM, None), 1):
        process = alone()
        wait_until(lambda run=run: len(leaders()) == run, "the event of this run")
        if end is not None:
            process.send_signal(end)
            process.wait()
    # The stream is read beside the answers.
    wait_until(lambda: len(epochs(alone)) == 3, "all three runs")
    told = ask(alone.port, "/history").json["changes"]
    assert [change["epoch"] for change in told] == [line["epoch"] for line in leaders()][::-1]
    assert [change["reason"] for change in told] == ["first"] * 3
    times = [line["time"] for line in leaders()][::-1]
    assert [change["time"] for change in told][1:] == times[1:]


def line(epoch, when="2026-11-01T10:00:00.000000Z", **more):
    head = {"ts_ns": 5, "time": when, "node": 1, "event": "leader", "leader": 3}
    return json.dumps(head | {"epoch": epoch, "advertised": "db", **more}) + "\n"


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (line(1, before="died"), [1]),
        (line(1) + line(2)[:40], [1]),
        (line(1)[40:] + line(2), [2]),
        (line(1) + "{]\n\x00\xff" + line(2), [2, 1]),
        (line(1) + "x" * 3_000_000 + "\n" + line(2), [2]),
        (line(1) + "x" * 3_000_000, []),
    ],
    ids=["whole", "torn", "begins-within-a-line", "rubbish", "long", "no-lines"],
)
def test_a_stream_that_was_damaged_tells_what_it_can_and_stops_nobody(alone, before, told):
    alone.stream.write_text(before)
    alone()
    wait_until(lambda: epochs(alone)[1:] == told, lambda: f"{told} instead of {epochs(alone)}")


def test_a_stream_that_cannot_be_read_stops_nobody(alone, tmp_path):
    for events in ("-", "/dev/null", tmp_path / "none-yet"):
        process = alone(events)
        assert len(epochs(alone)) == 1
        process.kill()
        process.wait()


def test_the_page_shows_them_with_their_dates(alone, browser):
    alone.stream.write_text(line(1, "2026-10-01T10:00:00.000000Z", before="lease_expired"))
    alone()
    browser.get(f"http://127.0.0.1:{alone.port}/")
    rows = "return [...document.querySelectorAll('#changes > li')].map((row) => row.textContent)"
    wait_until(lambda: len(epochs(alone)) == 2, "the earlier run")
    browser.refresh()
    wait_until(lambda: len(browser.execute_script(rows)) == 2, "both changes")
    newest, oldest = browser.execute_script(rows)
    assert oldest.startswith("10-01 10:00 node 3"), oldest
    for told in ("lease_expired", "3 · db", "not known", "2026-10-01 10:00:00"):
        assert told in oldest, oldest
    assert re.match(r"\d\d:\d\d:\d\d ", newest), newest
