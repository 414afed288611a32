"""The pods of the manifest for Kubernetes as a cluster, with the leader's service before them."""

import shutil

from containers import ContainerFile
from pods import Pod, Proxy, manifest
from harness.waiting import wait_until

HAPROXY = shutil.which("haproxy", path="/usr/sbin:/usr/bin")


class Cluster:
    """The pods of the manifest, and the kubelet's look at them."""

    def __init__(self, image, network, directory):
        """`image`: the root of what the container file describes."""
        objects = manifest()
        self.members = objects["StatefulSet", "poller"]
        self.image, self.network, self.directory = image, network, directory
        self.pods = []  # by their numbers; those that are scaled in keep their volumes
        self._make(self.members["spec"]["replicas"])
        self.proxy = Proxy(objects, network, directory) if HAPROXY else None

    def _make(self, replicas):
        for index in range(len(self.pods), replicas):
            folder = self.directory / str(index)
            pod = Pod(self.members, index, self.image, ContainerFile(), self.network, folder)
            self.pods.append(pod)

    def start(self, **settings):
        for pod in self.pods:
            pod.settings = settings
            pod.create()

    def scale(self, replicas):
        """As the set does it: the pod with the highest number goes first."""
        self._make(replicas)
        for pod in self.pods[:replicas]:
            if not pod.there:
                pod.settings = self.pods[0].settings
                pod.create()
        for pod in reversed(self.pods[replicas:]):
            if pod.there:
                assert pod.end() == 0

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
        said = leader.told("/leader")
        assert said["leader"] == leader.index + 1
        return leader, said["epoch"]

    def votes(self):
        """The members, and whether each has a vote, by the answer of the leader's pod."""
        leader = self.leader()
        if leader is None:
            return None
        told = leader.told("/cluster")["nodes"]
        return {node["id"]: node["vote"] for node in told if node["vote"] is not None}

    def logs(self):
        started = [pod for pod in self.pods if pod.container is not None]
        return "\n".join(f"{pod.name}:\n{pod.container.log.read_text()}" for pod in started)

    def close(self):
        for pod in self.pods:
            pod.close()
        if self.proxy is not None:
            self.proxy.close()
