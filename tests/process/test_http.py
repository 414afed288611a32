"""The HTTP endpoint of `node` and `run`: roles by status code, streams, limits, who may resign."""

import json
import os
import re
import socket
import stat
import subprocess
import time

import pytest
from harness.events import now_ns
from harness.http import Events, ask, connect
from harness.node import find_program
from clusters import LONG, SOON_NS, on_both
from harness.waiting import DEADLINE

pytestmark = pytest.mark.limit(120)


@pytest.fixture
def served(new_cluster, ports):
    """Makes a settled cluster whose nodes serve HTTP at `node.http`."""

    def make(n=3, algorithm="bully", flags=(), **options):
        cluster = new_cluster(n, algorithm, **options)
        for node in cluster:
            node.http = ports.take()
            node.flags = ["--http", f"127.0.0.1:{node.http}", *flags]
        cluster.start().wait_settled()
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
        for path in ("/leader", "/primary", "/leader/"):
            for method in ("GET", "HEAD", "OPTIONS"):
                answer = ask(node.http, path, method)
                assert answer.status == (200 if leads else 503)
                assert (answer.body == "") == (method == "HEAD")
        assert ask(node.http, "/follower").status == (503 if leads else 200)
        body = ask(node.http, "/leader").json
        assert 0 < body.pop("lease_left_ms") <= 2000
        assert body.pop("why").startswith("leads with" if leads else f"follows {leader.id}")
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


GET_LEADER = b"GET /leader HTTP/1.1\r\nHost: x\r\n\r\n"


def raw_connection(node):
    return socket.create_connection(("127.0.0.1", node.http), timeout=DEADLINE)


def everything(connection):
    """All that comes until the other end closes."""
    received = b""
    while more := connection.recv(65536):
        received += more
    return received.decode()


def raw_answer(node, request):
    """The answer to some bytes, behind which the node closes."""
    with raw_connection(node) as connection:
        connection.sendall(request)
        return everything(connection)


def test_64_connections_that_ask_for_nothing_keep_nobody_out(served):
    node = served(1)[1]
    held = [raw_connection(node) for _ in range(64)]
    for one in held:
        one.sendall(GET_LEADER)
        assert one.recv(4096).startswith(b"HTTP/1.1 200")
    held[0].sendall(GET_LEADER)  # so that the second one has been quiet for longest
    assert held[0].recv(4096).startswith(b"HTTP/1.1 200")
    with raw_connection(node) as more:
        more.sendall(GET_LEADER)
        assert more.recv(4096).startswith(b"HTTP/1.1 200")
    assert held[1].recv(1) == b""
    for one in (held[0], *held[2:]):
        one.sendall(GET_LEADER)
        assert one.recv(4096).startswith(b"HTTP/1.1 200")
        one.close()
    assert "64 connections are open" in node.current.log()


def nothing_unread(node):
    """Nothing that HTTP clients have sent waits in the kernel."""
    command = ["ss", "-Htn", "state", "established", f"sport = :{node.http}"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return all(line.split()[0] == "0" for line in shown.splitlines())


def test_no_more_than_64_requests_are_under_way(served):
    cluster = served()
    cluster[1].hang()  # so that who asks for the cluster waits for a second
    node = cluster[2]

    get_cluster = b"GET /cluster HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    def answers_to_40_more():
        held = [raw_connection(node) for _ in range(64)]
        for one in held:
            one.sendall(GET_LEADER)
            assert one.recv(4096)
        begun = time.monotonic()
        for one in held:
            one.sendall(get_cluster)
        cluster.wait_for(lambda: nothing_unread(node), "that the node has read them")
        more = [raw_connection(node) for _ in range(40)]
        for one in more:
            one.sendall(get_cluster)
        in_time = time.monotonic() - begun < 0.8
        statuses = [[everything(one)[9:12] for one in some] for some in (held, more)]
        for one in (*held, *more):
            one.close()
        return statuses if in_time else None

    answers = cluster.wait_for(answers_to_40_more, "104 requests within one round")
    cluster[1].resume()
    assert answers == [["200"] * 64, ["503"] * 40]


def test_a_flood_of_connections_keeps_no_stream_from_its_events(served):
    cluster = served()
    leader = cluster.leader()
    watcher = next(node for node in cluster if node is not leader)
    events = Events(watcher.http)
    events.next()
    flood = [raw_connection(watcher) for _ in range(300)]
    assert ask(watcher.http, "/livez").status == 200
    leader.kill()
    while events.next()["data"]["leader"] in (None, leader.id):
        pass
    for one in flood:
        one.close()
    assert ask(watcher.http, "/livez").status == 200
    events.close()


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


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://node-1:8080/readyz", 200),
        ("HTTP://[::1]/readyz?x", 200),
        ("/%72eadyz", 200),
        ("http://node-1/%72eadyz/", 200),
        ("http://node-1", 200),
        ("/%2572eadyz", 404),
        ("/%72eady", 404),
        ("/%7", 400),
        ("/%ff", 400),
        ("ftp://node-1/readyz", 400),
    ],
)
def test_a_target_counts_in_each_of_its_forms(served, target, status):
    node = served(1)[1]
    lines = f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert raw_answer(node, lines.encode()).startswith(f"HTTP/1.1 {status} ")


@pytest.mark.parametrize(
    ("request_line", "status", "allow"),
    [
        ("BREW /leader", 405, "GET, HEAD, OPTIONS"),
        ("get /leader", 405, "GET, HEAD, OPTIONS"),
        ("ZAP /resign?x=1", 405, "POST"),
        ("BREW /nowhere", 404, None),
        ("BREW http://node-1/leader", 405, "GET, HEAD, OPTIONS"),
        ("CONNECT x:80", 400, None),
    ],
)
def test_a_method_that_no_parser_knows_is_a_wrong_one(served, request_line, status, allow):
    request = f"{request_line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = raw_answer(served(1)[1], request.encode())
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert (f"\r\nAllow: {allow}\r\n" in answer) == (allow is not None)


