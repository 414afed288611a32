"""The bench of HTTP counts right, and says no more than its samples do."""

import types

from bench import http as bench_http
from bench import http_report as bench_http_report
from bench.http_load import Request

MS = 1_000_000


def test_the_verdict_needs_both_ends_of_the_interval():
    def verdict(low, high):
        return bench_http_report.verdict({"p99_low": low, "p99_high": high})

    assert verdict(0.9, 1.1) == "met"
    assert verdict(1.11, 1.5) == "NOT MET"
    assert verdict(0.9, 1.11) == "can't be told"


def test_equal_samples_have_the_ratio_one_and_slower_ones_more():
    samples = [i * MS for i in range(1, 201)]
    equal = bench_http_report.p99_ratio(samples, samples)
    assert equal["p99"] == 1 and equal["p99_low"] <= 1 <= equal["p99_high"]
    slow = bench_http_report.p99_ratio([2 * one for one in samples], samples)
    assert slow["p99"] == 2 and slow["p99_low"] > 1.5


def test_answers_count_by_status_and_what_was_not_answered_has_no_latency():
    requests = [Request(0, 200, 1 * MS), Request(0, 503, 3 * MS), Request(0, -1, 900 * MS)]
    told = bench_http_report.asked(requests, seconds=0.5)
    assert told["per_s"] == 6
    assert told["latency"]["count"] == 2 and told["latency"]["max_ms"] == 3
    assert told["statuses"] == {"-1": 1, "200": 1, "503": 1}
    assert bench_http_report.asked([], seconds=1) is None


def test_only_what_was_asked_just_before_a_kill_counts():
    window = bench_http.WINDOW_NS
    sent = [0, window - 1, 4 * window, 5 * window - 1, 5 * window]
    block = types.SimpleNamespace(
        mode="http",
        kills_ns=[window, 5 * window],
        windows_ns={"http": 0},
        answers={"http": []},
        generators=[types.SimpleNamespace(requests=lambda: [Request(at, 200, 1) for at in sent])],
    )
    bench_http.HttpRunner._count(block)
    assert block.windows_ns["http"] == 2 * window
    assert [request.sent_ns for request in block.answers["http"]] == sent[:-1]
