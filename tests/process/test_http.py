"""The HTTP endpoint of `node` and `run`: roles by status code, streams, limits, who may resign."""

import json
import os
import socket
import stat
import subprocess
import time

import pytest
from bullring_events import now_ns
from bullring_http import Events, ask, connect
from clusters import LONG, SOON_NS, on_both
from waiting import DEADLINE

pytestmark = pytest.mark.limit(120)


@pytest.fixture
def served(new_cluster, ports):
    """Makes a settled cluster whose nodes serve HTTP at `node.http`."""

    def make(n=3, algorithm="bully", flags=(), **options):
        cluster = new_cluster(n, algorithm, **options)
        for node in cluster:
            node.http = ports.take()
            node.flags = ["--http", f"127.0.0.1:{node.http}", *flags]
        cluster.start()
        cluster.wait_settled()
        return cluster

    return make


def leaders(cluster):
    return [node.id for node in cluster if node.running and ask(node.http, "/leader").status == 200]


@on_both(3)
def test_the_role_is_told_by_the_status_code(served, algorithm, n):
    cluster = served(n, algorithm, flags=["--advertise", "db:5432"])
    leader = cluster.leader()
    epoch = leader.view[1]
    for node in cluster:
        leads = node is leader
        for path in ("/leader", "/primary"):
            for method in ("GET", "HEAD", "OPTIONS"):
                answer = ask(node.http, path, method)
                assert answer.status == (200 if leads else 503)
                assert (answer.body == "") == (method == "HEAD")
        assert ask(node.http, "/follower").status == (503 if leads else 200)
        body = ask(node.http, "/leader").json
        assert 0 < body.pop("lease_left_ms") <= 2000
        assert body == {"id": node.id, "leader": leader.id, "epoch": epoch, "advertised": "db:5432"}
        for path in ("/livez", "/liveness", "/readyz", "/readiness", "/health"):
            assert ask(node.http, path).status == 200


def test_without_a_majority_nobody_is_ready_and_all_are_alive(served):
    cluster = served(profile="fast")
    leader = cluster.leader()
    others = [node for node in cluster if node is not leader]
    for node in others:
        node.kill()
    cluster.wait_for(lambda: ask(leader.http, "/leader").status == 503, "the end of the lease")
    assert ask(leader.http, "/readyz").status == 503
    cluster.wait_for(lambda: "no majority" in ask(leader.http, "/readyz").json["why"], "the reason")
    assert ask(leader.http, "/leader").json["leader"] is None
    assert ask(leader.http, "/livez").status == 200


def test_what_status_and_cluster_say_is_what_the_command_says(served):
    cluster = served()
    told = cluster.status()
    moving = ("lease_left_ms", "uptime_ms")

    def still(answer):
        for node in answer["nodes"]:
            for key in moving:
                node.pop(key)
        return answer

    assert still(ask(cluster[1].http, "/cluster").json) == still(told)
    own = ask(cluster[2].http, "/status").json
    assert {key: own[key] for key in told["nodes"][1]}.items() >= told["nodes"][1].items()


