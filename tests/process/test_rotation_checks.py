"""A key and a CA are replaced step by step: who has not done a step yet can be seen from one place,
and the last step is refused while somebody needs what it takes away.
"""

import re
import subprocess

import pytest
from harness.node import DEADLINE, find_program
from harness.secrets import Authority, key_id, key_line, write_private
from secured import KEY, TLS, read_anew, wait_until_all_hear_each_other
from watcher import Watcher

pytestmark = pytest.mark.beside


def below_the_table(cluster, *observer):
    shown = cluster.command("status", *observer).stdout.splitlines()
    return shown[1 + len(list(cluster)) :]


@pytest.fixture
def by_keys(secured, tmp_path):
    """A cluster whose nodes have a file of keys each."""
    made = secured(KEY)
    text = made.key_file.read_text()
    made.files = {
        node.id: write_private(tmp_path / f"{node.id}.key", text) for node in made.cluster
    }
    for node in made.cluster:
        node.flags = ["--key-file", str(made.files[node.id])]
    made.start()
    wait_until_all_hear_each_other(made.cluster)
    return made


def take(made, text, *ids):
    """These nodes get this file."""
    for id in ids:
        write_private(made.files[id], text)
    read_anew(made.cluster, [made.cluster[id] for id in ids])


def remove(made, key, *flags):
    return subprocess.run(
        [find_program(), "key", "remove", key, str(made.files[1]), *flags],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )


def test_a_rotation_of_keys_is_seen_from_one_place(by_keys, spawn):
    made, cluster = by_keys, by_keys.cluster
    old, new = made.key_file.read_text(), key_line()
    old_id, new_id = key_id(old), key_id(new)
    assert below_the_table(cluster) == []
    for node in made.status()["nodes"]:
        others = {str(i): {"key": old_id, "dialled_with": old_id} for i in cluster.nodes}
        del others[str(node["id"])]
        assert node["credential"] == {"key": old_id, "accepts": [old_id]}
        assert node["peer_credentials"] == others
        assert node["callers"] == []

    take(made, old + new, 1, 2)
    assert below_the_table(cluster) == [f"key {new_id} is not accepted by node 3"]
    take(made, old + new, 3)
    assert below_the_table(cluster) == []

    take(made, new + old, 1, 3)
    line = f"nodes 1, 3 use key {new_id}; node 2 uses key {old_id}"
    cluster.wait_for(lambda: below_the_table(cluster) == [line], "node 2 alone is behind")
    refused = remove(made, old_id)
    assert refused.returncode == 1 and f"{old_id}, which may still be needed" in refused.stderr
    assert "node 2 dials with it" in refused.stderr
    assert "node 3" not in refused.stderr
    assert made.files[1].read_text() == new + old

    take(made, new + old, 2)
    cluster.wait_for(lambda: below_the_table(cluster) == [], "all use the new one")
    with_old = write_private(made.key_file.with_name("old.key"), old)
    watcher = Watcher(spawn, cluster, None, "--key-file", str(with_old))
    watcher.until(lambda line: line["leader"] is not None)
    callers = [caller for node in made.status()["nodes"] for caller in node["callers"]]
    assert [(caller["who"], caller["key"]) for caller in callers] == [("an administrator", old_id)]
    asked = next(node for node in made.status()["nodes"] if node["callers"])
    directory = ["--data-dir", str(cluster[asked["id"]].data_dir)]
    refused = remove(made, old_id, *directory)
    assert refused.returncode == 1 and "an administrator at 127.0.0.1:" in refused.stderr
    watcher.process.kill()
    watcher.process.wait()
    done = None

    def is_done():
        nonlocal done
        done = remove(made, old_id)
        return done.returncode == 0

    cluster.wait_for(is_done, "nobody needs the old one")
    assert made.files[1].read_text() == new
    assert done.stdout.splitlines()[1:] == [f"{new_id}  dialled with, and accepted"]


def test_a_key_of_which_nobody_knows_who_needs_it_is_removed_by_force(by_keys):
    made, cluster = by_keys, by_keys.cluster
    old, new = made.key_file.read_text(), key_line()
    take(made, old + new, 1, 2, 3)
    take(made, new + old, 1, 2, 3)
    cluster.wait_for(lambda: below_the_table(cluster) == [], "all use the new one")
    cluster[3].crash()
    cluster.wait_for(
        lambda: all("3" not in node.get("peer_credentials", {}) for node in made.status()["nodes"]),
        "it is not connected any more",
    )
    refused = remove(made, key_id(old))
    assert refused.returncode == 1
    assert "node 3 is not connected, so nobody knows which key it dials with" in refused.stderr
    gone = remove(made, key_id(old), "--data-dir", str(cluster[3].data_dir))
    assert gone.returncode == 1 and "can't be asked" in gone.stderr
    assert made.files[1].read_text() == new + old
    assert remove(made, key_id(old), "--force").returncode == 0
    assert made.files[1].read_text() == new


def test_a_change_of_the_ca_is_seen_from_one_place(secured, tmp_path):
    made = secured(TLS)
    cluster = made.cluster
    made.start()
    wait_until_all_hear_each_other(cluster, *made.observer)
    assert below_the_table(cluster, *made.observer) == []
    told = {node["id"]: node for node in cluster.status(*made.observer)["nodes"]}
    for node in told.values():
        own = node["credential"]
        assert own["issuer"]["name"] == "CN=ca" and own["not_after"][:10] in (
            node["certificate_not_after"]
        )
        assert [ca["name"] for ca in own["trusts"]] == ["CN=ca"] and own["revocations"] == []
        for peer, shown in node["peer_credentials"].items():
            assert shown["certificate"] == told[int(peer)]["credential"]["certificate"]
    serials = {node["credential"]["certificate"] for node in told.values()}
    assert len(serials) == 3

    new = Authority(tmp_path / "new", cluster.name, "next")
    both = made.authority.certificate.read_text() + new.certificate.read_text()
    made.authority.certificate.write_text(both)
    read_anew(cluster)
    assert below_the_table(cluster, *made.observer) == []
    for id in (1, 3):
        for file, name in zip(new.issue(f"node/{id}"), ("crt", "key")):
            write_private(tmp_path / "ca" / f"node-{id}.{name}", file.read_text())
    read_anew(cluster, [cluster[1], cluster[3]])
    behind = re.compile(
        r"nodes 1, 3 use a certificate of CN=next \(key ([0-9A-F]{8})\); "
        r"node 2 uses a certificate of CN=ca \(key (?!\1)[0-9A-F]{8}\)\n"
    )
    cluster.wait_for(
        lambda: behind.fullmatch(
            "".join(line + "\n" for line in below_the_table(cluster, *made.observer))
        ),
        "node 2 alone has a certificate of the old CA",
    )
