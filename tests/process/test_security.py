"""Clusters whose connections are secured: by a key, and by certificates."""

import socket
import ssl
import stat
import subprocess

import pytest
from harness.events import now_ns
from harness.node import DEADLINE
from harness.secrets import LEAF_DAYS, Authority, key_id, key_line, write_private
from chaos.shim import Page, build
from clusters import LONG, assert_unchanged, on_both, replaced_soon
from secured import KEY, MODES, TLS, read_anew, wait_until_all_hear_each_other


pytestmark = pytest.mark.beside

DAY_S = 86_400
OWN = ("BULLRING_SECURITY", "BULLRING_KEY_FILE", "BULLRING_TLS_")


def until(made, node):
    """When a node's certificate ends, as openssl has it; None without one."""
    if made.mode == KEY:
        return None
    file = made.authority.directory / f"node-{node.id}.crt"
    shown = subprocess.run(
        ["openssl", "x509", "-in", file, "-noout", "-enddate", "-dateopt", "iso_8601"],
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.strip().partition("=")[2].replace(" ", "T").replace("Z", ".000000Z")


def serial_of(made, node):
    """Of the certificate that a node shows to whoever connects."""
    certificate, key, authority = (made.observer[at] for at in (3, 5, 7))
    context = ssl.create_default_context(cafile=authority)
    context.check_hostname = False
    context.load_cert_chain(certificate, key)
    with socket.create_connection((node.host, node.port), DEADLINE) as plain:
        with context.wrap_socket(plain) as secured:
            return secured.getpeercert()["serialNumber"]


@MODES
@on_both(3)
def test_a_cluster_elects_and_shows_the_mode(secured, mode, algorithm, n):
    made = secured(mode, algorithm=algorithm, n=n)
    leader = made.start()
    status = made.status()
    assert status["leader"] == leader.id
    assert [node["security"] for node in status["nodes"]] == [mode] * n
    table = made.cluster.command("status", *made.observer).stdout
    ends = [until(made, node) for node in made.cluster]
    assert [node.get("certificate_not_after") for node in status["nodes"]] == ends
    for row, end in zip(table.splitlines()[1:], ends):
        assert ("  key  " if mode == KEY else f"  tls until {end[:10]}  ") in row


@MODES
@on_both(3)
def test_the_end_of_a_leader_s_process_is_told_by_its_undertaker(secured, mode, algorithm, n):
    """A FIN can come from anybody on the way, so it is not what counts; see test_notice.py."""
    made = secured(mode, algorithm=algorithm, n=n, flags=LONG)
    leader = made.start()
    cluster = made.cluster
    cluster.wait_settled()
    killed_ns = leader.kill()
    leader.wait_exit()
    assert replaced_soon(cluster, killed_ns)
    reasons = [
        event["reason"]
        for node in cluster.acting
        for event in node.current.stream.of("peer_down")
        if event["peer"] == leader.id
    ]
    assert reasons and set(reasons) <= {"reset", "timeout", "eof"}


@MODES
@on_both(3)
def test_a_leader_that_is_stopped_hands_over_at_once(secured, mode, algorithm, n):
    made = secured(mode, algorithm=algorithm, n=n, flags=LONG)
    leader = made.start()
    cluster = made.cluster
    asked_ns = leader.terminate()
    assert leader.wait_exit() == 0
    assert replaced_soon(cluster, asked_ns)
    assert leader.current.stream.of("deposed")[-1]["reason"] == "stopped"


def assert_may_not_command(cluster, flags):
    for words in (["resign"], ["drill", "--rounds", "1", "--faults", "crash"]):
        refused = cluster.command(*words, *flags)
        assert refused.returncode == 1
        assert "only an administrator may ask for that" in refused.stderr


@MODES
def test_an_administrator_may_have_the_leader_hand_over(secured, mode):
    made = secured(mode)
    leader = made.start()
    by = (
        f"key {key_id(made.key_file.read_text())}" if mode == KEY else "the certificate lasts until"
    )
    assert f", secured: {by}" in leader.current.log()
    if mode == TLS:
        assert_may_not_command(made.cluster, made.observer)
        assert leader.leads
    done = made.cluster.resign(*made.admin)
    assert done.returncode == 0, done.stderr


def resign_locally(cluster, node, *words):
    """Without a list of peers, and without credentials. Another leads by the streams, too, then."""
    asked_ns = now_ns()
    done = subprocess.run(
        [cluster.program, "resign", "--local", "--data-dir", str(node.data_dir), *words],
        capture_output=True,
        text=True,
        env={n: v for n, v in cluster.environment.items() if not n.startswith(OWN)},
        timeout=DEADLINE,
    )
    if done.returncode == 0:
        cluster.wait_elected(asked_ns)
    return done


@MODES
def test_the_owner_of_its_directory_commands_a_node_without_credentials(secured, mode):
    made = secured(mode, flags=["--no-preempt"])
    leader = made.start()
    cluster = made.cluster
    cluster.wait_settled()
    follower = next(node for node in cluster if node is not leader)
    refused = resign_locally(cluster, follower)
    assert refused.returncode == 1
    assert f"node {follower.id} does not lead, node {leader.id} does" in refused.stderr
    done = resign_locally(cluster, leader, "--to", str(follower.id))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"node {follower.id} leads, epoch ")
    control = follower.data_dir / "control.sock"
    assert stat.S_IMODE(control.stat().st_mode) == 0o600
    other = resign_locally(cluster, follower, "--cluster", "another")
    assert other.returncode == 1 and 'not a member of cluster "another"' in other.stderr
    assert follower.stop() == 0
    assert not control.exists()
    gone = resign_locally(cluster, follower)
    assert gone.returncode == 1 and "can't be asked: No such file" in gone.stderr


