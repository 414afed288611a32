"""scripts/chaos, briefly: some kinds of faults on a small cluster, and that an overlap would be
found. test_chaos_long.py has all kinds.
"""

import contextlib
import itertools
import os
import pathlib
import signal
import subprocess

from harness import netns
import pytest
from harness.node import ROOT
from harness.safety import SafetyViolation
from chaos.groups import Groups, remove_what_was_left, unavailable
from harness.waiting import wait_until

REASON = netns.unavailable() or unavailable()
pytestmark = [pytest.mark.skipif(REASON is not None, reason=REASON or "")]

CHAOS = str(ROOT / "scripts" / "chaos")
FEW = "partition-full,partition-one-way,loss,reset,kill,stop,clock-inside"
FEW += ",member-joins,member-leaves,member-votes"
CLIENTS = "client-kill,client-stop,client-fork,socket-removed,node-kill-under-client"
PROFILES = ["lan", "cloud"]


def run(*words):
    done = subprocess.run([CHAOS, *words], capture_output=True, text=True)
    if done.returncode == 3:
        raise SafetyViolation(done.stdout)
    return done


def test_some_faults_and_a_leader_after_each_round(draw, tmp_path):
    seed = str(draw.randrange(1 << 32))
    faults = tmp_path / "faults"
    words = ["--for", "12s", "--round", "8s", "--only", FEW, "--log", str(faults)]
    words += ["--algorithm", draw.choice(["bully", "ring"]), "--profile", draw.choice(PROFILES)]
    done = run("--seed", seed, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"seed {seed};")
    # Some 50 on a machine that has time.
    assert len(faults.read_text().splitlines()) >= 20


def test_processes_that_lead_through_their_nodes_never_work_at_one_time(draw):
    """By their own logs; and each time that all is healed one works."""
    seed = str(draw.randrange(1 << 32))
    words = ["--for", "8s", "--round", "8s", "--nodes", "3", "--only", CLIENTS]
    done = run("--seed", seed, *words, "--algorithm", draw.choice(["bully", "ring"]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(attached)" in done.stdout


def test_both_algorithms_with_each_security_mode():
    done = run("--all", "--for", "2s", "--round", "2s", "--nodes", "3", "--only", "kill,reset")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in itertools.product(["bully", "ring"], ["none", "key", "tls"]):
        assert " --algorithm {} --security {} ".format(*words) in done.stdout
    assert done.stdout.endswith("6 of 6 runs passed\n")


def test_a_crash_of_a_node_fails_the_run(spawn):
    words = [CHAOS, "--for", "5s", "--round", "5s", "--nodes", "3", "--only", "reset"]
    script = spawn(words, stdout=subprocess.PIPE, text=True)

    def nodes():
        return [pid for pid in descendants(script.pid) if b"--id\x002\x00" in command_of(pid)]

    os.kill(wait_until(nodes, "node 2 runs", 30)[0], signal.SIGSEGV)
    out, _ = script.communicate(timeout=60)
    assert script.returncode == 1, out
    assert "node 2: it was ended by SIGSEGV" in out


def test_an_overlap_would_be_found(draw):
    """For there is one: the clocks run as far apart as none do."""
    done = run("--case", "clocks-apart", "--algorithm", draw.choice(["bully", "ring"]))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [["--for", "5"], ["--nodes", "2"], ["--only", "kill,flood"], ["--rate", "0"], ["--case", "x"]]
    + [
        ["--security", "tls", "--all"],
        ["--case", "clocks-apart", "--all"],
        ["--profile", "realtime"],
    ]
    + [["--only", "key-rotation"]],
    ids=" ".join,
)
def test_a_wrong_command_line_is_refused(words):
    done = run(*words)
    assert done.returncode == 2
    assert words[-1].rpartition(",")[2] in done.stderr


def command_of(pid):
    """Its words, each with a NUL behind it; nothing when it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def descendants(pid):
    """All that it has started, the elder first."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            children = pathlib.Path(f"/proc/{each}/task/{each}/children").read_text()
            found += map(int, children.split())
    return found[1:]


def processes_with(text):
    """Those that have it in their command line."""
    found = [entry.name for entry in pathlib.Path("/proc").glob("[0-9]*")]
    return [pid for pid in found if text.encode() in command_of(pid)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_it_is_ended(number, spawn, tmp_path):
    faults = tmp_path / "faults"
    words = [CHAOS, "--for", "1m", "--only", "kill,stop,quota", "--log", str(faults)]
    script = spawn(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(lambda: faults.exists() and faults.read_text(), "a fault", 30)
    if number == signal.SIGINT:
        os.killpg(script.pid, number)  # as Ctrl-C does
    else:
        os.kill(script.pid, number)
    out, _ = script.communicate(timeout=30)
    if number != signal.SIGKILL:
        assert script.returncode == 0
        assert "partition" not in out and "\nkill " in out
        assert not Groups(script.pid).exist()
    wait_until(lambda: not processes_with(str(faults)), "all have ended", 10)

    def removed():
        remove_what_was_left()
        return not Groups(script.pid).exist()

    wait_until(removed, "the next run removes its cgroups", 10)
