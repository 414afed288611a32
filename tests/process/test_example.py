"""The example of tests/process/README.md."""

from clusters import on_both


@on_both(3)
def test_a_killed_leader_is_replaced_in_a_higher_epoch(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm).start()
    old = cluster.wait_leader()
    epoch = old.view[1]
    killed_ns = old.kill()
    elected = cluster.wait_elected(after_ns=killed_ns)
    assert elected["node"] != old.id
    assert elected["epoch"] > epoch
    old.restart()
    cluster.wait_settled()