def test_who_may_only_ask_has_a_key_of_its_own(secured, tmp_path):
    made = secured(KEY)
    cluster = made.cluster
    observers = write_private(tmp_path / "observer.key", key_line())
    for node in cluster:
        node.flags = ["--observer-key-file", str(observers)]
    made.start()
    flags = ["--observer-key-file", str(observers)]
    del cluster.environment["BULLRING_KEY_FILE"]
    assert cluster.command("status", *flags).returncode == 0
    assert_may_not_command(cluster, flags)


@MODES
@pytest.mark.parametrize("caller", ["none", "another key", "another CA"])
def test_who_does_not_belong_learns_nothing(secured, tmp_path, mode, caller):
    made = secured(mode)
    cluster = made.cluster
    leader = made.start()
    for name in [name for name in cluster.environment if name.startswith(OWN)]:
        del cluster.environment[name]
    flags = ["--security", "none"]
    if caller == "another key":
        other = write_private(tmp_path / "other.key", key_line())
        flags = ["--security", "key", "--key-file", str(other)]
    if caller == "another CA":
        flags = Authority(tmp_path / "other-ca", cluster.name).flags("admin", uses="clientAuth")
    done = cluster.command("status", *flags)
    assert done.returncode == 1
    assert "0 of 3 members reachable" in done.stderr
    assert leader.leads
    with socket.create_connection((leader.host, leader.port), DEADLINE) as stranger:
        stranger.sendall(bytes(64))
        told = b""
        try:
            while piece := stranger.recv(4096):
                told += piece
        except ConnectionResetError:
            pass
    # An alert of TLS and not a byte more.
    assert told in (b"", b"\x15\x03\x03\x00\x02\x02\x46")


def test_members_must_have_the_same_security(secured):
    made = secured(KEY)
    cluster = made.cluster
    odd = cluster[1]
    odd.flags = ["--security", "none"]
    odd_environment = dict(cluster.environment)
    del odd_environment["BULLRING_KEY_FILE"]
    for node in (cluster[2], cluster[3]):
        node.start()
    usual, cluster.environment = cluster.environment, odd_environment
    odd.start()
    cluster.environment = usual
    cluster.wait_for(lambda: cluster[3].leads, "those that belong together elect")
    cluster.wait_for(lambda: "the same --security" in odd.current.log(), "the odd one says so")
    cluster.wait_for(
        lambda: any(
            "it does not use TLS" in node.current.log() for node in (cluster[2], cluster[3])
        ),
        "the others say so",
    )
    assert not odd.current.stream.of("peer_up")


