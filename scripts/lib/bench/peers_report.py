"""The table of the field: a row a system and setting, medians in ms, and the JSON with samples."""

import json

from bench.report import summary

BASE = "bullring bully"
COLUMNS = ("first start", "crash", "hang", "handover", "service crash")
HEAD = (
    "system",
    "setting",
    *COLUMNS,
    "x crash",
    "two leaders after SIGCONT",
    "CPU %",
    "MiB",
    "false idle, loaded",
    "load",
)


def number(milliseconds):
    """Three digits, no more than that is known."""
    if milliseconds >= 100:
        return f"{milliseconds:,.0f}"
    return f"{milliseconds:.1f}" if milliseconds >= 10 else f"{milliseconds:.2f}"


def timed(case):
    """Median and the longest of a timed case, and how many there were."""
    told = summary(case["samples_ns"]) if case else None
    if told is None:
        return "-"
    return f"{number(told['median_ms'])}, {number(told['max_ms'])} ({told['count']})"


def two_leaders(case):
    """How often both claimed to lead, and for how long: median and the longest."""
    if not case:
        return "-"
    rounds = len(case["samples_ns"])
    told = summary(case["two_leaders_ns"])
    if told is None:
        return f"0 of {rounds}"
    times = f"{number(told['median_ms'])}, {number(told['max_ms'])}"
    return f"{case['two_leaders']} of {rounds}: {times}"


def ratio(row, base):
    """How many times as long as the base's crash the median of this one's takes."""
    crash, known = (one.get("crash") if one else None for one in (row["cases"], base))
    if not crash or not known or not crash["samples_ns"] or not known["samples_ns"]:
        return "-"
    times = summary(crash["samples_ns"])["median_ms"] / summary(known["samples_ns"])["median_ms"]
    return f"{times:,.1f}" if times < 100 else f"{times:,.0f}"


def cells(row, base):
    cases = row["cases"]
    idle, loaded = cases.get("idle"), cases.get("loaded")
    false = [f"{case['false_failovers']}" if case else "-" for case in (idle, loaded)]
    return [
        row["system"],
        row["setting"],
        *(timed(cases.get(kind)) for kind in COLUMNS),
        ratio(row, base),
        two_leaders(cases.get("hang")),
        f"{idle['cpu_percent']:.2f}" if idle else "-",
        f"{idle['resident_mib']:.0f}" if idle else "-",
        ", ".join(false),
        f"{idle['load_average']:.0f}" if idle else "-",
    ]


def table(rows):
    """Markdown, as it stands in tests/bench/README.md."""
    base = next((row["cases"] for row in rows if row["system"] == BASE), None)
    lines = [HEAD, ["---"] * len(HEAD), *(cells(row, base) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_json(path, where, rows, tried, absent, errors):
    told = {
        "conditions": where,
        "rows": rows,
        "settings_tried": tried,
        "absent": absent,
        "errors": errors,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1)
        file.write("\n")
