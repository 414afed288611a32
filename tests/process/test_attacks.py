"""A host on the network that has no credentials, or not the right ones, attacks a secured cluster:
it costs time, and nothing else. tests/README.md says which attack is tried where.
"""

import collections
import contextlib
import hmac
import re
import socket
import ssl
import struct
import subprocess
import threading

from harness import wire
import pytest
from harness.events import now_ns
from harness.net import Relay
from harness.node import DEADLINE
from harness.secrets import Authority, key_environment, key_id, key_line, key_of, write_private
from clusters import assert_unchanged, on_both
from secured import KEY, MODES, TLS

pytestmark = pytest.mark.beside

NAME = "cluster-of-accounts"
PLACE = "place-of-accounts"
NEVER_SAID = (NAME.encode(), PLACE.encode(), b"bullring://")
# Fatal alert: protocol_version.
SPEAK_TLS = b"\x15\x03\x03\x00\x02\x02\x46"
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
CLIENT_HELLO, SERVER_HELLO = 1, 2
# The name of a key, which is said in clear: CLUSTER/KEY-ID/DIALLER→ACCEPTOR.
IDENTITY = re.compile(f"{NAME}/([0-9a-f]{{8}})/([0-9a-z]+)→([0-9]+)".encode())


class Tap:
    """All that somebody on the way can read, by pair, connection and direction."""

    def __init__(self):
        self._lock = threading.Lock()
        self._streams = collections.defaultdict(bytearray)

    def __call__(self, pair, way, data):
        with self._lock:
            self._streams[pair, way] += data

    def streams(self):
        """Keys: ((who dials, whom), (number, whether its dialler says it))."""
        with self._lock:
            return {key: bytes(stream) for key, stream in self._streams.items()}

    def dialled(self):
        """(whom, what its dialler has said) of each secured connection."""
        for ((_, dialled), (_, by_dialler)), stream in self.streams().items():
            if by_dialler and stream[:1] == bytes([HANDSHAKE]):
                yield dialled, stream

    def incarnation(self, node):
        """An undertaker says in clear for whom it stands; None before it does."""
        found = None
        for stream in self.streams().values():
            if stream[:1] == b"\0" and len(stream) >= 26 and stream[4] == wire.MOURN:
                sender, incarnation = struct.unpack(">QQ", stream[10:26])
                found = incarnation if sender == node.id else found
        return found


@pytest.fixture
def overheard(secured):
    """A secured cluster with a relay on each way, where somebody reads along."""
    with contextlib.ExitStack() as made:

        def make(mode, lead_to=lambda dialler, dialled: dialled, **options):
            tap = Tap()
            relay = Relay(tap)
            made.callback(relay.close)
            cluster = secured(mode, name=NAME, flags=["--advertise", PLACE], **options)
            relay.put_between(cluster.cluster, lead_to)
            return cluster, tap

        yield make


def records(stream):
    """(type, content) of each whole record of TLS that a stream begins with."""
    while len(stream) >= 5 and len(stream) >= (end := 5 + struct.unpack(">H", stream[3:5])[0]):
        yield stream[0], stream[5:end]
        stream = stream[end:]


def first_flight(stream):
    """The bytes of a dialler before it is answered."""
    return stream[: 5 + len(next(records(stream))[1])]


def readable(stream):
    """The readable part of a stream: the beginning of a handshake, or a notice and nothing else."""
    if stream[:1] == b"\0":
        kinds = [frame[4] for frame in wire.frames(stream)]
        assert kinds in ([wire.MOURN], [wire.MOURN, wire.DEAD])
        assert b"".join(wire.frames(stream)) == stream
        return stream
    text = b""
    for number, (kind, content) in enumerate(records(stream)):
        if kind == HANDSHAKE:
            assert number == 0 and content[0] in (CLIENT_HELLO, SERVER_HELLO)
            text = content
        elif kind == ALERT:  # of a handshake that has failed
            assert len(content) == 2
        elif kind != DATA:
            assert (kind, content) == (CHANGE_CIPHER_SPEC, b"\x01")
    return text


