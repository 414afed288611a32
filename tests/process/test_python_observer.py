"""Observers and the fencing guard of python3-bullring(7)."""

import os
import threading

import bullring
import pytest
from attached import LONG_LEASE, a_thread, others, settled
from harness.waiting import DEADLINE

__all__ = ["settled"]  # a fixture


@pytest.fixture
def observed(new_cluster, ports, tmp_path):
    """A node that is no leader, in each of the ways in which it is asked, and the leader."""
    cluster = new_cluster(3, flags=["--advertise", "somewhere"])
    port, path = ports.take(), tmp_path / "http.sock"
    cluster[1].flags = ["--http", f"127.0.0.1:{port}"]
    cluster[2].flags = ["--http", f"unix:{path}"]
    _, leader = cluster.settled()
    assert leader.id == 3
    return cluster, {
        "socket": {"where": cluster[1].data_dir},
        "http": {"http": f"127.0.0.1:{port}"},
        "unix": {"http": f"unix:{path}"},
    }


@pytest.mark.parametrize("way", ["socket", "http", "unix"])
def test_it_iterates_over_the_leaders(observed, way):
    cluster, ways = observed
    observer = bullring.Observer(**ways[way], timeout=DEADLINE)
    present = observer.leader()
    assert present == (3, cluster[3].view[1], "somewhere")
    changes = iter(observer)
    assert next(changes) == present
    killed = cluster[3].kill()
    elected = cluster.wait_elected(after_ns=killed)
    seen = [next(changes)]
    while seen[-1].id != elected["node"]:
        seen.append(next(changes))
    assert seen[-1].epoch == elected["epoch"]
    assert all(one != other for one, other in zip(seen, seen[1:]))
    cluster.kill_all()
    with pytest.raises(bullring.NotAvailable):
        for _ in changes:
            pass
    with pytest.raises(bullring.NotAvailable):
        observer.leader()


def test_an_observer_asks_for_its_time_alone_at_first(observed):
    """Then it may be long before anything changes."""
    _, ways = observed
    for settings in ways.values():
        changes = iter(bullring.Observer(**settings, timeout=0.5))
        next(changes)
        with a_thread(next, changes, None) as waits:
            waits.join(0.7)  # pause: longer than its time
            assert waits.is_alive()
            observed[0].resign()


def test_what_serves_no_events_is_not_taken_for_a_node(observed):
    cluster, ways = observed
    with pytest.raises(bullring.NotAvailable):
        bullring.Observer(http=cluster[1].address, timeout=DEADLINE).leader()
    with pytest.raises(bullring.NotAvailable):
        bullring.Observer(http="127.0.0.1:1").leader()


def test_the_guard_refuses_what_is_older(tmp_path):
    for guard in (bullring.FencingGuard(), bullring.FencingGuard(tmp_path / "epoch")):
        assert guard.highest == 0
        answers = [guard.admit(epoch) for epoch in (2, 2, 1, 3, 2, 2**64 - 1, 2**64, 0, -1)]
        assert answers == [True, True, False, True, False, True, False, False, False]
        assert guard.highest == 2**64 - 1
        with pytest.raises(TypeError):
            guard.admit(4.5)
    assert bullring.FencingGuard(str(tmp_path / "epoch")).highest == 2**64 - 1


@pytest.mark.parametrize("text", ["7", "x" * 20 + "\n", "9" * 20 + "\n", "0" * 20 + "\n\n"])
def test_a_damaged_file_admits_nothing(tmp_path, text):
    path = tmp_path / "epoch"
    guard = bullring.FencingGuard(path)
    assert guard.admit(1)
    path.write_text(text)
    for uses in (lambda: guard.admit(9), lambda: bullring.FencingGuard(path)):
        with pytest.raises(ValueError, match="write the highest epoch"):
            uses()
    path.unlink()
    with pytest.raises(OSError):
        guard.admit(9)


def test_threads_and_forked_processes_share_one(tmp_path):
    """Each of them admits only what rises."""
    guard = bullring.FencingGuard(tmp_path / "epoch")
    admitted = []
    mutex = threading.Lock()

    def offers(first):
        for epoch in range(first, 400, 4):
            with mutex:
                if guard.admit(epoch):
                    admitted.append(epoch)

    child = os.fork()
    if child == 0:
        for epoch in range(1, 400):
            guard.admit(epoch)
        os._exit(0)
    with a_thread(offers, 1), a_thread(offers, 2), a_thread(offers, 3):
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert admitted == sorted(set(admitted))
    assert not guard.admit(398)
    assert bullring.FencingGuard(tmp_path / "epoch").highest == 399


def test_the_pair_of_leader_and_guard(settled, tmp_path):
    """The new leader is admitted before it reads, and from then on the old one is not."""
    cluster, leader = settled(*LONG_LEASE)
    guard = bullring.FencingGuard(tmp_path / "epoch")
    epochs = []
    for node in (leader, others(cluster, leader)[0]):
        with bullring.lead(node.data_dir, timeout=DEADLINE) as lead:
            assert guard.admit(lead.epoch)
            epochs.append(lead.epoch)
    assert not guard.admit(epochs[0])
