"""The trail of what was asked of nodes: in log and event stream, and by `audit --actions`."""

import json
import os
import subprocess

import pytest
from harness.http import ask
from harness.node import DEADLINE
from harness.secrets import key_id
from secured import KEY, MODES, TLS

pytestmark = pytest.mark.beside

HERE = f"user {os.getuid()}"


def asked(node, count):
    """Its lines about that, once there are so many."""
    cluster = node.cluster
    cluster.wait_for(lambda: len(node.current.stream.of("asked")) >= count, "it is told")
    return node.current.stream.of("asked")


def actions(cluster, *flags):
    files = [str(run.stream.path) for _, run in cluster.incarnations()]
    done = subprocess.run(
        [cluster.program, "audit", "--actions", *flags, *files],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def serial(certificate):
    shown = subprocess.run(
        ["openssl", "x509", "-in", certificate, "-noout", "-serial"],
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.strip().partition("=")[2]


@MODES
def test_an_administrator_is_named_by_his_credential_and_address(secured, mode):
    made = secured(mode, flags=["--no-preempt"])
    leader = made.start()
    cluster = made.cluster
    by = key_id(made.key_file.read_text()) if mode == KEY else serial(made.admin[3])
    other = next(node for node in cluster if node is not leader)
    assert cluster.resign("--to", str(other.id), *made.admin).returncode == 0
    (told,) = asked(leader, 1)
    assert told["what"] == f"resign --to {other.id}"
    assert told["by"] == "an administrator"
    assert told["credential"].startswith(f"key {by}" if mode == KEY else f"certificate {by} of ")
    assert told["from"].startswith("127.0.0.1:")
    assert (told["answer"], told["why"], told["left_out"]) == ("done", "", 0)
    assert f"resign --to {other.id} was asked for by an administrator, by " in leader.current.log()


def test_what_was_refused_is_told_and_cannot_fill_a_disk(secured):
    made = secured(TLS)
    leader = made.start()
    for _ in range(5):
        refused = made.cluster.command("resign", *made.observer)
        assert refused.returncode == 1
    (told,) = asked(leader, 1)
    assert (told["what"], told["by"], told["answer"]) == ("resign", "an observer", "refused")
    assert told["why"].startswith("only an administrator may ask for that")
    assert ": refused: only an administrator may ask" in leader.current.log()


def test_who_took_a_node_out_is_one_command(new_cluster):
    cluster = new_cluster(4)
    cluster.start().wait_settled()
    out = cluster[1]
    assert cluster.member("remove", "1").returncode == 0
    again = cluster.member("promote", "9")
    assert again.returncode == 1
    assert out.stop() == 0
    lines = actions(cluster).splitlines()
    times = [line.split()[0] for line in lines]
    assert times == sorted(times)
    assert sum(line.endswith("  started") for line in lines) == 4
    (removed,) = [line for line in lines if "member remove 1: done" in line]
    assert ", asked for by somebody at 127.0.0.1:" in removed
    assert any("member promote 9: failed, asked for by somebody at " in line for line in lines)
    assert lines[-1].endswith("  node 1  stopped: SIGTERM")
    told = json.loads(actions(cluster, "--json"))["actions"]
    assert len(told) == len(lines)
    (same,) = [one for one in told if one["what"] == "member remove 1"]
    assert same["time"] == removed.split()[0]
    assert (same["answer"], same["from"][:10], same["why"]) == ("done", "127.0.0.1:", "")
    keys = ["time", "node", "what", "by", "credential", "from", "answer", "why", "left_out"]
    assert list(same) == keys


def test_who_comes_by_a_local_socket_is_named_by_his_user(new_cluster, tmp_path):
    cluster = new_cluster(3, flags=["--no-preempt"])
    for node in cluster:
        node.flags = ["--http", f"unix:{tmp_path / str(node.id)}.sock"]
    leader = cluster.start().wait_settled()
    other = next(node for node in cluster if node is not leader)
    local = ["--local", "--data-dir", str(leader.data_dir), "--to", str(other.id)]
    assert subprocess.run([cluster.program, "resign", *local], timeout=DEADLINE).returncode == 0
    (told,) = asked(leader, 1)
    assert (told["what"], told["by"]) == (f"resign --to {other.id}", HERE)
    assert (told["from"], told["answer"]) == ("this machine", "done")
    path = tmp_path / f"{other.id}.sock"
    cluster.wait_for(lambda: ask(path, "/leader").status == 200, "the successor")
    assert ask(path, "/resign", "POST").status == 202
    (told,) = asked(other, 1)
    assert (told["what"], told["by"]) == ("resign", HERE)
    assert (told["from"], told["answer"]) == ("this machine", "done")


def test_who_comes_by_http_is_named_by_his_address(new_cluster, tmp_path, ports):
    token = tmp_path / "token"
    token.write_text("secret\n")
    token.chmod(0o600)
    cluster = new_cluster(1)
    port = ports.take()
    cluster[1].flags = ["--http", f"127.0.0.1:{port}", "--http-token-file", str(token)]
    node = cluster.start().wait_leader()
    assert ask(port, "/resign", "POST").status == 403
    (refused,) = asked(node, 1)
    assert (refused["what"], refused["answer"]) == ("resign", "refused")
    assert refused["from"].startswith("127.0.0.1:") and refused["credential"] == ""
    body = json.dumps({"to": 9})
    by_token = {"Authorization": "Bearer secret"}
    assert ask(port, "/resign", "POST", by_token, body).status == 409
    _, failed = asked(node, 2)
    assert (failed["what"], failed["answer"]) == ("resign --to 9", "failed")
    assert failed["credential"] == "a token" and "9" in failed["why"]


def test_a_crash_by_a_drill_is_told_by_who_crashes(new_cluster):
    cluster = new_cluster(3, flags=["--allow-drill"])
    cluster.start().wait_settled()
    done = cluster.command("drill", "--rounds", "1", "--faults", "crash", timeout=60)
    assert "crash" in done.stdout, done.stderr
    lines = actions(cluster).splitlines()
    by = "done, asked for by somebody at 127.0.0.1:"
    assert sum(f"  drill: {by}" in line for line in lines) == 3
    assert sum(f"  drill --faults crash: {by}" in line for line in lines) == 1


def test_nothing_is_judged_with_actions(new_cluster):
    cluster = new_cluster(1)
    wrong = cluster.command("audit", "--actions", "--strict", "x")
    assert wrong.returncode == 2 and "--strict" in wrong.stderr