def said_ends(cluster):
    """The ends of sessions that somebody has said, or caused by what was said."""
    return [
        event
        for event in cluster.events()
        if event["event"] == "peer_down" and event["reason"] in ("eof", "protocol", "refused")
    ]


def told(connection, words=b""):
    """The answer, until the end."""
    try:
        connection.sendall(words)
        return wire.receive_all(connection)
    except (ConnectionError, ssl.SSLError):
        return b""


def asked(node, words):
    with wire.connected(node) as connection:
        return told(connection, words)


def asked_by_tls(node, words, certificate=None, newest=ssl.TLSVersion.TLSv1_3):
    """The same after a handshake, as far as that comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = newest
    if certificate:
        context.load_cert_chain(*map(str, certificate))
    with wire.connected(node) as plain:
        try:
            with context.wrap_socket(plain) as connection:
                return told(connection, words)
        except (ConnectionError, ssl.SSLError):
            return b""


def psk_of(key, identity):
    """HKDF-SHA-256 (RFC 5869), as src/security/psk.hpp says."""
    extracted = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(extracted, b"bullring psk v1 " + identity + b"\x01", "sha256")


def asked_by_key(spawn, node, words, key, identity):
    """The first frame of the answer to one who has a key, or thinks so."""
    client = spawn(
        ["openssl", "s_client", "-quiet", "-tls1_3", "-connect", node.address]
        + ["-psk", psk_of(key, identity).hex(), "-psk_identity", identity.decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with contextlib.suppress(BrokenPipeError):
        client.stdin.write(words)
        client.stdin.flush()
    head = client.stdout.read(4)
    return head + client.stdout.read(struct.unpack(">I", head)[0]) if len(head) == 4 else b""


# ---- Reading.


@MODES
@on_both(3)
def test_nothing_can_be_read_on_the_way_but_the_name_of_a_key_and_notices(
    overheard, mode, algorithm, n
):
    """Elections, a death and a handover are all that a cluster has to say."""
    made, tap = overheard(mode, algorithm=algorithm, n=n)
    cluster = made.cluster
    made.start()
    for _ in range(2):
        leader = cluster.wait_settled()
        cluster.wait_elected(leader.kill())
        leader.restart()
    cluster.wait_settled()
    assert cluster.resign(*made.admin).returncode == 0
    cluster.wait_settled()
    secured = notices = 0
    for stream in tap.streams().values():
        text = readable(stream)
        secured += DATA in [kind for kind, _ in records(stream)]
        notices += wire.DEAD in [frame[4] for frame in wire.frames(text)]
        named = IDENTITY.findall(stream)
        assert len(named) <= (mode == KEY)
        rest = IDENTITY.sub(b"", stream)
        assert not [secret for secret in NEVER_SAID if secret in rest]
    assert secured >= 2 * n * (n - 1)
    assert notices >= 1


def test_without_security_the_same_reader_reads_it_all(new_cluster):
    """So the test before can fail."""
    cluster = new_cluster(3, name=NAME, flags=["--advertise", PLACE])
    tap = Tap()
    with contextlib.closing(Relay(tap)) as relay:
        relay.put_between(cluster)
        cluster.start().wait_settled()
        said = b"".join(tap.streams().values())
        assert NAME.encode() in said and PLACE.encode() in said


def what_a_dialler_says(listener, certificate):
    """All that comes from it before it or this end gives up, or the handshake is done."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*map(str, certificate))
    context.load_verify_locations(certificate[0])  # there has to be something
    context.verify_mode = ssl.CERT_REQUIRED
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_side=True)
    heard = b""
    with listener.accept()[0] as connection:
        connection.settimeout(DEADLINE)
        while True:
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError:
                return heard
            try:
                connection.sendall(outgoing.read())
                piece = connection.recv(65536)
            except ConnectionError:
                return heard
            if not piece:
                return heard
            incoming.write(piece)
            heard += piece


