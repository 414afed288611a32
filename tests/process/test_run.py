"""`bullring run`: the command runs where the leader is, and how it ends in each way."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest
from harness.node import find_program
from harness.task import Family, alive, child_named, children, signal_all, times_slept, wait_family
from harness.waiting import DEADLINE, wait_until

pytestmark = pytest.mark.limit(600)

QUICK = ["--kill-after", "300ms", "--restart-delay", "100ms", "--lease", "3s"]


@pytest.fixture
def settled(new_cluster, journal):
    """Makes a settled cluster whose nodes run a locked command, which has begun."""

    def make(*words, n=3, algorithm="bully", flags=()):
        cluster = new_cluster(n, algorithm, flags=[*QUICK, *flags])
        for node in cluster:
            node.task = journal.command(*words)
        cluster.start().wait_settled()
        wait_begun(cluster, journal, 1)
        return cluster

    return make


def wait_begun(cluster, journal, count):
    """(node, epoch, process) of the command of this number, which is awaited."""
    cluster.wait_for(lambda: len(journal.begun()) >= count, f"command number {count} to begin")
    return journal.begun()[count - 1]


def deposed(cluster):
    """Why leaders stepped down, in order."""
    return [event["reason"] for event in cluster.events() if event["event"] == "deposed"]


def why(cluster):
    """The first node's reason, from status."""
    return cluster.status()["nodes"][0]["why"]


def test_what_is_started_has_the_descriptor_limit_of_the_user(new_cluster):
    """The node itself raises its own, for more connections than a usual limit allows."""
    cluster = new_cluster(1, flags=QUICK)
    node = cluster[1]
    places = {name: pathlib.Path(cluster.directory) / name for name in ("command", "hook")}
    node.prefix = ["prlimit", "--nofile=256:4096"]
    node.task = ["sh", "-c", f"ulimit -Sn >{places['command']}; exec sleep 60"]
    # A hook has it a moment after its start.
    node.flags = ["--on-elected", f"sleep 0.3; ulimit -Sn >{places['hook']}"]
    cluster.start()
    for name, place in places.items():
        cluster.wait_for(
            lambda: place.exists() and place.read_text(), f"the {name} tells its limit"
        )
        assert place.read_text() == "256\n", name
    limits = pathlib.Path(f"/proc/{node.current.process.pid}/limits").read_text().splitlines()
    assert int(next(line for line in limits if "open files" in line).split()[3]) > 256


def test_a_parent_that_blocks_signals_can_end_it_by_them(new_cluster):
    cluster = new_cluster(1, flags=QUICK)
    node = cluster[1]
    seen = pathlib.Path(cluster.directory) / "mask"
    node.prefix = ["env", "--block-signal"]
    # Without another process: a shell blocks all signals for as long as it begins one.
    look = f"while read -r name mask; do case $name in SigBlk:) echo $mask >{seen};; esac; done"
    node.task = ["sh", "-c", look + " </proc/$$/status; exec sleep 60"]
    cluster.start()
    cluster.wait_for(lambda: seen.exists() and seen.read_text(), "the command tells its mask")
    assert int(seen.read_text(), 16) == 0
    assert node.stop() == 128 + signal.SIGTERM


def test_the_command_has_its_environment_and_stdin_and_streams(new_cluster):
    cluster = new_cluster(1, flags=QUICK)
    node = cluster[1]
    node.task = [
        "sh",
        "-c",
        "env | grep ^BULLRING_ | sort; ls /proc/self/fd;"
        " grep -E '^Sig(Blk|Ign)' /proc/self/status; exec sleep 60",
    ]
    cluster.environment["BULLRING_EPOCH"] = "stale"
    node.start()
    leader = cluster.wait_leader()
    out = node.current.out_path
    cluster.wait_for(lambda: "BULLRING_LEADER" in out.read_text(), "the command's output")
    cluster.wait_for(lambda: out.read_text().count("\n") >= 10, "all that it says")
    assert out.read_text().split("\n")[:4] == [
        "BULLRING_CLUSTER_NAME=bullring",
        f"BULLRING_EPOCH={leader.view[1]}",
        "BULLRING_LEADER=1",
        "BULLRING_NODE_ID=1",
    ]
    # stdin, stdout, stderr, and the directory that ls looks at.
    assert out.read_text().split("\n")[4:8] == ["0", "1", "2", "3"]
    masks = [line.split()[1] for line in out.read_text().split("\n")[8:10]]
    assert [int(mask, 16) for mask in masks] == [0, 0]
    family = wait_family(node)
    assert os.getpgid(family.command) == family.command
    assert os.getpgid(family.guard) != os.getpgid(family.node)


