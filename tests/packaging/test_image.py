"""The image itself: a fresh Debian in which is done what the container file says, and the pods of
the manifest with it.
"""

import pathlib
import shutil
import tempfile

from harness import netns
import pytest
from containers import ContainerFile, complete
from debian import Debian
from pod_cluster import Cluster
from pods import PodNetwork

REASON = netns.unavailable()
pytestmark = [
    pytest.mark.long,
    pytest.mark.limit(3600),
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
]


def build(debian, containerfile, packages):
    """The instructions of the last stage, in their order, with what the first one has made."""
    assert containerfile.base == "debian:12-slim"
    for name, rest in containerfile.instructions:
        if name == "COPY":
            assert rest == "--from=build /tmp/bullring_*.deb /tmp/"
            shutil.copy(packages["bullring"], debian.folder / "tmp")
        elif name == "RUN":
            debian.run("sh", "-c", rest)


@pytest.fixture(scope="module")
def image(packages):
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not installed")
    with tempfile.TemporaryDirectory(prefix="bullring-image-") as folder:
        debian = Debian(pathlib.Path(folder))
        build(debian, ContainerFile(), packages)
        complete(debian.folder)
        yield debian.folder


@pytest.fixture
def cluster(image, tmp_path):
    network = PodNetwork()
    cluster = Cluster(image, network, tmp_path)
    yield cluster
    cluster.close()
    network.close()


def test_the_image_has_what_runs_and_a_volume_for_its_user(image):
    containerfile = ContainerFile()
    assert (image / "usr/bin/bullring").exists()
    assert not list((image / "tmp").iterdir())
    assert not (image / "lib/systemd/systemd").exists()
    for volume in containerfile.volumes:
        found = (image / volume.removeprefix("/")).stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (*containerfile.user, 0o700)


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
        pod.create()
        _, later = cluster.wait_settled()
        assert later >= epoch
        epoch = later