def test_a_certificate_is_shown_to_the_member_that_is_dialled_and_to_nobody_else(secured, tmp_path):
    """Somebody answers in the place of node 2: a stranger, node 3, and node 2 itself."""
    made = secured(TLS, name=NAME)
    cluster = made.cluster
    pem = (made.authority.directory / "node-1.crt").read_text()
    its_own = len(ssl.PEM_cert_to_DER_cert(pem))
    strangers = Authority(tmp_path / "strangers", NAME).issue("node/2")
    another, right = (made.authority.issue(who) for who in ("node/3", "node/2"))
    with socket.create_server((cluster[2].host, cluster[2].port)) as listener:
        listener.settimeout(DEADLINE)
        cluster[1].start()

        def said_to(certificate):
            """How much beside the beginning; one that has already given up says nothing more."""
            said = 0
            while said == 0:
                heard = what_a_dialler_says(listener, certificate)
                assert NAME.encode() not in heard
                said = len(heard) - len(first_flight(heard))
            return said

        # An alert is short.
        assert said_to(strangers) < its_own / 4
        assert said_to(another) < its_own / 4
        assert said_to(right) > its_own


# ---- Speaking in another's name.


@MODES
def test_a_stranger_that_speaks_in_the_leaders_name_is_not_heard(overheard, spawn, tmp_path, mode):
    """It has read the leader's id and incarnation, and the name of the key, on the way."""
    made, tap = overheard(mode)
    cluster = made.cluster
    leader = made.start()
    assert cluster.wait_settled() is leader
    run = cluster.wait_for(lambda: tap.incarnation(leader), "its incarnation can be read")
    epoch = leader.view[1]
    words = wire.hello(NAME.encode(), list(cluster.nodes), leader.id, run)
    words += wire.handed_over(epoch, leader.id, run)
    resign = wire.observe(NAME.encode(), wire.RESIGN)
    certificate = Authority(tmp_path / "strangers", NAME).issue(f"node/{leader.id}")
    before = said_ends(cluster)
    for node in cluster:
        assert asked(node, words) in (SPEAK_TLS, b"")
        assert asked(node, resign) in (SPEAK_TLS, b"")
        assert asked_by_tls(node, words, newest=ssl.TLSVersion.TLSv1_2) == b""
        assert asked_by_tls(node, words) == b""
        assert asked_by_tls(node, words, certificate) == b""
        assert asked_by_tls(node, resign, certificate) == b""
        if mode == KEY and node is not leader:
            stream = b"".join(tap.streams().values())
            name = IDENTITY.search(stream)[1].decode()
            identity = f"{NAME}/{name}/{leader.id}→{node.id}".encode()
            assert asked_by_key(spawn, node, words, bytes(32), identity) == b""
        cluster.poll()
    assert_unchanged(cluster, leader, cluster.timing.promise_s, "words in the leader's name")
    assert said_ends(cluster) == before
    assert len(cluster.leaderships()) == 1


def test_without_security_the_same_words_take_the_leadership_away(new_cluster):
    """So the test before can fail. There are two leaders then, until the first one notices."""
    cluster, leader = new_cluster(3, unjudged="it is attacked with success", name=NAME).settled()
    answer = asked(leader, wire.observe(NAME.encode()))
    run = struct.unpack(">Q", answer[18:26])[0]
    words = wire.hello(NAME.encode(), list(cluster.nodes), leader.id, run)
    words += wire.handed_over(leader.view[1], leader.id, run)
    said = now_ns()
    with contextlib.ExitStack() as held:
        for node in cluster:
            if node is not leader:
                held.enter_context(wire.connected(node)).sendall(words)
        cluster.wait_elected(said)


