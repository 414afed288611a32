"""Maintenance does nothing to a command that knows nothing of Bullring, but where a leader has to
change: it has no handler for any signal, and shows no progress.
"""

import os
import signal
import sys

import pytest
from harness.secrets import key_line, write_private
from harness.task import Family, alive, children, wait_family
from secured import KEY, read_anew, wait_until_all_hear_each_other

JOBS = {
    "sleep": ["sleep", "600"],
    "python": [sys.executable, "-c", "import signal; signal.pause()"],
    "shell": ["sh", "-c", "while :; do sleep 0.1; done"],
}
QUICK = ["--kill-after", "300ms", "--lease", "3s"]

pytestmark = [pytest.mark.beside, pytest.mark.limit(300)]


def hang_up(processes):
    for process in processes:
        os.kill(process, signal.SIGHUP)


@pytest.fixture(params=JOBS)
def jobs(request, secured, tmp_path):
    """A cluster with a key, on every node of which the same command waits to run."""
    made = secured(KEY, flags=[*QUICK, "--no-preempt"])
    for node in made.cluster:
        node.task = JOBS[request.param]
        node.flags = ["--http", f"unix:{tmp_path}/{node.id}.sock"]
    made.start()
    made.cluster.wait_settled()
    return made


def rotation_of_the_events(made, leader):
    """As the package's logrotate does it."""
    streams = [node.current.stream.path for node in made.cluster]
    for stream in streams:
        os.rename(stream, stream + ".1")
    hang_up(node.current.process.pid for node in made.cluster)
    made.cluster.wait_for(lambda: all(map(os.path.exists, streams)), "new streams")


def rotation_of_the_key(made, leader):
    old, new = made.key_file.read_text(), key_line()
    for text in (old + new, new + old, new):
        write_private(made.key_file, text)
        read_anew(made.cluster)
    wait_until_all_hear_each_other(made.cluster, *made.observer)


def hangup_of_all_but_the_command(made, leader):
    """A guard, a shield, a keeper or an undertaker has no terminal, and nothing to read again."""
    family = Family(leader)
    around = {*children(family.node), family.guard, family.shield}
    hang_up([*around, family.node])
    made.cluster.never(lambda: not all(map(alive, around)), "one of them has ended", 0.3)


def removed_files(made, leader):
    """A slip that takes away the stream and the socket: they are made again."""
    paths = [leader.current.stream.path, leader.flags[-1].removeprefix("unix:")]
    for path in paths:
        os.unlink(path)
    made.cluster.wait_for(lambda: all(map(os.path.exists, paths)), "both are there again")


def a_smaller_window(made, leader):
    leader.current.process.send_signal(signal.SIGWINCH)


def told_to_continue(made, leader):
    leader.current.process.send_signal(signal.SIGCONT)


def a_follower_starts_anew(made, leader):
    """An upgrade, one machine after the other, begins so."""
    follower = next(node for node in made.cluster if node is not leader)
    assert follower.stop() == 0
    follower.start()
    made.cluster.wait_settled()


def a_member_more_and_less(made, leader):
    node = made.cluster.new_node(4)
    for words in (["add", f"4={node.address}"], ["remove", "4"]):
        done = made.cluster.member(*words)
        assert done.returncode == 0, done.stderr


def test_a_command_lives_through_maintenance(jobs):
    leader = jobs.cluster.wait_leader()
    command, epoch = wait_family(leader).command, leader.view[1]
    for action in (
        rotation_of_the_events,
        rotation_of_the_key,
        hangup_of_all_but_the_command,
        removed_files,
        a_smaller_window,
        told_to_continue,
        a_follower_starts_anew,
        a_member_more_and_less,
    ):
        action(jobs, leader)
        assert alive(command), action.__name__
        assert wait_family(leader).command == command, action.__name__
    assert [jobs.status()[key] for key in ("leader", "epoch")] == [leader.id, epoch]