# The rest of a sandbox is the unit's; this is RestrictAddressFamilies=.
WITHOUT_NETLINK = """
import os, seccomp, socket, sys
rules = seccomp.SyscallFilter(seccomp.ALLOW)
netlink = seccomp.Arg(0, seccomp.EQ, socket.AF_NETLINK)
rules.add_rule(seccomp.ERRNO(97), "socket", netlink)
rules.load()
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_a_command_needs_no_netlink(new_cluster):
    """Only addresses do."""
    pytest.importorskip("seccomp")
    cluster = new_cluster(1, flags=[*QUICK, "--on-exit", "leave"])
    node = cluster[1]
    node.prefix = [sys.executable, "-B", "-c", WITHOUT_NETLINK]
    node.task = ["sh", "-c", "exit 3"]
    node.start()
    node.current.expected_to_run = False
    assert node.wait_exit() == 3


def test_a_command_that_goes_into_the_background_is_told_why_it_ends(new_cluster):
    cluster = new_cluster(1, flags=QUICK)
    cluster[1].task = ["sh", "-c", "sleep 1000 & sleep 1000 & exit 0"]
    cluster.start()
    # Each may not have become its program yet.
    told = r"the command has ended and left 2 processes behind \((sh|sleep), (sh|sleep)\): ending"
    cluster.wait_for(lambda: re.search(told, cluster[1].current.log()), "it says so")
    assert "a command has to stay in the foreground" in cluster[1].current.log()


def permitted_to_be_first():
    words = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))"
    done = subprocess.run(
        [sys.executable, "-c", words], stderr=subprocess.DEVNULL, timeout=DEADLINE
    )
    return done.returncode == 0


@pytest.mark.parametrize("policy", [os.SCHED_OTHER, os.SCHED_BATCH])
def test_guard_and_shield_are_scheduled_first_and_the_command_as_the_node(new_cluster, policy):
    cluster = new_cluster(1, flags=QUICK)
    node = cluster[1]
    chrt = "--batch" if policy == os.SCHED_BATCH else "--other"
    node.prefix = ["nice", "-n", "3", "chrt", chrt, "0"]
    node.task = ["sleep", "60"]
    node.start()

    family = wait_family(node)
    cluster.wait_for(lambda: children(family.shield)[family.command] == "sleep", "it is executed")
    first = os.SCHED_FIFO if permitted_to_be_first() else policy
    policies = [os.sched_getscheduler(pid) for pid in vars(family).values()]
    assert policies == [policy, first, first, policy]
    niceness = os.getpriority(os.PRIO_PROCESS, family.node)
    assert os.getpriority(os.PRIO_PROCESS, family.command) == niceness


def test_only_the_leader_runs_it_and_a_resign_moves_it(settled, journal):
    cluster = settled()
    first = cluster.leader()
    assert journal.begun()[0][0] == first.id
    assert cluster.resign().returncode == 0
    second = wait_begun(cluster, journal, 2)
    assert second[0] != first.id
    assert [line[0] for line in journal.lines()] == ["begin", "end", "begin"]
    assert deposed(cluster) == ["resigned"]


def test_sigterm_ends_the_command_hands_over_and_gives_its_status(settled, journal):
    cluster = settled()
    first = cluster.leader()
    assert first.stop() == 7
    wait_begun(cluster, journal, 2)
    other = next(node for node in cluster if node.acting and not node.leads)
    assert other.stop() == 0  # it ran no command


def test_a_command_that_ignores_sigterm_is_killed(settled, journal):
    cluster = settled("ignore")
    first = cluster.leader()
    command = wait_family(first).command
    assert first.stop() == 128 + signal.SIGKILL
    assert not alive(command)
    wait_begun(cluster, journal, 2)


def test_the_handover_of_a_command_that_ignores_sigterm_is_no_failure_of_its_guard(
    settled, journal
):
    cluster = settled("ignore", flags=["--max-restarts", "0"])
    for count in range(2, 6):
        assert cluster.resign("--timeout", "20s").returncode == 0
        wait_begun(cluster, journal, count)
    # Each node that had failed with --max-restarts 0 would stand no more.
    assert deposed(cluster) == ["resigned"] * 4


def test_hooks_stand_around_the_command(new_cluster, tmp_path):
    cluster = new_cluster(2, flags=QUICK)
    told = tmp_path / "told"
    hook = f'echo "$BULLRING_ROLE $BULLRING_REASON $BULLRING_EPOCH" >> {told}'
    for node in cluster:
        node.flags = [*QUICK, "--on-elected", hook, "--on-deposed", f"sleep 0.1; {hook}"]
        node.task = [
            "sh",
            "-c",
            f"trap 'sleep 0.1; echo ended >> {told}; exit' TERM;"
            f" echo begun >> {told}; while :; do sleep 0.02; done",
        ]
    first = cluster.start().wait_settled()
    cluster.wait_for(lambda: told.exists() and "begun" in told.read_text(), "the command")
    epoch = first.view[1]
    assert cluster.resign("--timeout", "20s").returncode == 0
    cluster.wait_for(lambda: told.read_text().count("begun") == 2, "the next command")
    cluster.wait_for(lambda: told.read_text().count("leader elected") == 2, "its hook")
    lines = told.read_text().split("\n")
    # The hook and the command start together; the end has an order.
    assert sorted(lines[:2]) == ["begun", f"leader elected {epoch}"]
    assert lines[2:4] == ["ended", f"follower resigned {epoch}"]
    # A command that ends by itself has ended for the hook, too.
    second = cluster.wait_settled()
    signal_all([wait_family(second).command])
    cluster.wait_for(lambda: "follower task_failed" in told.read_text(), "on-deposed")


def test_under_nohup_the_command_ignores_sighup(new_cluster):
    cluster = new_cluster(1, flags=[*QUICK, "--pass-hup"])
    cluster[1].task = ["sleep", "60"]
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        cluster.start()
    finally:
        signal.signal(signal.SIGHUP, previous)
    cluster.wait_leader()
    command = wait_family(cluster[1]).command
    cluster[1].current.process.send_signal(signal.SIGHUP)
    cluster.never(lambda: not alive(command), "SIGHUP has ended the command", 0.5)


def test_the_guard_keeps_to_the_format_of_the_log(settled):
    cluster = settled(flags=["--log-format", "json"], n=1)
    node, guard = cluster[1], Family(cluster[1]).guard
    before = node.current.log()
    node.kill()
    cluster.wait_for(lambda: not alive(guard), "the guard's end")
    assert node.current.log() != before
    for line in node.current.log().splitlines():
        assert json.loads(line)["node"] == 1


def test_a_program_that_the_kernel_does_not_know_is_not_given_to_a_shell(new_cluster, tmp_path):
    cluster = new_cluster(1, flags=QUICK)
    script = tmp_path / "script"
    script.write_text("echo a shell has run this\n")
    script.chmod(0o755)
    cluster[1].task = [str(script)]
    cluster.start()
    cluster.wait_for(lambda: deposed(cluster), "the leader steps down")
    assert deposed(cluster)[0] == "task_failed"
    assert cluster[1].current.out_path.read_text() == ""


def test_a_descendant_that_has_left_the_group_ends_before_another_leads(settled, journal):
    cluster = settled("fork", "group")
    assert cluster.resign("--timeout", "10s").returncode == 0
    wait_begun(cluster, journal, 2)


def test_a_command_that_ends_hands_over_and_the_node_stands_again_later(settled, journal):
    cluster = settled(n=1)
    signal_all([wait_family(cluster[1]).command])
    wait_begun(cluster, journal, 2)
    assert deposed(cluster) == ["task_failed"]


def test_on_exit_vote(settled):
    cluster = settled(flags=["--on-exit", "vote"], n=1)
    signal_all([wait_family(cluster[1]).command])
    cluster.wait_no_leader()
    assert "only votes" in why(cluster)
    assert "signal 9" in why(cluster)


def test_on_exit_leave(new_cluster):
    cluster = new_cluster(1, flags=[*QUICK, "--on-exit", "leave"])
    cluster[1].task = ["sh", "-c", "sleep 0.3; exit 5"]
    cluster.start()
    cluster[1].current.expected_to_run = False
    assert cluster[1].wait_exit() == 5


def below_the_shield(node):
    shield = Family(node).shield
    return children(shield).values() if shield else ()


def test_a_command_that_cannot_be_started_later(new_cluster, tmp_path):
    cluster = new_cluster(1, flags=QUICK)
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    cluster[1].task = [str(program)]
    cluster.start().wait_leader()
    # Not only forked: it has to be able to start once.
    cluster.wait_for(lambda: "sleep" in below_the_shield(cluster[1]), "the command")
    program.chmod(0o644)
    signal_all([wait_family(cluster[1]).command])
    cluster.wait_no_leader()
    cluster.wait_for(lambda: "cannot be started" in why(cluster), "the reason")
    program.chmod(0o755)
    wait_family(cluster[1])


def test_a_hangup_ends_the_wait_before_the_next_try(settled, journal):
    cluster = settled("exit=3", n=1, flags=["--restart-delay", "60s"])
    cluster.wait_for(lambda: "stands again after 60s" in why(cluster), "it waits")
    cluster[1].current.process.send_signal(signal.SIGHUP)
    wait_begun(cluster, journal, 2)
    assert "SIGHUP: it stands again now" in cluster[1].current.log()


def test_max_restarts(settled, journal):
    cluster = settled("exit=3", n=1, flags=["--max-restarts", "2", "--restart-delay", "20ms"])
    wait_begun(cluster, journal, 3)
    cluster.wait_for(lambda: "only votes" in why(cluster), "the end of restarts")
    assert len(journal.begun()) == 3
    # It is asked for again, and has as many tries as at first.
    cluster[1].current.process.send_signal(signal.SIGHUP)
    wait_begun(cluster, journal, 6)
    cluster.wait_for(lambda: "only votes" in why(cluster), "the end of restarts")


def test_a_stopped_command_is_stalled(settled, journal):
    cluster = settled("stop")
    wait_begun(cluster, journal, 2)
    assert deposed(cluster)[0] == "stalled"


def test_a_command_that_shows_no_progress_is_stalled(settled, journal):
    # Longer than an interpreter needs to start on a busy machine.
    cluster = settled("progress=60", flags=["--stall-after", "3s"])
    first = cluster.leader()
    wait_begun(cluster, journal, 2)
    assert deposed(cluster)[0] == "stalled"
    lost = first.current.stream.of("deposed")[0]
    won = first.current.stream.of("elected")[0]
    assert lost["ts_ns"] - won["ts_ns"] > 60 * 20e6 + 2.9e9


def test_progress_by_descriptor(new_cluster):
    cluster = new_cluster(1, flags=[*QUICK, "--stall-after", "2s"])
    cluster[1].task = ["sh", "-c", "while :; do echo >&$BULLRING_PROGRESS_FD; sleep 0.05; done"]
    cluster.start().wait_leader()
    cluster.never(lambda: not cluster[1].leads, "a busy command is taken for stalled", 3.0)


def test_with_the_progress_descriptor_closed_the_file_still_counts(new_cluster):
    cluster = new_cluster(1, flags=[*QUICK, "--stall-after", "2s"])
    cluster[1].task = [
        "sh",
        "-c",
        'exec 3>&-; while :; do touch "$BULLRING_PROGRESS_FILE"; sleep 0.05; done',
    ]
    cluster.start().wait_leader()
    cluster.never(lambda: not cluster[1].leads, "a busy command is taken for stalled", 3.0)


def test_signals_are_passed_on(new_cluster):
    cluster = new_cluster(1, flags=[*QUICK, "--pass-hup"])
    cluster[1].task = [
        "sh",
        "-c",
        'for s in HUP USR1 USR2 WINCH; do trap "echo got $s" $s; done; echo ready;'
        " while :; do sleep 0.05; done",
    ]
    cluster.start()
    out = cluster[1].current.out_path
    cluster.wait_for(lambda: "ready" in out.read_text(), "the traps")
    for name in ("HUP", "USR1", "USR2", "WINCH"):
        cluster[1].current.process.send_signal(getattr(signal, "SIG" + name))
        cluster.wait_for(lambda name=name: f"got {name}" in out.read_text(), name)


def test_a_signal_for_a_command_that_has_only_just_begun(new_cluster):
    """The shield stands still before it can tell the guard which process the command is."""
    cluster = new_cluster(1, flags=QUICK)
    cluster[1].task = [
        "sh",
        "-c",
        'trap "echo got USR1" USR1; echo ready; while :; do sleep 0.02; done',
    ]
    cluster.start()
    node, out = cluster[1].current.process.pid, cluster[1].current.out_path

    def below(pid):  # at once: a look at all of /proc would come too late
        return map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())

    def shield_with_a_child():
        try:
            shields = (shield for guard in below(node) for shield in below(guard))
            return next((shield for shield in shields if any(below(shield))), None)
        except FileNotFoundError:  # of a process that has just ended
            return None

    shield = wait_until(shield_with_a_child, "a shield that has a child", every=0)
    os.kill(shield, signal.SIGSTOP)
    try:
        cluster.wait_for(lambda: "ready" in out.read_text(), "the trap")
        guard = child_named(node, "bullring-guard")
        before = times_slept(guard)
        os.kill(node, signal.SIGUSR1)
        wait_until(lambda: times_slept(guard) > before, "the guard has read it")
    finally:
        os.kill(shield, signal.SIGCONT)
    cluster.wait_for(lambda: "got USR1" in out.read_text(), "the signal")


def test_health(new_cluster, tmp_path):
    cluster = new_cluster(3)
    good = tmp_path / "good"
    for node in cluster:
        pathlib.Path(f"{good}-{node.id}").touch()
        node.task = ["sleep", "60"]
        node.flags = [
            *QUICK,
            "--health-cmd",
            f"test -e {good}-{node.id}",
            "--health-interval",
            "50ms",
            "--health-failures",
            "2",
            "--preempt-delay",
            "300ms",
        ]
    first = cluster.start().wait_settled()
    pathlib.Path(f"{good}-{first.id}").unlink()
    second = cluster.wait_for(
        lambda: cluster.agreed_leader() not in (None, first) and cluster.agreed_leader(),
        "another leader",
    )
    assert second.id != first.id
    assert deposed(cluster)[0] == "unhealthy"
    assert not first.leads


def test_a_killed_node_is_replaced_as_soon_as_its_command_is_dead(settled):
    # Not when its lease ends: the guard resigns in its name.
    cluster = settled(flags=["--lease", "4s", "--heartbeat", "20ms"])
    killed_ns = cluster.wait_settled().kill()
    took_ms = (cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6
    assert took_ms < 1000


def test_two_and_a_witness(new_cluster, journal):
    cluster = new_cluster(3)
    cluster[1].flags = ["--priority", "never"]
    for node in list(cluster)[1:]:
        node.flags, node.task = QUICK, journal.command()
    first = cluster.start().wait_settled()
    wait_begun(cluster, journal, 1)
    first.kill()
    second = wait_begun(cluster, journal, 2)
    assert second[0] not in (1, first.id)


def run_with(*words):
    return subprocess.run(
        [find_program(), *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, "HOME": "/nonexistent"},
    )


def assert_refused(part, *words):
    result = run_with("run", "--id", "1", "--peers", "1=127.0.0.1:1", *words)
    assert result.returncode == 2, result
    assert part in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("no command", ""),
        ("no command", "--"),
        ('"sleep"; a command goes after --', "sleep 60"),
        ('"/no/such/thing" is not found', "-- /no/such/thing"),
        ('"no-such-thing" is not found', "-- no-such-thing"),
        ('"/etc/passwd" is not executable', "-- /etc/passwd"),
        ('"/tmp" is not executable', "-- /tmp"),
        ('"no-such-check" is not found', "--health-cmd no-such-check -- true"),
    ],
)
def test_a_wrong_command_line_is_refused(part, words):
    assert_refused(part, *words.split())


def test_all_that_is_wrong_is_told_at_once():
    result = run_with(
        "run",
        "--id",
        "9",
        "--peers",
        "1=127.0.0.1:1",
        "--lease",
        "11s",
        "--on-exit",
        "x",
        "--health-cmd",
        "no-such-check",
        "--",
        "no-such-thing",
    )
    assert result.returncode == 2
    for part in (
        '--id: "9"',
        "lease (11s)",
        '--on-exit: "x"',
        '"no-such-check" is not',
        '"no-such-thing" is not',
    ):
        assert part in result.stderr
    assert len(result.stderr.splitlines()) == 5


def test_a_script_without_its_interpreter(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/shell\n")
    script.chmod(0o755)
    assert_refused('a script for "/no/such/shell", which is not found', "--", str(script))
