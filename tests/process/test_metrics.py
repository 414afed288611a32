"""/metrics: what Prometheus's own tools and parsers say of it, and that its figures are true."""

import subprocess

import pytest
from harness.http import ask
from clusters import LONG, SOON_NS
from harness.waiting import DEADLINE
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

pytestmark = pytest.mark.limit(120)

OPEN = {"Accept": "application/openmetrics-text;version=1.0.0"}
# Dashboards and alerts may rest on these; a certificate comes with security, a reason or a result
# with the first of its kind.
ALWAYS = """
    bullring_build_info bullring_is_leader bullring_leader_id bullring_epoch
    bullring_lease_seconds_left bullring_role bullring_healthy bullring_eligible bullring_votes
    bullring_leader_changes_total
    bullring_elections_total bullring_failover_seconds bullring_leaderless_seconds_total
    bullring_peer_connected bullring_peer_rtt_seconds bullring_messages_total
    bullring_majority_connected bullring_wrong
    bullring_wire_version bullring_peer_wire_version
    bullring_loop_lateness_seconds bullring_fsync_seconds bullring_members bullring_task_running
    bullring_task_restarts_total leader_election_master_status
    process_start_time_seconds process_resident_memory_bytes process_virtual_memory_bytes
    process_cpu_seconds_total process_open_fds process_max_fds""".split()


@pytest.fixture
def cluster(new_cluster, ports):
    cluster = new_cluster(3, flags=LONG)
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
    cluster.start().wait_settled()
    return cluster


def samples(node):
    """{(name, labels): value}"""
    text = ask(node.http, "/metrics").body
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in prometheus(text)
        for sample in family.samples
    }


def total(node, name):
    return sum(value for (sample, _), value in samples(node).items() if sample == name)


def test_promtool_and_the_parsers_find_nothing_wrong(cluster):
    leader = cluster.leader()
    leader.kill()
    cluster.wait_settled()
    leader.restart()
    cluster.wait_settled()
    for node in cluster:
        answer = ask(node.http, "/metrics")
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        checked = subprocess.run(
            ["promtool", "check", "metrics"],
            input=answer.body,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert (checked.returncode, checked.stderr) == (0, "")
        opened = ask(node.http, "/metrics", headers=OPEN)
        assert opened.headers["Content-Type"].startswith("application/openmetrics-text")
        assert len(list(open_metrics(opened.body))) >= len(ALWAYS)
    text = ask(cluster.leader().http, "/metrics").body
    assert [name for name in ALWAYS if f"# HELP {name} " not in text] == []


def test_a_failover_is_counted_and_timed(cluster):
    leader = cluster.leader()
    others = [node for node in cluster if node is not leader]
    before = {node: total(node, "bullring_failover_seconds_count") for node in others}
    assert set(before.values()) == {0}
    leader.kill()
    successor = cluster.wait_settled()
    for node in others:
        told = samples(node)
        assert told[("bullring_failover_seconds_count", ())] == 1
        assert 0 < told[("bullring_failover_seconds_sum", ())] < SOON_NS / 1e9
        assert told[("bullring_leader_changes_total", (("reason", "died"),))] == 1
        assert told[("bullring_leader_changes_total", (("reason", "first"),))] == 1
        assert told[("bullring_is_leader", ())] == (1 if node is successor else 0)
        assert told[("bullring_leader_id", ())] == successor.id
        assert told[("bullring_peer_connected", (("peer", str(leader.id)),))] == 0
    won = samples(successor)[("bullring_elections_total", (("result", "won"),))]
    assert won == 1
    assert total(successor, "bullring_messages_total") > 10
    assert total(successor, "bullring_fsync_seconds_count") >= 1
    # Only timers are timed, and a failover is driven by messages: some may be still to come.
    cluster.wait_for(
        lambda: total(successor, "bullring_loop_lateness_seconds_count") > 1, "timers that ran"
    )


def test_a_lost_majority_is_told_and_so_is_its_return(cluster):
    def connected(node):
        return total(node, "bullring_majority_connected")

    assert [connected(node) for node in cluster] == [1, 1, 1]
    cluster[2].kill()
    cluster[3].kill()
    cluster.wait_for(lambda: connected(cluster[1]) == 0, "the majority is lost")
    cluster[2].restart()
    cluster.wait_for(lambda: connected(cluster[1]) == 1, "there is one again")


def test_the_round_trip_is_that_of_loopback(cluster):
    def round_trips():
        told = samples(cluster[1]).items()
        return [value for (name, _), value in told if name == "bullring_peer_rtt_seconds"]

    # It is measured by heartbeats, and the first may be still on its way.
    cluster.wait_for(lambda: len(round_trips()) == 2, "the round trip to each peer")
    assert all(0 < value < 1 for value in round_trips())


def test_a_task_is_told_while_it_runs(new_cluster, journal, ports):
    cluster = new_cluster(3, flags=["--kill-after", "300ms"])
    for node in cluster:
        node.http = ports.take()
        node.flags = ["--http", f"127.0.0.1:{node.http}"]
        node.task = journal.command()
    leader = cluster.start().wait_settled()
    cluster.wait_for(journal.begun, "the command")
    cluster.wait_for(lambda: total(leader, "bullring_task_running") == 1, "the command's metric")
    assert cluster.resign().returncode == 0
    cluster.wait_for(lambda: total(leader, "bullring_task_running") == 0, "its end")
    assert total(leader, "bullring_task_restarts_total") == 0
