"""The report of the bench of HTTP: times of each kind of block, ratios, and the clients' side."""

import random

from bench.report import p99, summary

MODES = ("alone", "elsewhere", "streams", "http")
P99_RATIO_MAX = 1.1
RATIOS = (("http", "alone"), ("elsewhere", "alone"), ("streams", "alone"), ("http", "elsewhere"))
RESAMPLED = 2000


def p99_ratio(samples, base):
    """Of the p99s, and where it is in 95 of 100 cases: the bootstrap's percentiles."""
    drawn = sorted(
        p99(random.choices(samples, k=len(samples))) / p99(random.choices(base, k=len(base)))
        for _ in range(RESAMPLED)
    )
    low, high = drawn[int(0.025 * RESAMPLED)], drawn[int(0.975 * RESAMPLED)]
    return {"p99": p99(samples) / p99(base), "p99_low": low, "p99_high": high}


def verdict(ratio):
    if ratio["p99_high"] <= P99_RATIO_MAX:
        return "met"
    return "NOT MET" if ratio["p99_low"] > P99_RATIO_MAX else "can't be told"


def asked(requests, seconds):
    """None when nobody was asked."""
    if not requests:
        return None
    answered = [request for request in requests if request.status in (200, 503)]
    return {
        "per_s": len(requests) / seconds,
        "latency": summary([request.took_ns for request in answered]),
        "statuses": {
            str(status): sum(request.status == status for request in requests)
            for status in sorted({request.status for request in requests})
        },
    }


def results(runner):
    times = runner.times
    ratios = {}
    for one, other in RATIOS:
        medians = [summary(times[mode])["median_ms"] for mode in (one, other)]
        ratios[f"{one}/{other}"] = {
            "median": medians[0] / medians[1],
            **p99_ratio(times[one], times[other]),
        }
    return {
        "modes": {
            mode: {
                "crash": summary(times[mode]),
                "requests": asked(runner.answers[mode], runner.windows_ns[mode] / 1e9),
                "samples_ns": times[mode],
            }
            for mode in MODES
        },
        "ratios": ratios,
        "events": runner.events,
        "verdict": verdict(ratios["http/alone"]),
    }


def print_results(found):
    for mode, told in found["modes"].items():
        crash = told["crash"]
        print(
            f"{mode:<10} n {crash['count']:>4}  median {crash['median_ms']:7.3f}"
            f"  p99 {crash['p99_ms']:7.3f}  max {crash['max_ms']:7.3f} ms"
        )
    print()
    for mode, told in found["modes"].items():
        if requests := told["requests"]:
            latency = requests["latency"]
            statuses = ", ".join(f"{key}: {n}" for key, n in requests["statuses"].items())
            print(
                f"{mode:<10} {requests['per_s']:.0f} requests/s before a kill; answers: median"
                f" {latency['median_ms']:.3f}  p99 {latency['p99_ms']:.3f}"
                f"  max {latency['max_ms']:.3f} ms; {statuses}"
            )
    print(f"{found['events']} events read from streams\n")
    for name, ratio in found["ratios"].items():
        print(
            f"{name:<16} median x {ratio['median']:.2f}, p99 x {ratio['p99']:.2f}"
            f" (95 %: {ratio['p99_low']:.2f} … {ratio['p99_high']:.2f})"
        )
    print(
        "\nThe clients take the nodes' cores, as clients on other machines would not."
        "\nelsewhere/alone is what the requests cost where no node answers; it has no streams."
        "\nhttp/elsewhere is what the endpoint and the readers of its streams cost beside that."
    )
    print(f"\nGoal: p99 http/alone <= {P99_RATIO_MAX}: {found['verdict']}")
