"""Changes between runs or from node to node: algorithm, timing, addresses, priority."""


import pytest
from clusters import ON_USUAL, on_both


@ON_USUAL
def test_the_other_algorithm_on_the_same_directories(new_cluster, algorithm, n):
    """A whole stop, then a start with the other algorithm: epochs go on rising."""
    cluster = new_cluster(n, algorithm).start()
    highest = cluster.wait_settled().view[1]
    other = {"bully": "ring", "ring": "bully"}
    for _ in range(2):
        for node in cluster:
            node.terminate()
        for node in cluster:
            assert node.wait_exit() == 0
        cluster.algorithm = other[cluster.algorithm]
        cluster.start()
        epoch = cluster.wait_settled().view[1]
        assert epoch > highest
        assert cluster.status()["algorithm"] == cluster.algorithm
        highest = epoch


@ON_USUAL
def test_timing_one_node_at_a_time(new_cluster, algorithm, n):
    cluster, _ = new_cluster(n, algorithm, flags=["--no-preempt"]).settled()
    for node in cluster:
        node.flags = ["--profile", "cloud"]
        assert node.stop() == 0
        node.start()
        cluster.wait_settled()
    leader = cluster.leader()
    left = [node["lease_left_ms"] for node in cluster.status()["nodes"]]
    assert left[leader.id - 1] > cluster.timing.lease


@ON_USUAL
def test_addresses_one_node_at_a_time(new_cluster, algorithm, n):
    """First everybody is told the new address, then the node moves to it."""
    cluster, _ = new_cluster(n, algorithm, flags=["--no-preempt"]).settled()
    moving = cluster[1]
    moving.port = cluster.ports.take()
    for node in reversed(list(cluster)):
        assert node.stop() == 0
        node.start()
        cluster.wait_leader(among=[other.id for other in cluster if other is not moving])
    cluster.wait_settled()
    assert cluster.status()["nodes"][0]["address"] == moving.address


@ON_USUAL
def test_priority_one_node_at_a_time(new_cluster, algorithm, n):
    cluster, leader = new_cluster(n, algorithm).settled()
    cluster[1].flags = ["--priority", "5"]
    cluster[1].stop()
    cluster[1].start()
    cluster.wait_settled()
    leader.terminate()  # It hands over to the best of the others.
    leader.wait_exit()
    assert cluster.wait_leader().id == 1


@ON_USUAL
def test_listening_elsewhere_than_where_the_peers_dial(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    for node in cluster:
        node.flags = ["--listen", f"0.0.0.0:{node.port}"]
    cluster.start().wait_settled()


@ON_USUAL
def test_names_beside_addresses(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    for node in cluster:
        node.host = "localhost" if node.id % 2 else "127.0.0.1"
    cluster.start().wait_settled()


@ON_USUAL
def test_a_peer_list_from_a_file(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    file = cluster.directory / "peers"
    lines = [f"{node.id}={node.address}  # node {node.id}" for node in cluster]
    file.write_text("# the members\n\n" + "\n".join(lines) + "\n")
    for node in cluster:
        node.peers = f"@{file}"
    cluster.start().wait_settled()


@ON_USUAL
def test_the_environment_and_a_file_configure_a_node(new_cluster, algorithm, n):
    cluster = new_cluster(n, algorithm)
    file = cluster.directory / "node.toml"
    file.write_text(f'peers = "{cluster.peers}"\nadvertise = "from the file"\n')
    for node in cluster:
        node.flags = ["--config", str(file)]
    cluster.environment["BULLRING_PRIORITY"] = "3"
    leader = cluster.start().wait_settled()
    told = next(node for node in cluster.status()["nodes"] if node["id"] == leader.id)
    assert told["advertised"] == "from the file"


@on_both(3)
@pytest.mark.parametrize("profile", ["fast", "lan", "cloud", "wan"])
def test_a_crash_in_each_profile(new_cluster, algorithm, n, profile):
    cluster, leader = new_cluster(n, algorithm, profile=profile).settled()
    elected = cluster.wait_elected(leader.kill())
    assert elected["node"] != leader.id
