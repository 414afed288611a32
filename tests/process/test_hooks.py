"""The hooks of a live cluster: in order, with what they were promised, and never of two leaders."""


import pytest
from clusters import on, on_both


class Told:
    """The file into which the hooks of all nodes write."""

    def __init__(self, path):
        self.path = path

    def hooks(self, on_deposed):
        """The flags of a node."""
        told = f'"$BULLRING_NODE_ID $BULLRING_EPOCH $BULLRING_ROLE $BULLRING_REASON" >>{self.path}'
        deposing = f"echo deposing {told}; {on_deposed}; echo deposed {told}"
        change = f'echo change "$BULLRING_NODE_ID $BULLRING_LEADER" >>{self.path}'
        return [
            *("--on-elected", f"echo elected {told}"),
            *("--on-deposed", deposing),
            *("--on-change", change),
        ]

    def lines(self, *words):
        found = [line.split() for line in self.path.read_text().splitlines()]
        return [line for line in found if line[0] in words]


@pytest.fixture
def told(tmp_path):
    return Told(tmp_path / "told")


@pytest.fixture
def settled(new_cluster, told):
    """A settled cluster whose hooks tell that they run."""

    def make(algorithm, n, on_deposed):
        cluster, _ = new_cluster(n, algorithm, flags=told.hooks(on_deposed)).settled()
        return cluster

    return make


@on_both(3)
def test_deposed_ends_before_the_next_is_elected(settled, told, algorithm, n):
    cluster = settled(algorithm, n, "sleep 0.3")
    first = cluster.leader()
    assert cluster.resign().returncode == 0
    cluster.wait_for(lambda: len(told.lines("elected")) == 2, "the second on-elected")
    lines = told.lines("elected", "deposing", "deposed")
    assert [line[0] for line in lines] == ["elected", "deposing", "deposed", "elected"]
    assert {line[1] for line in lines[:3]} == {str(first.id)}
    assert lines[3][1] != str(first.id)
    assert int(lines[3][2]) > int(lines[0][2])
    assert lines[0][3:] == ["leader", "elected"]
    assert lines[2][3:] == ["follower", "resigned"]
    second = lines[3][1]
    cluster.wait_for(
        lambda: {line[1] for line in told.lines("change") if line[2:] == [second]}
        == {str(node.id) for node in cluster},
        "everybody's on-change",
    )


@on(("bully", 3))
def test_a_hook_that_does_not_end_is_killed_and_another_leads(settled, told, algorithm, n):
    cluster = settled(algorithm, n, "exec sleep 60")
    first = cluster.leader()
    assert cluster.resign("--timeout", "8s").returncode == 0
    cluster.wait_for(lambda: len(told.lines("elected")) == 2, "the second on-elected")
    assert told.lines("deposed") == []
    assert told.lines("elected")[1][1] != str(first.id)


@on(("ring", 3))
def test_a_killed_leader_with_hooks_is_replaced_when_its_promises_end(settled, algorithm, n):
    cluster = settled(algorithm, n, "true")
    killed_ns = cluster.leader().kill()
    took_ms = (cluster.wait_elected(killed_ns)["ts_ns"] - killed_ns) / 1e6
    assert took_ms > 300  # no early release: a hook's child may outlive the node
