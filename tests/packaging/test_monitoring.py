"""The alert rules and the dashboard: each alert fires on what it is for, and neither asks for a
metric or a label that no node has.
"""

import json
import re
import shutil

import pytest
import yaml
from harness.packaging_files import SOURCES, run

pytestmark = pytest.mark.beside

PROMETHEUS = SOURCES / "prometheus"
RULES = yaml.safe_load((PROMETHEUS / "bullring.rules.yml").read_text())["groups"][0]["rules"]
TESTS = yaml.safe_load((PROMETHEUS / "bullring.rules.test.yml").read_text())["tests"]
DASHBOARD = json.loads((PROMETHEUS / "bullring-dashboard.json").read_text())

# GET /metrics, with the labels of each.
METRICS = {
    "bullring_build_info": {"version", "commit", "algorithm", "security"},
    "bullring_is_leader": set(),
    "bullring_leader_id": set(),
    "bullring_epoch": set(),
    "bullring_lease_seconds_left": set(),
    "bullring_role": {"role"},
    "bullring_healthy": set(),
    "bullring_eligible": set(),
    "bullring_votes": set(),
    "bullring_leader_changes_total": {"reason"},
    "bullring_elections_total": {"result"},
    "bullring_failover_seconds_bucket": {"le"},
    "bullring_leaderless_seconds_total": set(),
    "bullring_peer_connected": {"peer"},
    "bullring_peer_rtt_seconds": {"peer"},
    "bullring_wire_version": set(),
    "bullring_peer_wire_version": {"peer"},
    "bullring_messages_total": {"type", "direction"},
    "bullring_loop_lateness_seconds_bucket": {"le"},
    "bullring_fsync_seconds_bucket": {"le"},
    "bullring_refused_total": {"reason"},
    "bullring_certificate_not_after_seconds": set(),
    "bullring_credential_info": {"kind", "id", "issuer", "issuer_key"},
    "bullring_peer_credential_info": {"peer", "kind", "id", "issuer", "issuer_key"},
    "bullring_accepted_key_info": {"id"},
    "bullring_members": {"vote"},
    "bullring_task_running": set(),
    "bullring_task_restarts_total": set(),
    "bullring_majority_connected": set(),
    "bullring_wrong": set(),
    "bullring_events_lost_total": set(),
    "bullring_clock_correction_ratio": set(),
}
# Of the scrape: which node, and by the user's configuration which cluster.
SCRAPED = {"instance", "cluster"}
# Of the query itself.
MADE = {"epoch"}

EXPRESSIONS = [pytest.param(rule["expr"], id=rule["alert"]) for rule in RULES] + [
    pytest.param(target["expr"], id=panel["title"])
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
]


def metrics_of(expression):
    return set(re.findall(r"\bbullring_\w+", expression))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_asks_for_what_nodes_tell(expression):
    named = metrics_of(expression)
    assert named and named <= set(METRICS)
    labels = set()
    for clause in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        labels |= {word.strip() for word in clause.split(",") if word.strip()}
    known = SCRAPED | MADE | set().union(*(METRICS[name] for name in named))
    assert labels <= known


def test_the_dashboard_shows_every_metric():
    shown = set().union(
        *(
            metrics_of(target["expr"])
            for panel in DASHBOARD["panels"]
            for target in panel["targets"]
        )
    )
    assert shown == set(METRICS)


def test_the_panels_lie_beside_each_other():
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize("name", [rule["alert"] for rule in RULES])
def test_each_alert_is_seen_to_fire_and_not_to_fire(name):
    cases = [
        case for test in TESTS for case in test["alert_rule_test"] if case["alertname"] == name
    ]
    assert any(case.get("exp_alerts") for case in cases)
    assert any(not case.get("exp_alerts") for case in cases)


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_the_rules_do_as_their_tests_say():
    run("promtool", "check", "rules", PROMETHEUS / "bullring.rules.yml")
    run("promtool", "test", "rules", PROMETHEUS / "bullring.rules.test.yml")


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_prometheus_understands_the_queries_of_the_dashboard(tmp_path):
    rules = [
        {"record": f"panel_{n}", "expr": target["expr"].replace("$cluster", ".*")}
        for n, target in enumerate(
            target for panel in DASHBOARD["panels"] for target in panel["targets"]
        )
    ]
    file = tmp_path / "dashboard.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    run("promtool", "check", "rules", file)
