"""How messages, processor and time grow with the number of voters, beside the formulas of
protocol/README.md §16, as lines and as a picture.
"""

import re
import statistics
import subprocess

from harness.node import ROOT
from harness.profiles import PROFILES

SIZES = (3, 5, 9, 17, 33, 64)
SIMULATOR = ROOT / "build" / "bullring-sim"


def failover_messages(algorithm, n):
    """The fewest of a failover, by formula: requests or token hops, grants, announcements."""
    survivors, quorum = n - 1, n // 2 + 1
    return 3 * (n - 2) if algorithm == "bully" else 3 * survivors + 2 * quorum - 1


def counted_messages(algorithm, n):
    """The same, as the simulator counts them."""
    words = [SIMULATOR, "messages", "--from", str(n), "--to", str(n), "--seeds", "1"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    title = {"bully": "Bully, quorum majority", "ring": "Ring, quorum majority"}[algorithm]
    return int(re.search(rf"(?m)^{title}.*\n.*\n.*\n +{n} +(\d+)", shown)[1])


def idle_messages(n):
    """A second and node: renewals, grants, and heartbeats between followers, who send them when
    they are awake for a renewal: in each second period, and of more than 32 in each fourth.
    """
    in_each = 2 * (n - 1) + (n - 1) * (n - 2) / (2 if n <= 32 else 4)
    return in_each / n / (PROFILES["lan"].heartbeat / 1000)


def delays(algorithm, n):
    """Of a crash of the leader: how many messages one after the other."""
    return 2 if algorithm == "bully" else n + n // 2 + 1


def line(algorithm, n, told):
    crash = statistics.median(told["crash_ns"]) / 1e6
    return (
        f"{algorithm:<6} {n:>3}  failover {told['failover_messages']:>4} messages"
        f" (formula {failover_messages(algorithm, n)}), {crash:8.3f} ms (median)"
        f"  idle {told['messages_per_s']:7.1f} messages/s (formula {idle_messages(n):.1f}),"
        f" {told['cpu_percent']:6.2f} % of a core, {told['resident_mib']:5.1f} MiB a node"
    )


def draw(found, path, where):
    """`found`: by algorithm, of each size, what was measured. An SVG at `path`."""
    import matplotlib

    matplotlib.use("svg")
    # Words stay words, and the same figures give the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth"})
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
    figure.suptitle(f"Growth with the number of voters, profile lan; {where}", fontsize=10)
    (failover, crash), (idle, cpu) = axes
    for (algorithm, sizes), colour in zip(found.items(), ("tab:blue", "tab:orange")):
        ns = sorted(sizes)

        def measured(axis, values):
            axis.plot(ns, values, "o-", color=colour, label=algorithm)

        def formula(axis, values, label):
            axis.plot(ns, values, ":", color="black", zorder=3, label=f"{algorithm}, {label}")

        medians = [statistics.median(sizes[n]["crash_ns"]) / 1e6 for n in ns]
        measured(failover, [sizes[n]["failover_messages"] for n in ns])
        formula(failover, [failover_messages(algorithm, n) for n in ns], "formula")
        measured(crash, medians)
        unit = medians[0] / delays(algorithm, ns[0])
        formula(crash, [unit * delays(algorithm, n) for n in ns], "by message delays")
        measured(idle, [sizes[n]["messages_per_s"] for n in ns])
        measured(cpu, [sizes[n]["cpu_percent"] for n in ns])
    idle.plot(SIZES, [idle_messages(n) for n in SIZES], ":", color="black", label="formula")
    titles = {
        failover: "Messages of a failover (simulator, the fewest)",
        crash: "Failover after a crash, median, ms",
        idle: "Idle: messages a second and node",
        cpu: "Idle: % of a core a node",
    }
    for axis, title in titles.items():
        axis.set_title(title, fontsize=10)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xticks(SIZES, [str(n) for n in SIZES])
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
        axis.minorticks_off()
        axis.set_xlabel("voters")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
