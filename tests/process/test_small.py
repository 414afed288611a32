"""Clusters of two and of one."""


from harness.events import now_ns
from clusters import LONG, SOON_NS, on_both


def _lost_within_the_lease(cluster, survivor, since_ns):
    if survivor.leads or survivor.current.stream.of("elected"):
        deposed = cluster.wait_for(
            lambda: survivor.current.stream.of("deposed"), "the survivor steps down"
        )[-1]
        lease_ns = cluster.timing.lease * 1e6
        assert deposed["held_until_ns"] - since_ns <= lease_ns
    cluster.wait_no_leader()
    cluster.never(
        lambda: any(node.leads for node in cluster),
        "one of two leads",
        cluster.timing.promise_s * 2,
    )


@on_both(2)
def test_the_leaders_crash_ends_it_and_its_return_brings_it_back(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    survivor = next(node for node in cluster if node is not leader)
    _lost_within_the_lease(cluster, survivor, leader.kill())
    leader.restart()
    cluster.wait_leader()


@on_both(2)
def test_the_followers_crash_ends_it_and_its_return_brings_it_back(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    follower = next(node for node in cluster if node is not leader)
    _lost_within_the_lease(cluster, leader, follower.kill())
    follower.restart()
    cluster.wait_leader()


@on_both(2)
def test_a_hang_ends_it_and_its_end_brings_it_back(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    follower = next(node for node in cluster if node is not leader)
    _lost_within_the_lease(cluster, leader, follower.hang())
    follower.resume()
    cluster.wait_leader()


@on_both(1)
def test_it_leads_at_once_and_after_a_kill_with_a_higher_epoch(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm, flags=LONG).start()
    epoch = cluster.wait_settled().view[1]
    for _ in range(3):
        cluster[1].kill()
        started_ns = now_ns()
        cluster[1].restart()
        elected = cluster.wait_elected(started_ns)
        assert elected["epoch"] > epoch
        # No silence: the lock proves that the former process is dead.
        assert elected["ts_ns"] - started_ns < SOON_NS
        epoch = elected["epoch"]


@on_both(1)
def test_a_hang_longer_than_the_lease_costs_the_epoch(new_cluster, algorithm, n):
    cluster, node = new_cluster(n, algorithm, flags=["--hang-after", "off"]).settled()
    epoch = node.view[1]
    hung_ns = node.hang()
    over_ns = hung_ns + cluster.timing.promise_s * 1.5e9
    cluster.wait_for(lambda: now_ns() > over_ns, "the lease is over by the node's clock")
    resumed_ns = node.resume()
    elected = cluster.wait_elected(resumed_ns)
    assert elected["epoch"] > epoch
    deposed = node.current.stream.of("deposed")[-1]
    assert deposed["held_until_ns"] - hung_ns <= cluster.timing.lease * 1e6


@on_both(1)
def test_resign_fails_for_there_is_no_successor(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    before = cluster.wait_settled().view
    # Refused at once: no waiting brings a successor.
    refused = cluster.command("resign", "--timeout", "1h")
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1
    assert cluster[1].view == before


@on_both(1)
def test_a_stop_and_a_start(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    epoch = cluster.wait_settled().view[1]
    assert cluster[1].stop() == 0
    cluster[1].start()
    assert cluster.wait_settled().view[1] > epoch