def test_a_sidecars_client_finds_the_leader(served):
    cluster = served()
    leader = cluster.leader()
    for accept in ("application/json", "*/*", ""):
        answer = ask(cluster[1].http, "/", headers={"Accept": accept}).json
        assert answer["name"] == str(leader.id)
        assert answer["last_update"].endswith("Z")
    page = ask(cluster[1].http, "/", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.headers["Content-Type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert "//" not in page.body.replace("<!", "")


def test_a_change_of_leader_is_streamed_at_once(served):
    cluster = served(flags=LONG)
    leader = cluster.leader()
    epoch = leader.view[1]
    watcher = next(node for node in cluster if node is not leader)
    events = Events(watcher.http)
    assert events.response.headers["Content-Type"].startswith("text/event-stream")
    first = events.next()
    assert (first["event"], first["id"]) == ("leader", str(epoch))
    assert first["data"]["leader"] == leader.id
    killed_ns = leader.kill()
    seen = []
    while not seen or seen[-1]["data"]["leader"] is None:
        seen.append(events.next())
    took_ns = now_ns() - killed_ns
    assert [event["data"]["leader"] for event in seen][-1] not in (None, leader.id)
    assert int(seen[-1]["id"]) > epoch
    assert took_ns < SOON_NS
    events.close()


def test_there_are_16_streams_and_one_that_is_closed_makes_room(served):
    cluster = served(1)
    node = cluster[1]
    streams = [Events(node.http) for _ in range(16)]
    assert {stream.status for stream in streams} == {200}
    for stream in streams:
        assert stream.next()["data"]["leader"] == 1
    assert ask(node.http, "/events").status == 503
    streams[0].close()
    late = cluster.wait_for(
        lambda: next((one for one in [Events(node.http)] if one.status == 200), None), "a place"
    )
    assert late.next()["data"]["leader"] == 1


def test_there_are_64_connections_and_the_endpoint_outlives_more(served):
    cluster = served(1)
    node = cluster[1]
    held = [socket.create_connection(("127.0.0.1", node.http)) for _ in range(64)]
    for one in held[:60]:
        one.settimeout(DEADLINE)
        one.sendall(b"GET /leader HTTP/1.1\r\nHost: x\r\n\r\n")
        assert one.recv(4096).startswith(b"HTTP/1.1 200")
    more = socket.create_connection(("127.0.0.1", node.http))
    more.settimeout(DEADLINE)
    assert more.recv(1) == b""
    for one in held:
        one.close()
    cluster.wait_for(lambda: _answers(node.http), "a place")


def _answers(where):
    try:
        return ask(where, "/leader").status == 200
    except OSError:
        return False


def test_wrong_requests_are_told_what_is_wrong(served):
    node = served(1)[1]
    assert ask(node.http, "/nowhere").status == 404
    answer = ask(node.http, "/leader", "POST")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert ask(node.http, "/resign").headers["Allow"] == "POST"
    for path in ("/metrics", "/cluster", "/", "/page.js", "/livez"):
        assert ask(node.http, path, "DELETE").status == 405
    assert ask(node.http, "/leader", headers={"X-Long": "a" * 9000}).status == 431
    assert ask(node.http, "/" + "a" * 9000).status == 431
    assert ask(node.http, "/leader", headers={"X-Long": "a" * 7000}).status == 200
    assert ask(node.http, "/resign", "POST", body="a" * 1025).status == 413
    assert ask(node.http, "/leader?verbose=1").status == 200


def test_one_that_dawdles_is_cut_off_after_five_seconds(served):
    node = served(1)[1]
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", node.http), timeout=DEADLINE) as dawdler:
        dawdler.sendall(b"GET /leader HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert dawdler.recv(1) == b""
    assert 4 < time.monotonic() - begun < 8


def test_rubbish_ends_its_connection_and_nothing_else(served):
    node = served(1)[1]
    other = connect(node.http)
    other.request("GET", "/leader")
    assert other.getresponse().read()
    for rubbish in (
        b"\x00" * 100,
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", node.http), timeout=DEADLINE) as one:
            one.sendall(rubbish)
            one.shutdown(socket.SHUT_WR)
            while one.recv(4096):
                pass
    other.request("GET", "/leader")
    assert other.getresponse().status == 200


@pytest.fixture
def token(tmp_path):
    file = tmp_path / "token"
    file.write_text("old\nsecret\n")
    file.chmod(0o600)
    return file


def bearer(word):
    return {"Authorization": f"Bearer {word}"}


def test_who_has_the_token_can_have_the_leader_hand_over(served, token):
    cluster = served(flags=["--http-token-file", str(token), "--no-preempt"])
    leader = cluster.leader()
    others = [node for node in cluster if node is not leader]
    assert ask(leader.http, "/resign", "POST").status == 403
    assert ask(leader.http, "/resign", "POST", bearer("wrong")).status == 403
    foreign = {**bearer("secret"), "Origin": "http://evil.example"}
    assert ask(leader.http, "/resign", "POST", foreign).status == 403
    refused = ask(others[0].http, "/resign", "POST", bearer("secret"))
    assert refused.status == 409
    assert refused.json["why"] == f"node {leader.id} leads; ask there"
    assert ask(leader.http, "/resign", "POST", bearer("secret"), "{").status == 400
    unknown = ask(leader.http, "/resign", "POST", bearer("secret"), '{"to":99}')
    assert unknown.status == 409
    assert "99" in unknown.json["why"]
    assert leaders(cluster) == [leader.id]
    body = json.dumps({"to": others[0].id})
    assert ask(leader.http, "/resign", "POST", bearer("old"), body).status == 202
    cluster.wait_for(lambda: leaders(cluster) == [others[0].id], "the successor")
    token.write_text("new\n")  # read again each time
    assert ask(others[0].http, "/resign", "POST", bearer("old")).status == 403
    assert ask(others[0].http, "/resign", "POST", bearer("new")).status == 202


def test_by_its_unix_socket_its_owner_can_resign(new_cluster, tmp_path):
    cluster = new_cluster(3, flags=["--no-preempt"])
    paths = {node: tmp_path / f"{node.id}.sock" for node in cluster}
    for node, path in paths.items():
        node.flags = ["--http", f"unix:{path}"]
    cluster.start()
    leader = cluster.wait_settled()
    path = paths[leader]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ask(path, "/leader").status == 200
    assert ask(path, "/resign", "POST").status == 202
    cluster.wait_for(lambda: ask(path, "/leader").status == 503, "a successor")
    # What a killed one leaves is no obstacle; what is in use is.
    cluster.wait_for(lambda: not leader.leads, "that its end is told")
    leader.kill()
    assert path.exists()
    leader.restart()
    cluster.wait_settled()
    assert ask(path, "/follower").status == 200
    other = next(node for node in cluster if node is not leader)
    other.kill()
    command = [word.replace(str(paths[other]), str(path)) for word in other.command()]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=cluster.environment, timeout=DEADLINE
    )
    assert ended.returncode == 1
    assert f"cannot listen on unix:{path}" in ended.stderr
    leader.terminate()
    assert leader.wait_exit() == 0
    assert not path.exists()


def test_where_everybody_can_read_nothing_is_changed(new_cluster, ports, token):
    cluster = new_cluster(1)
    port = ports.take()
    cluster[1].flags = [
        "--http",
        f"0.0.0.0:{port}",
        "--http-public",
        "--http-token-file",
        str(token),
    ]
    cluster.start()
    cluster.wait_settled()
    assert ask(port, "/leader").status == 200
    assert ask(port, "/resign", "POST", bearer("secret")).status == 403


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--http", "0.0.0.0:8080"], '"0.0.0.0:8080" is not an address of loopback'),
        (["--http", "example.org:8080"], "add --http-public"),
        (["--http", "8080"], '"8080"'),
        (["--http", "unix:"], "unix:PATH"),
        (["--http", "unix:/" + "a" * 120], "107 bytes"),
        (["--http-public"], "it needs http ADDRESS"),
        (["--http", "127.0.0.1:1", "--http-token-file", "/nowhere"], '"/nowhere"'),
    ],
)
def test_wrong_settings_are_refused(new_cluster, flags, says):
    cluster = new_cluster(1)
    cluster[1].flags = flags
    ended = subprocess.run(
        cluster[1].command(),
        capture_output=True,
        text=True,
        env=cluster.environment,
        timeout=DEADLINE,
    )
    assert ended.returncode == 2
    assert says in ended.stderr


def test_a_token_file_that_others_can_read_is_refused(new_cluster, token):
    cluster = new_cluster(1)
    cluster[1].flags = ["--http", "127.0.0.1:1", "--http-token-file", str(token)]
    for mode, contents, says in ((0o644, "x", "read by everybody"), (0o600, "\n", "is empty")):
        token.write_text(contents)
        token.chmod(mode)
        ended = subprocess.run(
            cluster[1].command(),
            capture_output=True,
            text=True,
            env=cluster.environment,
            timeout=DEADLINE,
        )
        assert ended.returncode == 2
        assert says in ended.stderr


def test_a_port_in_use_is_told(new_cluster):
    cluster = new_cluster(1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        cluster[1].flags = ["--http", f"127.0.0.1:{port}"]
        ended = subprocess.run(
            cluster[1].command(),
            capture_output=True,
            text=True,
            env=cluster.environment,
            timeout=DEADLINE,
        )
    assert ended.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in ended.stderr


def test_a_stopped_node_ends_although_somebody_listens(served):
    node = served(1)[1]
    events = Events(node.http)
    events.next()
    node.terminate()
    assert node.wait_exit() == 0
    with pytest.raises((EOFError, OSError)):
        while True:
            events.next()


def test_the_thread_has_only_what_it_needs_open(served):
    """A killed node's sessions end with the thread that has them, and this one has none."""
    node = served()[1]
    tasks = f"/proc/{node.current.process.pid}/task"
    thread = next(
        task for task in os.listdir(tasks) if open(f"{tasks}/{task}/comm").read() == "http\n"
    )
    own = os.listdir(f"{tasks}/{thread}/fd")
    targets = [os.readlink(f"{tasks}/{thread}/fd/{fd}") for fd in own]
    assert sum(target.startswith("socket:") for target in targets) == 1  # it listens
