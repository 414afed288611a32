"""Processes that a node is given because their parents have ended; numbers of dead processes."""

import os
import pathlib
import subprocess
import sys

import pytest
from harness.node import PYTHON_PATH
from harness.task import alive, child_named, children, only_child
from harness.pid_namespace import IN_NAMESPACE, needs_namespace
from harness.waiting import DEADLINE
from secured import KEY, MODES


def dead_children(pid):
    """Zombies of which this process is the parent."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = pathlib.Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        state, parent = text.rsplit(")", 1)[1].split()[:2]
        if state == "Z" and int(parent) == pid:
            found.append(text)
    return found


class LeftBehind:
    """Processes that a shell command leaves behind, in sessions of their own: many that end at
    once, and one that ends when the test wants it to, and says so.
    """

    def __init__(self, place):
        self.gate = place / "gate"
        self.said = place / "said"
        self.begun = place / "begun"

    @property
    def command(self):
        last = f"echo x >{self.begun}; until [ -e {self.gate} ]; do sleep 0.01; done"
        many = "for i in 1 2 3 4 5 6 7 8; do (setsid true &); done"
        begun = f"until [ -e {self.begun} ]; do sleep 0.01; done"
        return f"setsid sh -c '{last}; echo x >>{self.said}' & {many}; {begun}"

    def assert_none_stays(self, cluster, pid):
        self.gate.touch()
        cluster.wait_for(self.said.exists, "the last one ends")
        cluster.wait_for(lambda: not dead_children(pid), "no dead process is left")


@pytest.fixture
def left_behind(tmp_path):
    return LeftBehind(tmp_path)


@needs_namespace
def test_the_first_process_of_a_container_takes_away_what_hooks_leave(new_cluster, left_behind):
    cluster = new_cluster(1)
    node = cluster[1]
    node.prefix = IN_NAMESPACE
    node.flags = ["--on-elected", left_behind.command]
    node.start()
    outside = node.current.process.pid
    pid = cluster.wait_for(lambda: only_child(outside), "the node begins")
    cluster.wait_for(lambda: node.current.stream.of("elected"), "it leads")
    left_behind.assert_none_stays(cluster, pid)


def test_a_node_with_a_command_takes_away_what_health_checks_leave(new_cluster, left_behind):
    cluster = new_cluster(1, flags=["--kill-after", "300ms"])
    node = cluster[1]
    node.task = ["sleep", "60"]
    node.flags = ["--health-cmd", left_behind.command, "--health-interval", "50ms"]
    node.start()
    cluster.wait_leader()
    pid = node.current.process.pid
    guard = cluster.wait_for(lambda: child_named(pid, "bullring-guard"), "its guard")
    left_behind.assert_none_stays(cluster, pid)
    # None of the program's own was taken away with them.
    assert child_named(pid, "bullring-guard") == guard
    assert node.leads


VICTIM = """
import os, signal, sys
with open("/proc/sys/kernel/ns_last_pid", "w") as last:
    last.write(str(int(sys.argv[1]) - 1))
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    print(os.getpid(), flush=True)
    signal.pause()
os.waitpid(child, 0)
print("killed", flush=True)
"""

INSIDE = """
import os, pathlib, signal, subprocess, sys
from harness.waiting import wait_until
said, victim, *words = sys.argv[1:]
node = subprocess.Popen(words)
said = pathlib.Path(said)
wait_until(lambda: said.exists() and said.read_text().count("\\n") == 2, "what the command says")
command, left = said.read_text().split()
wait_until(lambda: not os.path.exists("/proc/" + command), "its end")
for _ in range(50):  # whoever else starts a process may be quicker
    words = [sys.executable, "-c", victim, command]
    other = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    number = other.stdout.readline().strip()
    if number == command:
        break
    os.kill(int(number), signal.SIGKILL)
    other.wait()
else:
    sys.exit("the number is not given out again")
node.send_signal(signal.SIGUSR1)
# The guard takes its orders one by one, so the earlier one has been obeyed by then.
node.send_signal(signal.SIGTERM)
node.wait()
alive = other.poll() is None and os.path.exists("/proc/" + command)
print("alive" if alive else "killed")
if alive:
    os.kill(int(command), signal.SIGKILL)
"""


@needs_namespace
def test_a_signal_for_a_command_that_has_ended_reaches_nobody_else(new_cluster, tmp_path):
    """The command has ended, what it has left behind not yet; its number is another's by now."""
    cluster = new_cluster(1, flags=["--kill-after", "5s"])
    said = tmp_path / "said"
    left = f'trap "" TERM; echo $$ >>{said}; while :; do sleep 0.05; done'
    cluster[1].task = [
        "sh",
        "-c",
        f"setsid sh -c '{left}' & until [ -s {said} ]; do sleep 0.01; done;"
        f" echo $$ >{said}.new; cat {said} >>{said}.new; mv {said}.new {said}",
    ]
    words = [sys.executable, "-c", INSIDE, str(said), VICTIM, *cluster[1].command()]
    done = subprocess.run(
        [*IN_NAMESPACE, *words],
        capture_output=True,
        text=True,
        timeout=2 * DEADLINE,
        env=cluster.environment | {"PYTHONPATH": PYTHON_PATH},
    )
    assert done.returncode == 0, done.stderr
    assert "alive" in done.stdout


def follower_and_leader(made, task):
    for node in made.cluster:
        node.task = task
    made.start()
    leader = made.cluster.wait_settled()
    return next(node for node in made.cluster if node is not leader), leader


@pytest.mark.parametrize("task", [None, ["sleep", "600"]], ids=["node", "run"])
def test_an_end_in_order_leaves_no_process_behind(secured, task):
    """A service manager that starts the node again at once would take it for a fault."""
    made = secured(KEY)
    for node in follower_and_leader(made, task):
        around = children(node.current.process.pid)
        assert {"bullring-keeper", "bullring-notice"} <= set(around.values())
        node.stop()
        assert [name for pid, name in around.items() if alive(pid)] == []


@pytest.mark.parametrize("task", [None, ["sleep", "600"]], ids=["node", "run"])
@MODES
def test_who_has_ended_in_order_votes_as_soon_as_it_is_back(secured, mode, task):
    """The others know that the run before is over, by the word of its undertaker."""
    made = secured(mode, flags=["--lease", "10s", "--no-preempt"])
    for node in follower_and_leader(made, task):
        node.stop()
        node.start()
        made.cluster.wait_settled(deadline=5)
