"""Clusters with a key or certificates, for tests of real processes."""

import signal

import pytest
from harness.secrets import Authority, key_environment, key_line, write_private

KEY = "key"
TLS = "tls"
MODES = pytest.mark.parametrize("mode", [KEY, TLS])


class Secured:
    """A cluster in one of the modes, and what its observers need."""

    def __init__(self, new_cluster, directory, mode, n=3, algorithm="bully", **options):
        self.cluster = new_cluster(n, algorithm, **options)
        self.mode = mode
        if mode == KEY:
            self.key_file = write_private(directory / "cluster.key", key_line())
            self.cluster.environment |= key_environment(self.key_file)
            self.observer = self.admin = []
        else:
            self.authority = Authority(directory / "ca", self.cluster.name)
            for node in self.cluster:
                node.flags = self.authority.flags(f"node/{node.id}")
            self.observer = self.authority.flags("observer", uses="clientAuth")
            self.admin = self.authority.flags("admin", uses="clientAuth")
            # So that the cluster itself may ask, too; flags go before it.
            names = (word[2:].upper().replace("-", "_") for word in self.observer[::2])
            named = zip(names, self.observer[1::2])
            self.cluster.environment |= {f"BULLRING_{name}": value for name, value in named}

    def start(self):
        self.cluster.start()
        return self.cluster.wait_leader()

    def status(self):
        return self.cluster.status(*self.observer)


def read_anew(cluster, nodes=None):
    """Has all nodes, or these, read their credentials, and waits until they have."""
    nodes = list(nodes or cluster)
    logs = {node.id: node.current.log().count("read anew") for node in nodes}
    for node in nodes:
        node.current.process.send_signal(signal.SIGHUP)
    cluster.wait_for(
        lambda: all(node.current.log().count("read anew") > logs[node.id] for node in nodes),
        "the credentials are read",
    )


def wait_until_all_hear_each_other(cluster, *observer):
    """As each of them says. Who has changed its key takes a moment to be let in again."""
    everybody = {node.id for node in cluster}

    def heard():
        asked = cluster.status(*observer)["nodes"]
        return all({one["id"], *one["peers_up"]} == everybody for one in asked)

    cluster.wait_for(heard, "all hear each other")