@MODES
def test_new_credentials_are_read_without_a_change_of_leader(secured, tmp_path, mode):
    made = secured(mode)
    cluster = made.cluster
    leader = made.start()
    cluster.wait_for(lambda: all(n.view == leader.view for n in cluster), "all follow")

    def renew(change):
        change()
        read_anew(cluster)
        assert_unchanged(cluster, leader, 1.0, "sessions are replaced")

    if mode == KEY:
        old = made.key_file.read_text()
        new = key_line()
        renew(lambda: write_private(made.key_file, old + new))
        renew(lambda: write_private(made.key_file, new + old))
        renew(lambda: write_private(made.key_file, new))
        removed = write_private(tmp_path / "removed.key", old)
        refused = cluster.command("status", "--key-file", str(removed))
        assert refused.returncode == 1 and "0 of 3 members reachable" in refused.stderr
    else:
        before = {node.id: serial_of(made, node) for node in cluster}
        renew(lambda: [made.authority.issue(f"node/{node.id}") for node in cluster])
        assert all(serial_of(made, node) != before[node.id] for node in cluster)
    assert made.status()["leader"] == leader.id
    wait_until_all_hear_each_other(cluster, *made.observer)
    assert not [event for node in cluster for event in node.current.stream.of("deposed")]


def test_certificates_expire_and_the_cluster_goes_on_until_it_has_new_ones(secured, tmp_path):
    made = secured(TLS)
    cluster = made.cluster
    page = Page(tmp_path / "clocks")
    cluster.environment |= page.environment(build(tmp_path))
    leader = made.start()
    cluster.wait_settled()

    def all_say(days, words):
        page.move_date(round(days * DAY_S))
        cluster.wait_for(
            lambda: all(node.current.log().count(words) == 1 for node in cluster), words
        )

    assert LEAF_DAYS == 30
    all_say(0, "expires in less than 30 days")
    all_say(24, "expires in less than 7 days")
    all_say(29.5, "expires in less than 1 day: the certificate lasts until ")
    all_say(31, "this node's certificate has expired: no other node lets it in")
    assert_unchanged(cluster, leader, 1.0, "sessions last")
    read_anew(cluster)  # another CA or list of revocations would be taken
    assert_unchanged(cluster, leader, 0.5, "sessions last all the same")
    refused = cluster.command("status", *made.observer)
    assert refused.returncode == 2 and "its certificate has expired" in refused.stderr
    # The owner of a node's directory needs no certificate.
    local = resign_locally(cluster, leader)
    assert local.returncode == 0, local.stderr
    leader = cluster.wait_leader()
    for node in cluster:
        made.authority.issue(f"node/{node.id}", days=2 * LEAF_DAYS)
        read_anew(cluster, [node])
        assert_unchanged(cluster, leader, 0.5, f"node {node.id} has a new certificate")
    observer = made.authority.flags("observer", uses="clientAuth", days=2 * LEAF_DAYS)
    assert cluster.status(*observer)["leader"] == leader.id
    wait_until_all_hear_each_other(cluster, *observer)


@pytest.mark.parametrize(
    ("days", "says"),
    [(-2, "this node's certificate is not valid before "), (31, "certificate has expired: no")],
    ids=["before", "after"],
)
def test_members_whose_certificates_time_it_is_not_start_and_wait(secured, tmp_path, days, says):
    made = secured(TLS)
    cluster = made.cluster
    page = Page(tmp_path / "clocks")
    cluster.environment |= page.environment(build(tmp_path))
    page.move_date(days * DAY_S)
    cluster.start()
    cluster.wait_for(lambda: all(says in node.current.log() for node in cluster), says)
    assert not any(node.leads for node in cluster)
    if days < 0:
        page.move_date(0)
    else:
        for node in cluster:
            made.authority.issue(f"node/{node.id}", days=2 * LEAF_DAYS)
    cluster.wait_leader()


