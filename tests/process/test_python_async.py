"""The package of python3-bullring(7) in asyncio: the loss cancels, and nothing else is touched."""

import asyncio
import contextlib
import sys
import threading
import time

import bullring
import pytest
from attached import LEASE_1S, LONG_LEASE, LOSSES, FakeNode, a_thread, leads_next, others, settled
from harness.attach import Client, boottime_ns
from harness.waiting import DEADLINE

__all__ = ["settled"]  # a fixture

COUNTS = sys.version_info >= (3, 11)  # how often a task was cancelled


async def for_ever():
    await asyncio.get_running_loop().create_future()


def nothing_is_left_of_it():
    """No cancellation is counted or under way any more."""
    return not COUNTS or asyncio.current_task().cancelling() == 0


@LOSSES
def test_the_loss_cancels_and_is_raised(settled, lose):
    cluster, leader = settled(*LEASE_1S)

    async def main():
        with pytest.raises(bullring.Lost) as lost:
            async with bullring.alead(leader.data_dir) as lead:
                assert lead.valid()
                reason = lose(cluster, leader)
                try:
                    await for_ever()
                finally:
                    assert lead.reason == reason
        assert lost.value.reason == reason
        assert isinstance(lost.value.__cause__, asyncio.CancelledError)
        assert not lead.valid() and nothing_is_left_of_it()
        await asyncio.sleep(0)  # pause: a turn of the loop
        assert [asyncio.current_task()] == list(asyncio.all_tasks())

    asyncio.run(main(), debug=True)


def test_a_body_that_ends_well_gives_it_up(settled):
    cluster, leader = settled(*LONG_LEASE)
    candidate = Client(others(cluster, leader)[0])

    async def main():
        async with bullring.alead(leader.data_dir) as lead:
            candidate.campaign()
            await asyncio.sleep(0)  # pause: a turn of the loop
        assert not lead.valid() and lead.reason == "task_ended" and await lead.wait()
        return lead.epoch

    epoch = asyncio.run(main())
    began = boottime_ns()
    assert candidate.wait_for("elected")["epoch"] > epoch
    assert boottime_ns() - began < 5e9


def test_it_is_given_up_only_when_the_body_has_wound_up(settled):
    """In which it is told to end, and the next one waits."""
    cluster, leader = settled(*LONG_LEASE)
    candidate = Client(others(cluster, leader)[0])

    async def main():
        async with bullring.alead(leader.data_dir) as lead:
            candidate.campaign()
            await resigned(lead)
            try:
                await for_ever()
            finally:
                # The node has taken its page away, and nobody leads before this is over.
                assert not lead.valid()
                await asyncio.sleep(0.2)  # pause: in which another would be elected
                assert candidate.shown() == (0, 0, 0)

    with pytest.raises(bullring.Lost, match="resigned"):
        asyncio.run(main())
    assert candidate.wait_for("elected")


async def resigned(lead):
    """By another task, for this one is cancelled then."""

    async def ask():
        with contextlib.suppress(bullring.BullringError):
            await lead.resign()

    while not lead.reason:
        await asyncio.gather(ask())


def test_a_swallowed_cancellation_comes_once_more_when_the_lease_ends(settled):
    _, leader = settled(*LEASE_1S)
    came = []

    async def main():
        async with bullring.alead(leader.data_dir) as lead:
            leader.kill()
            for _ in range(2):
                try:
                    await for_ever()
                except asyncio.CancelledError:
                    came.append(lead.time_left() > 0)

    with pytest.raises(bullring.Lost, match="disconnected"):
        asyncio.run(main())
    assert came == [True, False]


def test_a_body_without_an_await_is_not_cancelled_and_lost_all_the_same(settled):
    _, leader = settled(*LEASE_1S)

    async def main():
        async with bullring.alead(leader.data_dir) as lead:
            leader.kill()
            while lead.valid():
                time.sleep(0.01)  # pause: it holds up the loop
        raise AssertionError("no loss")

    async def around():
        with pytest.raises(bullring.Lost):
            await main()
        assert nothing_is_left_of_it()
        await asyncio.sleep(0)  # pause: a turn of the loop

    asyncio.run(around())


def test_an_exception_of_the_body_passes_also_after_the_loss(settled):
    _, leader = settled(*LEASE_1S)

    async def main():
        with pytest.raises(ZeroDivisionError):
            async with bullring.alead(leader.data_dir):
                1 / 0
        with pytest.raises(ZeroDivisionError):
            async with bullring.alead(leader.data_dir, timeout=DEADLINE):
                leader.kill()
                try:
                    await for_ever()
                finally:
                    1 / 0
        assert nothing_is_left_of_it()
        await asyncio.sleep(0)  # pause: a turn of the loop

    asyncio.run(main())


def test_a_cancellation_from_elsewhere_passes_as_it_is(settled):
    _, leader = settled()

    async def main():
        for _ in range(2):
            entered = asyncio.Event()

            async def leads():
                async with bullring.alead(leader.data_dir):
                    entered.set()
                    await for_ever()

            task = asyncio.ensure_future(leads())
            await entered.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(leads(), 0.5)

    asyncio.run(main())