def test_a_certificate_speaks_for_nobody_but_whom_it_names(overheard):
    """The owners of a certificate that is right in itself: another member, an administrator, an
    observer.
    """
    made, tap = overheard(TLS)
    cluster = made.cluster
    leader = made.start()
    assert cluster.wait_settled() is leader
    run = cluster.wait_for(lambda: tap.incarnation(leader), "its incarnation can be read")
    words = wire.hello(NAME.encode(), list(cluster.nodes), leader.id, run)
    words += wire.handed_over(leader.view[1], leader.id, run)
    authority = made.authority
    others = [authority.issue("node/1"), authority.issue("admin"), authority.issue("observer")]
    before = said_ends(cluster)
    for certificate in others:
        for node in cluster:
            assert asked_by_tls(node, words, certificate) == b""
    assert_unchanged(cluster, leader, cluster.timing.promise_s, "words in the leader's name")
    assert said_ends(cluster) == before
    # In its own name each is heard: the member is told that there is another one of it.
    own = wire.hello(NAME.encode(), list(cluster.nodes), 1, 1)
    assert wire.parse(asked_by_tls(cluster[2], own, others[0]))[0] == wire.REFUSED
    for certificate in others[1:]:
        answer = asked_by_tls(cluster[2], wire.observe(NAME.encode()), certificate)
        assert wire.parse(answer)[0] == wire.STATE


def test_with_the_key_of_a_group_one_member_can_pose_as_another(secured, spawn):
    """A key can't prevent this; it also shows that the other tests of keys are no accident."""
    made = secured(KEY, name=NAME)
    leader = made.start()
    line = made.key_file.read_text()
    words = wire.hello(NAME.encode(), [1, 2, 3], leader.id, 1)
    identity = f"{NAME}/{key_id(line)}/{leader.id}→1".encode()
    answer = asked_by_key(spawn, made.cluster[1], words, key_of(line), identity)
    assert wire.parse(answer)[0] in (wire.HELLO_ACK, wire.REFUSED)


def outsider(new_cluster, made, name=NAME):
    """A node 1 beside the one of a cluster that `made` has, at another port. Not started."""
    hosts = {node.id: (node.host, node.port) for node in made.cluster if node.id != 1}
    others = new_cluster(3, name=name, hosts=hosts)
    return others, others[1]


def is_kept_out(made, others, twin):
    """By all that it dials, in spite of all that it tries, while the members go on."""
    leader = made.cluster.leader()
    twin.start()
    others.wait_for(
        lambda: all(f"peer {node} at" in twin.current.log() for node in (2, 3)), "both refuse it"
    )
    assert_unchanged(made.cluster, leader, 1.0, "an outsider dials")
    others.poll()
    assert not twin.current.stream.of("peer_up")
    assert not twin.current.stream.of("elected")


@MODES
def test_a_stranger_can_not_hold_the_id_of_a_member_that_restarts(
    secured, new_cluster, tmp_path, mode
):
    made = secured(mode, name=NAME)
    cluster = made.cluster
    leader = made.start()
    cluster[1].crash()
    others, twin = outsider(new_cluster, made)
    if mode == KEY:
        others.environment |= key_environment(write_private(tmp_path / "its.key", key_line()))
    else:
        twin.flags = Authority(tmp_path / "strangers", NAME).flags("node/1")
    is_kept_out(made, others, twin)
    cluster[1].start()
    assert cluster.wait_settled() is leader
    assert twin.running


@MODES
def test_the_credentials_of_another_cluster_let_nobody_in(secured, new_cluster, mode):
    """The same key, or the same CA, under another name."""
    made = secured(mode, name=NAME)
    made.start()
    others, twin = outsider(new_cluster, made, name="cluster-of-bills")
    if mode == KEY:
        others.environment |= key_environment(made.key_file)
    else:
        made.authority.cluster = others.name
        twin.flags = made.authority.flags("node/1", name="bills")
    is_kept_out(made, others, twin)


# ---- Saying again what was heard.