def test_credentials_are_read_when_their_file_has_changed(secured):
    made = secured(KEY)
    leader = made.start()
    write_private(made.key_file, made.key_file.read_text() + key_line())
    made.cluster.wait_for(
        lambda: all("read anew" in node.current.log() for node in made.cluster), "all have read it"
    )
    assert leader.leads


def test_what_can_not_be_read_leaves_the_old_credentials_in_force(secured):
    made = secured(KEY)
    cluster = made.cluster
    leader = made.start()
    sound = made.key_file.read_text()
    write_private(made.key_file, "bullring-key-v1:short\n")
    cluster.wait_for(
        lambda: all("left as they were" in node.current.log() for node in cluster),
        "all say what is wrong",
    )
    assert_unchanged(cluster, leader, 0.5, "the key file is broken")
    write_private(made.key_file, sound)
    assert made.status()["leader"] == leader.id


def test_a_revoked_member_is_let_go(new_cluster, tmp_path):
    cluster = new_cluster(3)
    authority = Authority(tmp_path / "ca", cluster.name)
    crl = authority.revoke()
    for node in cluster:
        node.flags = authority.flags(f"node/{node.id}", crl=crl)
    cluster.start().wait_leader()
    cluster.wait_for(lambda: all(n.view[0] == 3 for n in cluster), "node 3 leads")
    authority.revoke(authority.directory / "node-1.crt")
    cluster.wait_for(
        lambda: all(
            [event["peer"] for event in cluster[i].current.stream.of("peer_down")].count(1)
            for i in (2, 3)
        ),
        "node 1 is not heard any more",
    )
    cluster.wait_for(lambda: "has been revoked" in cluster[2].current.log(), "the reason is told")
    assert cluster[3].leads
    # It does not take the list itself; and who has none goes on talking to it.
    cluster.wait_for(lambda: "left as they were" in cluster[1].current.log(), "node 1 says so")
    observer = authority.flags("observer", uses="clientAuth")

    def node_1():
        return next(one for one in cluster.status(*observer)["nodes"] if one["id"] == 1)

    assert node_1()["reachable"]
    cluster.wait_for(
        lambda: "not connected with " in node_1()["why"], "it says why it has no majority"
    )
    assert node_1()["why"].startswith("no majority: hears 1 of 3; not connected with 2, 3: ")
    assert node_1()["wrong"].startswith("its credentials have been left as they were: ")


def test_an_older_list_takes_no_revocation_back(new_cluster, tmp_path):
    cluster = new_cluster(3)
    authority = Authority(tmp_path / "ca", cluster.name)
    crl = authority.revoke()
    old = crl.read_bytes()
    for node in cluster:
        node.flags = authority.flags(f"node/{node.id}", crl=crl)
    cluster[2].start()
    cluster[3].start()
    cluster.wait_for(lambda: all(cluster[i].view[0] == 3 for i in (2, 3)), "node 3 leads")
    authority.revoke(authority.directory / "node-1.crt")
    cluster.wait_for(
        lambda: all("read anew" in cluster[i].current.log() for i in (2, 3)), "both have the list"
    )
    fresh = crl.with_suffix(".old")
    fresh.write_bytes(old)
    fresh.rename(crl)
    cluster.wait_for(
        lambda: all("left as they were" in cluster[i].current.log() for i in (2, 3)), "both say so"
    )
    cluster[1].start()
    cluster.wait_for(lambda: "has been revoked" in cluster[2].current.log(), "it is refused")
    assert not any(
        event["peer"] == 1 for i in (2, 3) for event in cluster[i].current.stream.of("peer_up")
    )
    # A start takes the list that is there.
    cluster[2].stop()
    cluster[2].start()
    cluster.wait_for(
        lambda: any(event["peer"] == 1 for event in cluster[2].current.stream.of("peer_up")),
        "node 1 is let in again",
    )


def test_off_loopback_the_security_has_to_be_named(new_cluster):
    cluster = new_cluster(3)
    done = subprocess.run(
        [cluster.program, "status", "--peers", "1=10.0.0.1:7100"],
        capture_output=True,
        text=True,
        env=cluster.environment,
        timeout=DEADLINE,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--security: it is missing" in done.stderr
    assert "bullring key new" in done.stderr
