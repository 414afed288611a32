"""What the container file and the manifest for Kubernetes say is done, in namespaces: each replica is
started as written, finds the others by their names, and answers its probes; pods go and come back.
"""

import json
import re
import shutil
import signal

import bullring_netns
import pytest
from bullring_node import find_program
from containers import Container, ContainerFile, make_root
from packaging_files import SOURCES, run
from pods import Pod, PodNetwork, Proxy, manifest
from waiting import DEADLINE, wait_until

REASON = bullring_netns.unavailable()
pytestmark = [pytest.mark.beside, pytest.mark.skipif(REASON is not None, reason=str(REASON))]

OBJECTS = manifest()
MEMBERS = OBJECTS["StatefulSet", "poller"]
# By which a program beside the node asks whether it leads.
LEADER_URL = re.search(
    r"http://localhost:\d+/\w+", (SOURCES / "container" / "kubernetes.yaml").read_text()
)[0]
HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
CONTAINERFILE = ContainerFile()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return make_root(tmp_path_factory.mktemp("image"), CONTAINERFILE)


@pytest.fixture
def network():
    network = PodNetwork()
    yield network
    network.close()


class Cluster:
    """The pods of the manifest, and the kubelet's look at them."""

    def __init__(self, image, network, directory):
        self.pods = [
            Pod(MEMBERS, index, image, CONTAINERFILE, network, directory / str(index))
            for index in range(MEMBERS["spec"]["replicas"])
        ]
        self.proxy = Proxy(OBJECTS, network, directory) if HAPROXY else None

    def start(self):
        for pod in self.pods:
            pod.create(LEADER_URL)

    def there(self):
        return [pod for pod in self.pods if pod.there]

    def ready(self):
        return [pod for pod in self.there() if pod.ready.succeeds(pod.address)]

    def alive(self):
        return [pod for pod in self.there() if pod.live.succeeds(pod.address)]

    def leader(self):
        """The one that says of itself that it leads; None: not one alone."""
        leading = [pod for pod in self.there() if pod.leads]
        return leading[0] if len(leading) == 1 else None

    def settled(self):
        """The leader, once all that are there are ready, and the service leads to it."""
        leader = self.leader()
        ready = leader is not None and self.ready() == self.there() == self.alive()
        return leader if ready and self.service_reaches(f"{leader.name} leads") else None

    def service_reaches(self, expected):
        return self.proxy is None or self.proxy.reached() == expected

    def wait(self, predicate, what):
        def look():
            ended = [pod.name for pod in self.there() if pod.container.process.poll() is not None]
            assert not ended, f"{ended} ended by themselves\n{self.logs()}"
            return predicate()

        return wait_until(look, lambda: f"{what}\n{self.logs()}")

    def wait_settled(self, but=None):
        def settled():
            leader = self.settled()
            return leader if leader is not but else None

        leader = self.wait(settled, "a leader, all ready, and the service points at it")
        said = json.loads(leader.get("/leader")[1])
        assert said["leader"] == leader.index + 1
        return leader, said["epoch"]

    def logs(self):
        return "\n".join(f"{pod.name}:\n{pod.container.log.read_text()}" for pod in self.pods)

    def close(self):
        for pod in self.pods:
            pod.close()
        if self.proxy is not None:
            self.proxy.close()


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
    leader.create(LEADER_URL)
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
    assert json.loads(last.get("/readyz")[1])["why"].startswith("no majority")
    for pod in (second, third):
        pod.create(LEADER_URL)
    leader, latest = cluster.wait_settled()
    assert latest > later
    assert cluster.there() == cluster.pods


def test_a_container_that_dies_is_started_again_in_its_pod(cluster):
    """And a rolling update ends each pod by the image's signal, with success and well in time."""
    cluster.start()
    leader, epoch = cluster.wait_settled()
    leader.container.kill()
    leader.start()
    cluster.wait(lambda: leader.ready.succeeds(leader.address), "it is ready again")
    _, epoch = cluster.wait_settled()
    for pod in reversed(cluster.pods):
        assert pod.end() == 0
        pod.create(LEADER_URL)
        _, later = cluster.wait_settled()
        assert later >= epoch
        epoch = later


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
