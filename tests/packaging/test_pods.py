"""The container file and the manifest for Kubernetes are obeyed, in namespaces: each replica is
started as written, finds the others by their names, and answers its probes; pods go and come back.
"""

import re
import shutil
import signal

from harness import netns
import pytest
from harness.node import find_program
from containers import Container, ContainerFile, make_root
from harness.packaging_files import run
from pod_cluster import Cluster
from pods import PodNetwork
from harness.waiting import DEADLINE, wait_until

REASON = netns.unavailable()
pytestmark = [pytest.mark.beside, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

CONTAINERFILE = ContainerFile()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return make_root(tmp_path_factory.mktemp("image"), CONTAINERFILE)


@pytest.fixture
def network():
    network = PodNetwork()
    yield network
    network.close()


@pytest.fixture
def cluster(image, network, tmp_path):
    cluster = Cluster(image, network, tmp_path)
    yield cluster
    cluster.close()


def test_pods_go_and_come_back(cluster):
    cluster.start()
    leader, epoch = cluster.wait_settled()

    # A pod is deleted; the next one of that name has its volume, and another address.
    address = leader.address
    leader.delete()
    second, later = cluster.wait_settled(but=leader)
    assert later > epoch
    leader.create()
    assert leader.address != address
    cluster.wait(lambda: cluster.ready() == cluster.pods, "the pod is back and ready")

    # A machine vanishes with its pod, and another one: the last is well and not ready.
    second, epoch = cluster.wait_settled()
    second.delete(with_its_machine=True)
    third, later = cluster.wait_settled(but=second)
    assert later > epoch
    third.delete(with_its_machine=True)
    (last,) = cluster.there()
    cluster.wait(lambda: not cluster.ready() and cluster.service_reaches(None), "no majority")
    assert cluster.alive() == [last]
    assert last.told("/readyz")["why"].startswith("no majority")
    for pod in (second, third):
        pod.create()
    leader, latest = cluster.wait_settled()
    assert latest > later
    assert cluster.there() == cluster.pods


def test_pods_above_the_founders_join_and_leave(cluster):
    """kubectl scale: 3, 5, 3, and 5 again."""
    founders = {1: True, 2: True, 3: True}
    forget = 2  # s
    cluster.start(BULLRING_FORGET_AFTER=f"{forget}s")
    leader, epoch = cluster.wait_settled()
    for _ in range(2):
        cluster.scale(5)
        joined = {**founders, 4: False, 5: False}
        cluster.wait(lambda: cluster.votes() == joined, "4 and 5 are members, without a vote")
        # Nobody takes over from the pod that works.
        assert cluster.wait_settled() == (leader, epoch)
        assert len(cluster.ready()) == 5

        # One that is deleted comes back at another address by the same name.
        cluster.pods[4].delete()
        cluster.pods[4].create()
        cluster.wait(lambda: len(cluster.ready()) == 5, "poller-4 is back")

        cluster.scale(3)
        cluster.wait(lambda: cluster.votes() == founders, "4 and 5 are forgotten")
        assert cluster.wait_settled() == (leader, epoch)

    # More votes, and fewer, from within a pod.
    cluster.scale(5)
    cluster.wait(lambda: cluster.votes() == joined, "4 and 5 are members once more")
    inside = cluster.pods[0].container.execute
    for node_id in (4, 5):
        inside("bullring", "member", "promote", str(node_id))
    assert cluster.votes() == {node_id: True for node_id in range(1, 6)}
    for node_id in (5, 4):
        inside("bullring", "member", "demote", str(node_id))
    cluster.scale(3)
    cluster.wait(lambda: cluster.votes() == founders, "4 and 5 are forgotten again")
    assert cluster.wait_settled() == (leader, epoch)

    # A pod without a vote leads like any other, and the service goes to it.
    cluster.scale(5)
    cluster.wait(lambda: cluster.votes() == joined, "4 and 5 are members again")
    while leader.index < 3:
        leader.delete()
        before, (leader, later) = leader, cluster.wait_settled(but=leader)
        assert later > epoch
        epoch = later
        before.create()
        cluster.wait(lambda: len(cluster.ready()) == 5, "all are back")
    cluster.scale(3)
    cluster.wait_settled(but=leader)


def test_it_fits_into_what_the_manifest_allows(cluster):
    cluster.start()
    leader, _ = cluster.wait_settled()
    limit = leader.written["resources"]["limits"]["memory"]
    most = int(limit.removesuffix("Mi")) * 1024
    used = 0
    for pid in leader.container.processes():
        status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
        used += int(status["VmRSS"].split()[0])
        assert status["Uid"].split() == [str(leader.rights["runAsUser"])] * 4
        assert int(status["CapBnd"], 16) == 0
        assert status["NoNewPrivs"].split() == ["1"]
    assert 0 < used < most
    # Nothing but the volume can be written to.
    root = f"/proc/{leader.container.first()}/root"
    mounted = open(f"/proc/{leader.container.first()}/mountinfo").read()
    assert re.search(r"(?m)^\S+ \S+ \S+ \S+ / ro,", mounted), root


def test_the_image_runs_by_itself(image, network, tmp_path):
    """As the container file says: its settings are variables, and its state is in its volume."""
    numbers = [network.add() for _ in range(3)]
    peers = ",".join(f"{n}={network.addresses[n]}:7100" for n in numbers)
    assert CONTAINERFILE.one("HEALTHCHECK") is None
    (volume,) = CONTAINERFILE.volumes
    made = []
    for n in numbers:
        state = tmp_path / f"state{n}"
        state.mkdir(mode=0o700)
        shutil.chown(state, *CONTAINERFILE.user)  # as that of the image
        made.append(Container(image, CONTAINERFILE, network.path(n), tmp_path / str(n)))
        settings = {"BULLRING_ID": str(n), "BULLRING_PEERS": peers, "BULLRING_SECURITY": "none"}
        made[-1].start(f"node-{n}", environment=settings, volumes={volume: state})
    try:
        for n in numbers:
            state = tmp_path / f"state{n}"
            wait_until(lambda state=state: any(state.rglob("*")), f"the state of node {n}")
        ask = [find_program(), "status", "--peers", peers, "--security", "none"]
        run(*network.prefix(numbers[0]), *ask, "--wait", "--timeout", f"{DEADLINE:.0f}s")
        assert CONTAINERFILE.stop_signal == signal.SIGTERM
        assert [one.stop(DEADLINE) for one in made] == [0, 0, 0]
    finally:
        for one in made:
            one.kill()
