"""A list of what is revoked that comes after the start of the nodes: bullring-security(7)."""

import shutil
import subprocess

import pytest
from harness.node import DEADLINE, find_program
from harness.secrets import write_private

pytestmark = pytest.mark.beside

MISSING = "is not there yet: nothing is revoked until it is, and then it is read"


@pytest.fixture
def bullring(tmp_path):
    def run(*words):
        return subprocess.run(
            [find_program(), *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )

    return run


@pytest.fixture
def made(new_cluster, bullring, tmp_path):
    """Nodes with certificates of `bullring cert`, whose list is not there yet."""
    cluster = new_cluster(3)
    assert bullring("cert", "ca", "--cluster", cluster.name, "--out", "ca").returncode == 0
    assert bullring("cert", "node", *cluster.nodes, "--ca", "ca").returncode == 0
    assert bullring("cert", "observer", "--ca", "ca").returncode == 0

    def flags(who):
        named = {"ca": "ca/ca.pem", "cert": f"{who}.pem", "key": f"{who}.key", "crl": "crl.pem"}
        words = ["--security", "tls"]
        for flag, file in named.items():
            words += [f"--tls-{flag}", str(tmp_path / file)]
        return words

    for node in cluster:
        node.flags = flags(f"node-{node.id}")
    cluster.observer = flags("observer")
    return cluster


def hand_out(bullring, tmp_path, *revoked):
    done = bullring("cert", *(["revoke", *revoked] if revoked else ["crl"]), "--ca", "ca")
    assert done.returncode == 0, done.stderr
    write_private(tmp_path / "crl.pem", (tmp_path / "ca" / "crl.pem").read_text())


def test_a_list_may_come_after_the_start(made, bullring, tmp_path):
    cluster = made.start()
    cluster.wait_for(lambda: all(node.view[0] == 3 for node in cluster), "node 3 leads")
    for node in cluster:
        assert node.current.log().count(MISSING) == 1
    asked = cluster.command("status", *made.observer)
    assert asked.returncode == 0 and asked.stderr.count(MISSING) == 1

    hand_out(bullring, tmp_path)
    cluster.wait_for(
        lambda: all("revoked is what list 1 of " in node.current.log() for node in cluster),
        "all have read it, without a restart",
    )
    told = cluster.command("status", *made.observer)
    assert (told.returncode, told.stderr) == (0, "")
    assert len(told.stdout.splitlines()) == 4  # all have the same one

    hand_out(bullring, tmp_path, "node-1.pem")
    cluster.wait_for(
        lambda: all(
            [event["peer"] for event in cluster[i].current.stream.of("peer_down")].count(1)
            for i in (2, 3)
        ),
        "node 1 is not heard any more",
    )
    (tmp_path / "crl.pem").unlink()
    cluster.wait_for(
        lambda: all(
            'crl.pem" cannot be read: No such file' in cluster[i].current.log() for i in (2, 3)
        ),
        "that it is gone is said",
    )
    lists = [
        node["credential"]["revocations"]
        for node in cluster.status(*made.observer)["nodes"]
        if node["id"] != 1
    ]
    assert all(" list 2 of " in f" {one[0]}" for one in lists)
    assert cluster[3].leads


def test_doctor_agrees_with_a_node_whose_list_is_not_there_yet(made, bullring, tmp_path):
    shutil.rmtree(tmp_path / "state", ignore_errors=True)
    words = ["doctor", "--cluster", made.name, "--id", "1", "--peers", made.peers]
    words += ["--data-dir", str(tmp_path / "state"), *made[1].flags]
    found = bullring(*words)
    said = [line for line in found.stdout.splitlines() if "revocations" in line]
    assert len(said) == 1 and MISSING in said[0] and "warn" in said[0].lower(), found.stdout
    assert MISSING not in found.stderr
    hand_out(bullring, tmp_path)
    found = bullring(*words)
    assert MISSING not in found.stdout + found.stderr
    assert any("revocations" in line and "list 1 of" in line for line in found.stdout.splitlines())