@pytest.mark.parametrize("first", ["loss", "cancellation"])
@pytest.mark.skipif(not COUNTS, reason="before CPython 3.11 nobody can tell the two apart")
def test_of_a_loss_and_a_cancellation_at_one_time_the_cancellation_passes(settled, first):
    _, leader = settled(*LEASE_1S)

    async def leads(entered):
        async with bullring.alead(leader.data_dir) as lead:
            entered.set_result(lead)
            try:
                await for_ever()
            finally:
                # The second one comes while the first is heeded.
                entered.second()
                with contextlib.suppress(asyncio.CancelledError):
                    await for_ever()

    async def main():
        class Entered(asyncio.Future):
            second = leader.kill

        entered = Entered()
        task = asyncio.ensure_future(leads(entered))
        await entered
        if first == "loss":
            entered.second = task.cancel
            leader.kill()
        else:
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_cancellation_long_after_a_swallowed_loss_is_no_loss(settled):
    """With any version: it bears another message, or raises the count."""
    _, leader = settled(*LEASE_1S)

    async def leads(event):
        async with bullring.alead(leader.data_dir):
            leader.kill()
            with contextlib.suppress(asyncio.CancelledError):
                await for_ever()
            event.set()
            await for_ever()

    async def main():
        event = asyncio.Event()
        task = asyncio.ensure_future(leads(event))
        await event.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_loss_is_told_from_the_cancellation_that_cleans_up(settled):
    """The body is entered by a task that was cancelled before."""
    _, leader = settled(*LEASE_1S)

    async def cleans_up(began):
        try:
            began.set()
            await for_ever()
        except asyncio.CancelledError:
            with pytest.raises(bullring.Lost):
                async with bullring.alead(leader.data_dir):
                    leader.kill()
                    await for_ever()
            return "cleaned up"

    async def main():
        began = asyncio.Event()
        task = asyncio.ensure_future(cleans_up(began))
        await began.wait()
        task.cancel()
        assert await task == "cleaned up"

    asyncio.run(main())


def test_the_loss_reaches_inner_tasks_and_inner_leaderships(settled):
    cluster, leader = settled(*LEASE_1S)

    async def main():
        with pytest.raises(bullring.Lost):
            async with bullring.alead(leader.data_dir) as outer:

                async def waits():
                    return await outer.wait(DEADLINE)

                aside = asyncio.ensure_future(waits())
                leader.kill()
                await asyncio.gather(asyncio.create_task(for_ever()), for_ever())
        assert await aside is True
        assert nothing_is_left_of_it()

    asyncio.run(main())


def test_two_leaderships_in_each_other_are_told_apart(settled, new_cluster):
    _, one = settled(*LEASE_1S)
    _, two = new_cluster(1).settled()

    async def main():
        outer_lost = False
        async with bullring.alead(two.data_dir) as outer:
            with pytest.raises(bullring.Lost):
                async with bullring.alead(one.data_dir):
                    one.kill()
                    await for_ever()
            assert outer.valid()
            await asyncio.sleep(0)  # pause: a turn of the loop
        with pytest.raises(bullring.Lost):
            async with bullring.alead(two.data_dir):
                with contextlib.suppress(bullring.Lost):
                    async with bullring.alead(others_of_one().data_dir):
                        two.kill()
                        await for_ever()
                outer_lost = True
        assert not outer_lost and nothing_is_left_of_it()

    def others_of_one():
        return next(node for node in one.cluster if node is not one)

    asyncio.run(main())


def test_two_loops_in_two_threads(settled):
    cluster, leader = settled(*LEASE_1S)
    epochs, together = [], threading.Barrier(2)

    def leads(node):
        async def main():
            together.wait()
            async with bullring.alead(node.data_dir) as lead:
                epochs.append(lead.epoch)
                assert lead.valid()

        asyncio.run(main())

    with a_thread(leads, leader), a_thread(leads, leader):
        pass
    assert epochs == sorted(set(epochs)) and len(epochs) == 2


def test_who_does_not_want_to_wait_any_longer_is_no_candidate(settled):
    _, leader = settled(*LEASE_1S)

    async def main():
        async with bullring.alead(leader.data_dir):
            with pytest.raises(TimeoutError):
                async with bullring.alead(leader.data_dir, timeout=0.05):
                    pass
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(bullring.alead(leader.data_dir).__aenter__(), 0.05)
        with pytest.raises(bullring.NotAvailable):
            async with bullring.alead(leader.data_dir / "nothing"):
                pass
        with pytest.raises(ValueError, match="advertised"):
            async with bullring.alead(leader.data_dir, advertised="x" * 257):
                pass
        assert [asyncio.current_task()] == list(asyncio.all_tasks())

    asyncio.run(main(), debug=True)
    leads_next(leader)


def test_one_that_does_not_answer_and_one_that_is_no_node(tmp_path):
    node = FakeNode(tmp_path, b"220 mail\n")

    async def main():
        with pytest.raises(bullring.NotAvailable, match="is no node"):
            async with bullring.alead(node.data_dir):
                pass
        with pytest.raises(TimeoutError):
            async with bullring.alead(node.data_dir, timeout=0.05):
                pass

    asyncio.run(main())


def test_a_node_that_is_started_anew_ends_no_program(settled):
    _, leader = settled(*LEASE_1S)
    led = []

    class Done(Exception):
        pass

    async def task(lead):
        led.append(lead.epoch)
        if len(led) == 2:
            raise Done
        leader.kill()
        leader.restart()
        await for_ever()

    with pytest.raises(Done):
        asyncio.run(bullring.arun_while_leader(task, leader.data_dir))
    assert led[0] < led[1]
