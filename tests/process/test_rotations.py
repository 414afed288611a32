"""Keys, certificates, CAs and whole modes that change under a running cluster, again and again: the
leader stays the same.
"""

import pytest
from harness.secrets import Authority, key_line, write_private
from clusters import ALL
from secured import KEY, read_anew, wait_until_all_hear_each_other
from watcher import Watcher

ROTATIONS = 100 if ALL else 6
MIGRATIONS = 10 if ALL else 1

pytestmark = [pytest.mark.beside, pytest.mark.limit(1800)]


def followed(cluster):
    leader = cluster.wait_leader()
    cluster.wait_for(lambda: all(node.view == leader.view for node in cluster), "all follow")
    return leader


def assert_never_changed(cluster, leader, view):
    cluster.poll()
    assert leader.leads and all(node.view == view for node in cluster)
    assert len(cluster.leaderships()) == 1
    for kind in ("deposed", "peer_down"):
        assert not [event for node in cluster for event in node.current.stream.of(kind)]


def test_keys_change_and_the_leader_does_not(secured):
    """A new key in three steps: accepted by all, used by all, the old one gone."""
    made = secured(KEY)
    cluster = made.cluster.start()
    old = made.key_file.read_text()
    leader = followed(cluster)
    view = leader.view
    for _ in range(ROTATIONS):
        new = key_line()
        for text in (old + new, new + old, new):
            write_private(made.key_file, text)
            read_anew(cluster)
        old = new
        assert_never_changed(cluster, leader, view)
    assert made.status()["leader"] == leader.id
    wait_until_all_hear_each_other(cluster, *made.observer)


def test_who_watches_goes_on_with_a_new_key(secured, spawn, tmp_path):
    """By the steps of bullring-security(7): the watchers' file changes before the third one."""
    made = secured(KEY)
    cluster = made.cluster.start()
    old, new = made.key_file.read_text(), key_line()
    watchers_file = write_private(tmp_path / "watchers.key", old)
    watcher = Watcher(spawn, cluster, None, "--key-file", str(watchers_file))
    leader = followed(cluster)
    watcher.until(lambda line: line["leader"] == leader.id)
    for text in (old + new, new + old):
        write_private(made.key_file, text)
        read_anew(cluster)
    write_private(watchers_file, new)
    write_private(made.key_file, new)
    read_anew(cluster)
    killed_ns = leader.kill()
    elected = cluster.wait_elected(killed_ns)
    watcher.until(lambda line: line["epoch"] >= elected["epoch"] and line["leader"] is not None)


def test_who_watches_is_told_what_is_wrong_with_a_new_key(secured, spawn, tmp_path):
    made = secured(KEY)
    cluster = made.cluster.start()
    followed(cluster)
    told = tmp_path / "told"
    with told.open("wb") as stderr:
        watcher = Watcher(spawn, cluster, None, stderr=stderr)
    watcher.until(lambda line: line["leader"] is not None)
    write_private(made.key_file, "bullring-key-v1:short\n")
    cluster.wait_for(lambda: "left as they were" in told.read_text(), "it says what is wrong")
    assert str(made.key_file) in told.read_text()


def test_certificates_and_authorities_change_and_the_leader_does_not(new_cluster, tmp_path):
    """The next CA and its list beside the last one's, then certificates by it, then the last one
    gone."""
    cluster = new_cluster(3)
    authorities = [Authority(tmp_path / "ca-0", cluster.name)]
    trusted, revoked = tmp_path / "trusted.crt", tmp_path / "revoked.crl"

    def trust(*whom):
        trusted.write_text("".join(one.certificate.read_text() for one in whom))
        revoked.write_text("".join(one.revoke().read_text() for one in whom))

    def install(authority):
        for node in cluster:
            for made, name in zip(authority.issue(f"node/{node.id}"), ("crt", "key")):
                place = tmp_path / f"node-{node.id}.{name}"
                write_private(place, made.read_text())

    trust(authorities[0])
    install(authorities[0])
    for node in cluster:
        node.flags = ["--security", "tls", "--tls-ca", str(trusted), "--tls-crl", str(revoked)]
        node.flags += ["--tls-cert", str(tmp_path / f"node-{node.id}.crt")]
        node.flags += ["--tls-key", str(tmp_path / f"node-{node.id}.key")]
    cluster.start()
    leader = followed(cluster)
    view = leader.view
    for number in range(1, ROTATIONS + 1):
        last = authorities[-1]
        new = Authority(tmp_path / f"ca-{number}", cluster.name, f"ca-{number}")
        authorities.append(new)
        trust(last, new)
        read_anew(cluster)
        install(new)
        read_anew(cluster)
        # Each has dialled the others before they had a certificate of the new one's.
        trust(new)
        read_anew(cluster)
        assert_never_changed(cluster, leader, view)
    observer = authorities[-1].flags("observer", uses="clientAuth")
    assert cluster.status(*observer)["leader"] == leader.id
    wait_until_all_hear_each_other(cluster, *observer)


def with_a_key(cluster, directory):
    """The flags of each node, and an observer's."""
    key = write_private(directory / "cluster.key", key_line())
    flags = ["--security", "key", "--key-file", str(key)]
    return {node.id: flags for node in cluster}, flags


def with_certificates(cluster, directory):
    authority = Authority(directory / "ca", cluster.name)
    flags = {node.id: authority.flags(f"node/{node.id}") for node in cluster}
    return flags, authority.flags("observer", uses="clientAuth")


@pytest.mark.parametrize(
    "modes", [[with_a_key], [with_certificates], [with_a_key, with_certificates]]
)
def test_none_to_secured_by_restarts_and_the_leader_goes_last(new_cluster, tmp_path, modes):
    """Each step restarts one node at a time, followers first. A leader that is stopped hands over;
    nobody loses a lease. So it is from keys to certificates, and on the way back to none.
    """
    migrating = ["--security-migrate"]
    for number in range(MIGRATIONS):
        cluster = new_cluster(3, flags=["--no-preempt"])
        directory = tmp_path / str(number)
        directory.mkdir()
        made = [mode(cluster, directory) for mode in modes]
        steps = [(flags, migrating) for flags, _ in made]
        steps.append((made[-1][0], []))
        steps += [(made[-1][0], migrating), ({node.id: [] for node in cluster}, [])]
        cluster.start()
        followed(cluster)
        for flags, more in steps:
            leader = followed(cluster)
            for node in sorted(cluster, key=lambda node: node is leader):
                before = cluster.agreed_leader()
                node.flags = [*flags[node.id], *more]
                assert node.stop() == 0
                node.start()
                after = followed(cluster)
                assert after is before or node is before
            observer = made[-1][1] if not more and flags is made[-1][0] else []
            if not more:
                asked = cluster.status(*observer)
                expected = observer[1] if observer else "none"
                assert [one["security"] for one in asked["nodes"]] == [expected] * 3
        # In each step the leader was restarted once.
        assert len(cluster.leaderships()) == 1 + len(steps)
        assert {
            event["reason"]
            for node in cluster
            for incarnation in node.incarnations
            for event in incarnation.stream.of("deposed")
        } == {"stopped"}
