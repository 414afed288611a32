"""Leadership that is handed over: stops, resignations, preemption, rolling restarts."""

import concurrent.futures

from clusters import LONG, ON_EVERY, ON_USUAL, SOON_NS, on_both


def assert_handed_over(cluster):
    """No leadership was followed by the next one only when its lease was over."""
    held = cluster.check_intervals()
    gaps_ns = [later.start_ns - earlier.end_ns for earlier, later in zip(held, held[1:])]
    assert max(gaps_ns) < SOON_NS


@ON_EVERY
def test_a_stopped_leader_hands_over(new_cluster, algorithm, n):
    cluster, old = new_cluster(n, algorithm, flags=LONG).settled()
    assert old.stop() == 0
    cluster.wait_leader()
    assert old.current.stream.of("deposed")[-1]["reason"] == "stopped"
    assert len(old.current.stream.of("stopped")) == 1
    assert_handed_over(cluster)


@ON_USUAL
def test_a_rolling_restart_loses_the_leadership_for_no_longer_than_a_handover(
    new_cluster, algorithm, n
):
    cluster, _ = new_cluster(n, algorithm, flags=["--no-preempt", *LONG]).settled()
    for node in cluster:
        assert node.stop() == 0
        node.start()
        cluster.wait_settled()
    assert_handed_over(cluster)
    for held in cluster.leaderships()[:-1]:
        assert held.reason not in (None, "lease_expired")


@ON_EVERY
def test_resign_to_a_chosen_successor(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm, flags=LONG).settled()
    for successor in (1, 2, 1):
        done = cluster.resign("--to", str(successor))
        assert done.returncode == 0, done.stderr
        assert cluster.wait_leader().id == successor
    assert_handed_over(cluster)
    reasons = [event["reason"] for event in cluster.events() if event["event"] == "deposed"]
    assert reasons == ["resigned"] * 3


@ON_USUAL
def test_resign_without_a_name_chooses_the_highest_other(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm).settled()
    assert cluster.resign().returncode == 0
    assert cluster.wait_leader().id == n - 1


@ON_USUAL
def test_resign_to_one_that_cannot_lead_is_refused(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    cluster[1].flags = ["--priority", "never"]
    leader = cluster.start().wait_settled()
    before = leader.view
    cluster[2].crash()
    # No waiting makes node 1 a candidate; node 2 may come back.
    for successor, timeout in (("1", "1h"), ("2", "2s")):
        refused = cluster.resign("--to", successor, "--timeout", timeout)
        assert refused.returncode == 1, refused.stdout
        assert f"node {successor} is" in refused.stderr
    assert leader.view == before
    assert leader.leads


@on_both(3)
def test_resign_waits_for_a_successor_as_long_as_it_was_told(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    cluster[1].flags = ["--priority", "never"]
    leader = cluster.start().wait_settled()
    successor = next(node for node in cluster if node not in (cluster[1], leader))
    successor.crash()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        resign = pool.submit(cluster.command, "resign", "--timeout", "20s")
        cluster.never(resign.done, "it has given up, or found somebody", 0.5)
        successor.start()
        done = resign.result()
    assert (done.returncode, done.stderr) == (0, "")
    assert f"node {successor.id} leads" in done.stdout


@ON_USUAL
def test_resign_to_a_stranger_is_refused(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    cluster.wait_leader()
    refused = cluster.resign("--to", "99")
    assert refused.returncode == 1
    assert "node 99 is not a member" in refused.stderr


@ON_USUAL
def test_a_resigned_leader_does_not_take_over_at_once(new_cluster, algorithm, n):
    """Preemption does not undo what a user asked for."""
    cluster = new_cluster(n, algorithm, flags=["--preempt", "--preempt-delay", "200ms"])
    old = cluster.start().wait_settled()
    assert cluster.resign("--to", "1").returncode == 0
    # Two streams: the line of the one that leads may be read before that of the one that left.
    cluster.wait_for(lambda: cluster[1].leads and not old.leads, "the successor leads alone")
    cluster.never(lambda: old.leads, "the one that resigned leads again", 2.0)


def leadership_before(cluster, elected):
    """How the leadership before this one ended, if that has been told."""
    epochs = [event["epoch"] for event in cluster.events() if event["event"] == "elected"]
    before = max(epoch for epoch in epochs if epoch < elected["epoch"])
    ends = [event for event in cluster.events() if event["event"] == "deposed"]
    return next((event for event in ends if event["epoch"] == before), None)


@ON_USUAL
def test_a_better_node_takes_over_by_handover_where_it_may(new_cluster, algorithm, n):
    flags = ["--preempt", "--preempt-delay", "300ms", *LONG]
    cluster, highest = new_cluster(n, algorithm, flags=flags).settled()
    highest.crash()
    cluster.wait_leader()
    highest.start()
    # A ring may have elected the lowest first; then the second best is handed the leadership, too.
    cluster.wait_for(lambda: highest.leads, "the best node leads")
    elected = highest.current.stream.of("elected")[-1]
    # Each node's lines come from a thread of its own, so those of the one before may come later.
    deposed = cluster.wait_for(
        lambda: leadership_before(cluster, elected), "the end of the one before"
    )
    assert deposed["reason"] == "preempted"
    assert elected["ts_ns"] - deposed["held_until_ns"] < SOON_NS


@ON_USUAL
def test_a_better_node_waits_for_its_turn_where_it_may_not(new_cluster, algorithm, n):
    flags = ["--no-preempt", "--preempt-delay", "100ms"]
    cluster, highest = new_cluster(n, algorithm, flags=flags).settled()
    highest.crash()
    lower = cluster.wait_leader()
    highest.start()
    cluster.wait_settled()
    cluster.never(lambda: not lower.leads, "the lower leader is deposed", 1.0)