@pytest.mark.parametrize("path", ["/events", "/livez", "/metrics", "/cluster", "/resign", "/x.js"])
def test_a_method_that_comes_in_two_pieces_is_not_taken_for_its_second(served, path):
    node = served(1)[1]
    with raw_connection(node) as connection:
        connection.sendall(b"B")
        assert ask(node.http, "/leader").status == 200  # so the first piece has been read
        connection.sendall(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        status = 404 if path == "/x.js" else 405
        assert everything(connection).startswith(f"HTTP/1.1 {status} ")
    assert ask(node.http, "/leader").status == 200


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x16\x03\x01\x02\x00", 400),
        (b"GET\r\n\r\n", 400),
        (b"GET /leader\x01 HTTP/1.1\r\n\r\n", 400),
        (b"GET /leader HTTP/1.1\r\nbad header\r\n\r\n", 400),
        (b"POST /resign HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /resign HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n", 413),
        (b"POST /resign HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n401\r\n" + b"a" * 1025, 413),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 4000, 431),
    ],
    ids=[
        "tls",
        "no-target",
        "control-byte",
        "no-header",
        "negative-length",
        "long-body",
        "long-chunk",
        "long-head",
    ],
)
def test_what_is_no_request_is_told_so_and_ends_its_connection(served, request_bytes, status):
    node = served(1)[1]
    assert raw_answer(node, request_bytes).startswith(f"HTTP/1.1 {status} ")
    # Behind a sound request on the same connection, too, and after its answer.
    answers = raw_answer(node, GET_LEADER + request_bytes)
    assert answers.startswith("HTTP/1.1 200 ")
    assert answers.count("HTTP/1.1 ") == 2
    assert f"HTTP/1.1 {status} " in answers
    assert ask(node.http, "/leader").status == 200


def test_requests_that_come_in_one_go_are_all_answered_in_order(served):
    node = served(1)[1]
    paths = ["/leader", "/nowhere", "/livez", "/metrics", "/cluster"] * 20
    requests = "".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths)
    last = "GET /leader HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answers = raw_answer(node, (requests + last).encode())
    expected = ["404" if path == "/nowhere" else "200" for path in [*paths, "/leader"]]
    assert re.findall(r"^HTTP/1\.1 (\d+) ", answers, re.MULTILINE) == expected


def test_a_client_that_waits_for_the_word_to_send_its_body_gets_it(served):
    node = served(1)[1]
    head = (
        b"POST /resign HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
        b"Connection: close\r\nExpect: 100-continue\r\n\r\n"
    )
    with raw_connection(node) as connection:
        connection.sendall(head)
        assert connection.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert everything(connection).startswith("HTTP/1.1 403 ")


def test_an_upgrade_is_not_made(served):
    request = b"GET /leader HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    with raw_connection(served(1)[1]) as connection:
        for _ in range(2):
            connection.sendall(request)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_one_that_dawdles_is_cut_off_after_five_seconds(served):
    node = served(1)[1]
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", node.http), timeout=DEADLINE) as dawdler:
        dawdler.sendall(b"GET /leader HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert dawdler.recv(1) == b""
    assert time.monotonic() - begun > 4


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
    leader = cluster.start().wait_settled()
    path = paths[leader]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ask(path, "/leader").status == 200
    assert ask(path, "/resign", "POST").status == 202
    cluster.wait_for(lambda: ask(path, "/leader").status == 503, "a successor")
    # A socket that a killed node leaves is no obstacle; one that is in use is.
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
    assert leader.stop() == 0
    assert not path.exists()


def test_a_unix_socket_that_somebody_removes_is_made_again(new_cluster, tmp_path):
    cluster = new_cluster(1)
    path = tmp_path / "http"
    cluster[1].flags += ["--http", f"unix:{path}"]
    node = cluster.start().wait_settled()
    events = Events(path)
    for times in (1, 2):
        path.unlink()
        told = "it is there again"
        cluster.wait_for(lambda n=times: node.current.log().count(told) == n, "it is told of")
        assert ask(path, "/leader").status == 200
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert events.next()["data"]["leader"] == 1
    events.close()
    path.unlink()
    path.write_text("somebody's")
    cluster.wait_for(lambda: "a file that is not a socket" in node.current.log(), "it is told of")
    assert node.stop() == 0
    assert path.read_text() == "somebody's"


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
    cluster.start().wait_settled()
    for method in ("GET", "HEAD", "OPTIONS"):
        assert ask(port, "/leader", method).status == 200
    assert ask(port, "/resign", "POST", bearer("secret")).status == 403
    shown = subprocess.run([find_program(), "node", "--help"], capture_output=True, text=True)
    assert "then nothing can be changed by it" in " ".join(shown.stdout.split())


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--http", "0.0.0.0:8080"], '"0.0.0.0:8080" is not an address of loopback'),
        (["--http", "example.org:8080"], "add --http-public"),
        (["--http", "8080"], '"8080"'),
        (["--http", "unix:"], "unix:PATH"),
        (["--http", "unix:/" + "a" * 120], "107 bytes"),
        (["--http-public"], "it needs http ADDRESS"),
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
    for mode, contents, says in (
        (0o644, "x", "by others than its owner"),
        (0o666, "x", "mode 0666"),
        (0o600, "\n", "is empty"),
    ):
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
    assert node.stop() == 0
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
