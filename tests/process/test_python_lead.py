"""The package of python3-bullring(7) in ordinary code: what its page promises, and each misuse."""

import gc
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import types

import bullring
import pytest
from attached import LEASE_1S, LONG_LEASE, LOSSES, FakeNode, a_thread, leads_next, others, settled
from harness.attach import Client, boottime_ns
from harness.node import python_environment
from harness.waiting import DEADLINE, wait_until

__all__ = ["settled"]  # a fixture


@pytest.fixture
def program(spawn):
    """A process of its own, which runs this text; what it prints is read line by line."""

    def start(text, *arguments):
        return spawn(
            [sys.executable, "-c", text, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=python_environment(),
        )

    return start


def test_it_leads_in_the_body_and_nowhere_else(settled):
    cluster, leader = settled(*LONG_LEASE)
    next_one = Client(others(cluster, leader)[0])
    with bullring.lead(leader.data_dir) as lead:
        assert lead.valid() and lead.epoch > 0 and 0 < lead.time_left() < 10
        assert lead.reason == "" and not lead.wait(0)
        lead.raise_if_lost()
        next_one.campaign()
        assert next_one.shown() == (0, 0, 0)
    assert (lead.valid(), lead.time_left(), lead.wait(), lead.reason) == (
        *(False, 0.0, True),
        "task_ended",
    )
    with pytest.raises(bullring.Lost):
        lead.raise_if_lost()
    # At once: long before the lease was over.
    began = boottime_ns()
    assert next_one.wait_for("elected")["epoch"] > lead.epoch
    assert boottime_ns() - began < 5e9


def test_an_exception_gives_it_up_too(settled):
    _, leader = settled(*LONG_LEASE)
    campaign = bullring.lead(leader.data_dir)
    with pytest.raises(ZeroDivisionError):
        with campaign as lead:
            1 / 0
    assert leads_next(leader) > lead.epoch
    with pytest.raises(RuntimeError, match="leads once"):
        campaign.__enter__()


def test_the_loop_of_the_page_ends_when_its_node_has_died(settled):
    """Not by turning for nothing until the lease is over, for wait() returns at once then."""
    _, leader = settled(*LONG_LEASE)
    turns = 0
    with bullring.lead(leader.data_dir) as lead:
        leader.kill()
        while lead.valid():
            turns += 1
            lead.wait(DEADLINE)
        assert (turns, lead.reason) == (1, "disconnected")
        assert lead.time_left() > 1


@LOSSES
def test_a_loss_wakes_the_one_who_waits(settled, lose):
    cluster, leader = settled(*LEASE_1S)
    with bullring.lead(leader.data_dir) as lead:
        began = threading.Barrier(3)

        def waits():
            began.wait()
            assert lead.wait(DEADLINE)

        with a_thread(waits), a_thread(waits):
            began.wait()
            reason = lose(cluster, leader)
            assert lead.wait()
        assert lead.reason == reason
        wait_until(lambda: not lead.valid(), "the end of the lease")
        with pytest.raises(bullring.Lost, match=reason) as lost:
            lead.raise_if_lost()
        assert pickle.loads(pickle.dumps(lost.value)).reason == reason


def test_a_task_that_sleeps_or_works_on_is_stopped_by_fencing_alone(settled, tmp_path):
    """It does not wait by wait(), and does not look at valid()."""
    cluster, leader = settled(*LEASE_1S)
    table = bullring.FencingGuard(tmp_path / "epoch")
    with bullring.lead(leader.data_dir) as old:
        assert table.admit(old.epoch)
        leader.kill()
        while old.valid():
            time.sleep(0.01)  # pause: it sleeps through the loss
        with bullring.lead(others(cluster, leader)[0].data_dir, timeout=DEADLINE) as new:
            assert table.admit(new.epoch)
            assert not table.admit(old.epoch)


HOLDER = """
import sys
import bullring
print("ready", flush=True)
try:
    with bullring.lead(sys.argv[1]) as lead:
        print(lead.epoch, flush=True)
        while lead.valid():
            pass
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_the_end_of_a_process_and_ctrl_c_give_it_up(settled, program, how):
    """After Ctrl-C the process goes on, without the leadership."""
    _, leader = settled(*LONG_LEASE)
    process = program(HOLDER, leader.data_dir)
    process.stdout.readline()
    epoch = int(process.stdout.readline())
    began = boottime_ns()
    process.send_signal(how)
    assert leads_next(leader) > epoch
    assert boottime_ns() - began < 5e9
    if how == signal.SIGINT:
        assert process.stdout.readline() == "interrupted\n"
        assert process.poll() is None


def test_ctrl_c_between_any_two_lines_leaves_nothing_behind(settled):
    """In __enter__, in __exit__ and in all that they call."""
    _, leader = settled()
    package = os.path.dirname(bullring.__file__)

    def interrupted(at):
        """Whether there was such a line."""
        lines = 0

        def trace(frame, event, _):
            nonlocal lines
            if not frame.f_code.co_filename.startswith(package):
                return None
            lines += event == "line"
            if lines > at:
                raise KeyboardInterrupt
            return trace

        campaign = bullring.lead(leader.data_dir, timeout=DEADLINE)
        try:
            sys.settrace(trace)
            with campaign:
                pass
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    count = 0
    while interrupted(count):
        count += 1
    assert count > 50
    gc.collect()
    leads_next(leader)


def in_child(work):
    """The exit status of a child that has done it; 0: it has returned."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(f"in the child: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def checks_that_it_does_not_lead(lead):
    assert not lead.valid() and lead.wait() and lead.reason == "forked"
    for asked in (lead.raise_if_lost, lead.progress, lead.resign):
        with pytest.raises(bullring.Lost, match="forked"):
            asked()


def test_a_forked_child_leads_nothing_and_gives_nothing_up(settled):
    _, leader = settled(*LONG_LEASE)
    campaign = bullring.lead(leader.data_dir, stall_after=10)
    with campaign as lead:
        assert in_child(lambda: checks_that_it_does_not_lead(lead)) == 0
        assert in_child(lambda: campaign.__exit__(None, None, None)) == 0
        process = multiprocessing.get_context("fork").Process(
            target=checks_that_it_does_not_lead, args=(lead,)
        )
        process.start()
        process.join()
        assert process.exitcode == 0
        with pytest.raises(TypeError, match="of the process that leads"):
            pickle.dumps(lead)
        assert lead.valid() and not lead.wait(0)


def test_a_child_may_lead_by_itself(settled):
    _, leader = settled(*LONG_LEASE)
    with bullring.lead(leader.data_dir) as lead:
        pass
    assert in_child(lambda: leads_next(leader)) == 0
    assert leads_next(leader) > lead.epoch


def test_who_shows_no_progress_loses_it(settled):
    _, leader = settled(*LEASE_1S)
    with bullring.lead(leader.data_dir, stall_after=0.3) as lead:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            lead.progress()
            assert lead.valid()
        assert lead.wait(DEADLINE)
        assert lead.reason == "stalled"
        lead.progress()


def test_it_resigns_if_another_can_lead(settled, new_cluster):
    _, alone = new_cluster(1).settled()
    with bullring.lead(alone.data_dir) as lead:
        for _ in range(3):
            with pytest.raises(bullring.BullringError):
                lead.resign()
        # Also if it is another thread that reads the answer.
        with a_thread(lead.wait, 0.3):
            for _ in range(3):
                with pytest.raises(bullring.BullringError):
                    lead.resign()
        assert lead.valid()
    cluster, leader = settled(*LONG_LEASE)
    with bullring.lead(leader.data_dir) as lead:
        candidate = Client(others(cluster, leader)[0]).campaign()

        def resigned():
            try:
                lead.resign()
            except bullring.BullringError:
                return False
            return True

        wait_until(resigned, "the other node to say that it is asked")
        assert not lead.valid() and lead.reason == "resigned"
        assert candidate.shown() == (0, 0, 0)
    candidate.wait_for("elected")


def test_who_does_not_want_to_wait_any_longer_is_no_candidate(settled):
    _, leader = settled(*LEASE_1S)
    with bullring.lead(leader.data_dir):
        for timeout in (0.1, 0):
            with pytest.raises(TimeoutError):
                with bullring.lead(leader.data_dir, timeout=timeout):
                    pass
    leads_next(leader)


class Done(Exception):
    """That a task for ever has been seen to go on."""


def test_a_node_that_is_started_anew_ends_no_program(settled):
    _, leader = settled(*LEASE_1S)
    led = []

    def task(lead):
        led.append(lead.epoch)
        if len(led) == 2:
            raise Done
        leader.kill()
        leader.restart()
        lead.wait()
        raise bullring.Lost(lead.reason)

    with pytest.raises(Done):
        bullring.run_while_leader(task, leader.data_dir)
    assert led[0] < led[1]


def test_the_loss_of_another_leadership_is_an_exception_like_any(settled):
    _, leader = settled()

    def task(lead):
        raise bullring.Lost("of another cluster")

    with pytest.raises(bullring.Lost, match="another"):
        bullring.run_while_leader(task, leader.data_dir)


def not_available(where=None, **settings):
    with pytest.raises(bullring.NotAvailable) as error:
        with bullring.lead(where, **settings):
            pass
    with pytest.raises(bullring.NotAvailable):
        bullring.Observer(where, **settings).leader()
    return str(error.value)


def test_where_there_is_no_node_it_is_said_and_what_to_do(settled, tmp_path, monkeypatch):
    _, leader = settled()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("BULLRING_DATA_DIR", raising=False)
    places = tmp_path / "bullring" / "rows"
    assert str(places) in not_available(cluster="rows")
    assert "--attach on?" in not_available(tmp_path)
    assert "No such file or directory" in not_available(tmp_path / "not" / "there")
    long_one = tmp_path / ("x" * 200)
    long_one.symlink_to(leader.data_dir)
    assert leads_next(leader) < leads_next(types.SimpleNamespace(data_dir=long_one))
    (tmp_path / "file").touch()
    assert "name its data directory" in not_available(tmp_path / "file" / "attach.sock")
    places.mkdir(parents=True)
    for name in ("node-1", "node-2"):
        (places / name).symlink_to(leader.data_dir)
    assert "name the data directory of one: " in not_available(cluster="rows")
    # By each of the ways in which it is found.
    assert leads_next(leader)
    with bullring.lead(cluster="rows", node=2, timeout=DEADLINE):
        pass
    with bullring.lead(leader.data_dir / "attach.sock", timeout=float("inf")):
        pass
    monkeypatch.setenv("BULLRING_DATA_DIR", str(leader.data_dir))
    with bullring.lead(timeout=DEADLINE):
        pass
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "attach.sock"))
    assert "it has ended" in not_available(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_a_user_who_may_not_attach_is_told_why(settled):
    _, leader = settled()
    os.chmod(leader.data_dir.parent, 0o755)
    os.chmod(leader.data_dir, 0o755)

    def asks():
        os.setuid(65534)
        assert "--attach-group" in not_available(leader.data_dir)

    assert in_child(asks) == 0


GREETING = b'{"event":"attached","node":1,"cluster":"bullring","version":1}\n'
NO_NODE = [b"HTTP/1.1 400 Bad Request\n", b'[{"event":"attached"}]\n', b"\xff\n", GREETING]


@pytest.mark.parametrize("says", NO_NODE, ids=["http", "list", "bytes", "no page"])
def test_a_listener_that_is_no_node_is_found_out(tmp_path, says):
    node = FakeNode(tmp_path, says)
    with pytest.raises(bullring.NotAvailable, match="is no node"):
        with bullring.lead(node.data_dir, timeout=DEADLINE):
            pass


def test_one_that_does_not_answer_is_not_waited_for(settled):
    _, leader = settled(*LEASE_1S)
    leader.hang_for_good()
    with pytest.raises(TimeoutError):
        with bullring.lead(leader.data_dir, timeout=0.1):
            pass
    with pytest.raises(TimeoutError):
        bullring.Observer(leader.data_dir, timeout=0.1).leader()


def test_progress_does_not_wait_for_a_node_that_stands_still(settled):
    """Nor does the end: its socket is full."""
    _, leader = settled(*LEASE_1S)
    with bullring.lead(leader.data_dir, stall_after=0.004) as lead:
        leader.hang_for_good()
        while lead.valid():
            lead.progress()
        for _ in range(1000):
            lead._progress_at = 0
            lead.progress()


def test_its_settings_are_said_to_the_node(tmp_path):
    """The node decides what it makes of them."""
    node = FakeNode(tmp_path, GREETING, page=True)
    settings = {"advertised": "10.0.0.1:80", "stall_after": 0.0001, "on_loss": "kill"}
    with pytest.raises(TimeoutError):
        with bullring.lead(node.data_dir, timeout=0.1, **settings):
            pass
    campaign, done = node.wait_for_lines(2)
    wish = {"advertised": "10.0.0.1:80", "stall_after_ms": 1, "on_loss": "kill"}
    assert campaign == {"op": "campaign", **wish}
    assert done == {"op": "done"}


ENDS_WITH_ITS_NODE = """
import subprocess, sys
import bullring
with bullring.lead(sys.argv[1], on_loss="kill"):
    print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
    while True:
        pass
"""


def test_who_is_to_end_with_its_node_is_killed_and_its_children_are_not(settled, program):
    cluster, leader = settled(*LONG_LEASE)
    process = program(ENDS_WITH_ITS_NODE, leader.data_dir)
    child = int(process.stdout.readline())
    next_one = Client(others(cluster, leader)[0]).campaign()
    killed = boottime_ns()
    leader.kill()
    next_one.wait_for("elected")
    assert boottime_ns() - killed < 5e9
    assert process.poll() == -signal.SIGKILL
    os.kill(child, signal.SIGKILL)  # it lives


def test_wrong_settings_are_refused(settled):
    _, leader = settled()
    for stall_after in (0, -1):
        with pytest.raises(ValueError, match="more than 0"):
            bullring.lead(leader.data_dir, stall_after=stall_after)
    with pytest.raises(ValueError, match="'weep'; expected 'tell' or 'kill'"):
        bullring.lead(leader.data_dir, on_loss="weep")
    with pytest.raises(ValueError, match='"advertised" is'):
        with bullring.lead(leader.data_dir, advertised="x" * 257):
            pass
    leads_next(leader)