@MODES
@on_both(3)
def test_what_was_heard_is_of_no_use_later(overheard, mode, algorithm, n):
    """All that diallers have said, to whom they said it: their first words, all of it at once, and
    all of it in time. The sessions of a leader that has handed over are among it, and their ends.
    """
    made, tap = overheard(mode, algorithm=algorithm, n=n)
    cluster = made.cluster
    first = made.start()
    cluster.wait_settled()
    asked = first.terminate()
    assert first.wait_exit() == 0
    cluster.wait_elected(asked)
    first.start()
    leader = cluster.wait_settled()
    heard = [(cluster[dialled], stream) for dialled, stream in tap.dialled()]
    assert len(heard) >= n * (n - 1)
    before = said_ends(cluster)
    with contextlib.ExitStack() as held:
        begun = []
        for node, stream in heard:
            connection = held.enter_context(wire.connected(node))
            connection.sendall(first_flight(stream))
            begun.append((connection, stream))
        for connection, stream in begun:
            answer = connection.recv(65536)  # as the dialler has waited for it
            readable(answer)
            answer += told(connection, stream[len(first_flight(stream)) :])
            assert not [secret for secret in NEVER_SAID if secret in answer]
    for node, stream in heard:
        with wire.connected(node) as connection:
            assert not [secret for secret in NEVER_SAID if secret in told(connection, stream)]
    assert_unchanged(cluster, leader, cluster.timing.promise_s, "it is said again")
    assert said_ends(cluster) == before


@MODES
@pytest.mark.parametrize("to", ["itself", "another"])
def test_a_handshake_is_of_no_use_to_another_than_it_was_meant_for(overheard, mode, to):
    """All that node 1 dials leads back to itself, or to the other one of its peers."""

    def lead_to(dialler, dialled):
        if dialler.id != 1:
            return dialled
        return dialler if to == "itself" else dialler.cluster[5 - dialled.id]

    made, tap = overheard(mode, lead_to)
    cluster = made.cluster
    cluster.start()
    cluster.wait_for(lambda: cluster[3].leads, "the others elect")

    def dials_of_1():
        return sum(by_dialler for (dialler, _), (_, by_dialler) in tap.streams() if dialler == 1)

    before = dials_of_1()
    cluster.wait_for(lambda: dials_of_1() >= before + 4, "it dials again and again")
    assert not cluster[1].current.stream.of("elected")
    for event in cluster[3].current.stream.of("elected"):
        assert set(event["grants"]) == {2, 3}
    for node in (2, 3):
        up = [event["peer"] for event in cluster[node].current.stream.of("peer_up")]
        assert 1 not in up


# ---- Costing time.


def half_open(node, source):
    connection = socket.socket()
    connection.bind((source, 0))
    connection.connect((node.host, node.port))
    connection.sendall(b"\x16\x03\x01\x02")
    return connection


@MODES
def test_handshakes_that_never_end_keep_no_member_out(secured, mode):
    """More of them than there is room for, from strangers and from the members' own host."""
    made = secured(mode)
    cluster = made.cluster
    leader = made.start()
    cluster.wait_settled()
    held = collections.deque()

    def press():
        for node in cluster.acting:
            for source in ("127.0.0.1", "127.0.0.77", f"127.0.1.{1 + len(held) % 250}"):
                with contextlib.suppress(OSError):
                    held.append(half_open(node, source))
        while len(held) > 300:
            held.popleft().close()

    try:
        for _ in range(100):
            press()
            cluster.poll()
        assert_unchanged(cluster, leader, 0.5, "half-open handshakes")
        killed = leader.kill()
        cluster.wait_for(
            lambda: press() or cluster.elected_after(killed), "another is elected meanwhile"
        )
        leader.restart()
        cluster.wait_for(
            lambda: press() or cluster.agreed_leader(), "and a member that restarts is let in"
        )
    finally:
        for one in held:
            one.close()
