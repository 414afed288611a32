"""The findings of `bullring doctor`, and of --check of the members' commands, before a start."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time

from harness import netns
import pytest
from harness.node import find_program, last_of_each
from clusters import TEXTBOOK
from secured import MODES, TLS
from told import lines, told

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")


class Doctor:
    """Looks at node 1 of three on this machine, of which none runs."""

    def __init__(self, directory, ports):
        self.ports = [ports.take() for _ in range(3)]
        self.flags = {
            "id": "1",
            "peers": ",".join(f"{n}=127.0.0.1:{port}" for n, port in enumerate(self.ports, 1)),
            "data-dir": str(directory / "data"),
        }

    def says(self, *more, command="doctor", prefix=(), variables=(), **flags):
        """Its exit status, and its findings by level: lists of their words."""
        given = self.flags | {name.replace("_", "-"): text for name, text in flags.items()}
        words = [word for name, text in given.items() for word in (f"--{name}", text)]
        status, text = told(command, *words, *more, prefix=prefix, variables=variables)
        return status, json.loads(text) if "--json" in more else text


@pytest.fixture
def doctor(tmp_path, ports):
    return Doctor(tmp_path, ports)


def words_of(node):
    """The flags of a cluster's node."""
    command = [str(word) for word in node.command()]
    return command[command.index("node") + 1 :]


def doctor_of(words, prefix=(), variables=()):
    """Exit status and text. What is given twice counts as it is given last."""
    return told("doctor", *last_of_each(words), prefix=prefix, variables=variables)


def stop(cluster, node):
    """Ends it; the others know of it then."""
    assert node.stop() == 0
    cluster.wait_for(
        lambda: all(
            node.id in [event["peer"] for event in one.current.stream.of("peer_down")]
            for one in cluster
            if one is not node
        ),
        "the others know of it",
    )


def test_nothing_is_in_the_way(doctor):
    status, text = doctor.says()
    assert (status, lines(text, "fail"), lines(text, "warn")) == (0, [], [])
    assert text.endswith("\n0 failures, 0 warnings\n")
    for n in (2, 3):
        start = f"member {n} at 127.0.0.1:{doctor.ports[n - 1]}: its machine answers"
        assert [line for line in lines(text, "note") if line.startswith(start)], text
    assert not os.path.exists(doctor.flags["data-dir"])


def test_json_has_what_the_lines_have(doctor):
    status, said = doctor.says("--json", health_cmd="/no/such/program")
    assert (status, said["failures"], said["warnings"]) == (1, 1, 0)
    (failure,) = [one for one in said["findings"] if one["level"] == "fail"]
    assert failure["subject"] == "health-cmd"
    assert "/no/such/program" in failure["what"]
    assert failure["remedy"]
    assert {"ok", "fail"} <= {one["level"] for one in said["findings"]} <= {"ok", "note", "fail"}


def test_a_warning_fails_with_strict_only(doctor):
    variables = {"BULLRING_LESE": "2s"}
    status, text = doctor.says(variables=variables)
    (warning,) = lines(text, "warn")
    assert (status, "did you mean BULLRING_LEASE?" in warning) == (0, True)
    assert doctor.says("--strict", variables=variables)[0] == 1
    assert doctor.says("--strict")[0] == 0


def test_what_is_wrong_with_the_flags_is_told_as_the_node_tells_it(doctor):
    assert doctor.says(lease="5") == doctor.says(lease="5", command="node")
    status, text = doctor.says(lease="5")
    assert (status, '--lease: "5" has no unit' in text) == (2, True)


@pytest.mark.parametrize("command", ["node", "run", "address"])
def test_the_members_commands_check_as_well_and_start_nothing(doctor, command):
    more = {"node": [], "run": ["--", "/no/such/program"], "address": ["--dev", "nodev0"]}
    flags = {"address": "10.99.99.9/24"} if command == "address" else {}
    status, text = doctor.says("--check", *more[command], command=command, **flags)
    assert status == (0 if command == "node" else 1)
    failures = {"node": [], "run": ["/no/such/program"], "address": ['"nodev0"']}[command]
    assert [
        word for word, line in zip(failures, lines(text, "fail"), strict=True) if word in line
    ] == failures
    assert not os.path.exists(doctor.flags["data-dir"])


def test_a_check_that_would_keep_every_node_from_starting_is_refused(doctor):
    status, text = doctor.says(command="node", variables={"BULLRING_CHECK": "on"})
    assert (status, "BULLRING_CHECK: it can only be given on the command line" in text) == (2, True)


def test_taken_ports_are_told(doctor):
    with contextlib.ExitStack() as taken:
        for port in (doctor.ports[0], doctor.ports[1]):
            listener = taken.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen()
        status, text = doctor.says(http=f"127.0.0.1:{doctor.ports[1]}")
    assert status == 1
    assert [line.split(":")[0] for line in lines(text, "fail")] == [
        "listen 127.0.0.1",
        "http 127.0.0.1",
    ]
    assert text.count("another process listens there") == 2


@pytest.mark.parametrize(
    ("peers", "level", "found"),
    [
        ("1=192.0.2.1:{0},2=127.0.0.1:{1}", "fail", "no interface of this machine has this node's"),
        ("1=127.0.0.1:{0},2=no-such-host.invalid:{1}", "warn", "its name does not resolve: "),
    ],
    ids=["own", "of another"],
)
def test_addresses_that_are_wrong_here_are_told(doctor, peers, level, found):
    _, text = doctor.says(peers=peers.format(*doctor.ports), security="none")
    assert [line for line in lines(text, level) if found in line]


@pytest.fixture
def host_with(tmp_path):
    """Runs a command where only these names are known, in a network of its own."""

    def make(names, *more, nsswitch="hosts: files\n", **files):
        files = {"hosts": names, "nsswitch.conf": nsswitch, **files}
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        commands = [f"mount --bind {tmp_path}/{name} /etc/{name}" for name in files]
        script = " && ".join([*commands, "ip link set lo up", *more, 'exec "$@"'])
        return ["unshare", "--mount", "--net", "sh", "-c", script, "sh"]

    return make


@ROOT_ONLY
def test_names_that_are_all_on_this_machine_are_right(doctor, host_with):
    names = "127.0.0.1 db1 db2 db3\n::1 db1\n"
    without_ipv6 = "sysctl -qw net.ipv6.conf.all.disable_ipv6=1"
    status, text = doctor.says(
        prefix=host_with(names, without_ipv6),
        peers="1=db1:7101,2=db2:7102,3=db3:7103",
        security="none",
    )
    assert (status, lines(text, "warn"), lines(text, "fail")) == (0, [], []), text


@ROOT_ONLY
def test_two_members_on_one_machine_are_right(doctor, host_with):
    two = "ip address add 192.0.2.1/32 dev lo && ip address add 192.0.2.2/32 dev lo"
    status, text = doctor.says(
        prefix=host_with("", two), peers="1=192.0.2.1:7100,2=192.0.2.2:7100", security="none"
    )
    assert (status, lines(text, "warn"), lines(text, "fail")) == (0, [], []), text
    # Unless this one listens for both.
    status, text = doctor.says(
        prefix=host_with("", two),
        peers="1=192.0.2.1:7100,2=192.0.2.2:7100",
        security="none",
        listen="0.0.0.0:7100",
    )
    assert (status, "it is where this node listens itself" in text) == (1, True)


# Takes questions and answers none, as long as what it becomes runs.
SILENT_RESOLVER = """
import os, socket, sys
resolver = socket.socket(type=socket.SOCK_DGRAM)
resolver.bind(("127.0.0.2", 53))
os.set_inheritable(resolver.fileno(), True)
os.execv(sys.argv[1], sys.argv[1:])
"""


@ROOT_ONLY
def test_a_resolver_that_does_not_answer_is_not_waited_for(doctor, host_with):
    prefix = host_with(
        "", nsswitch="hosts: files dns\n", **{"resolv.conf": "nameserver 127.0.0.2\n"}
    )
    began = time.monotonic()
    status, text = doctor.says(
        prefix=[*prefix, sys.executable, "-c", SILENT_RESOLVER],
        peers="1=db1:7100,2=db2:7100,3=db3:7100",
        security="none",
    )
    assert time.monotonic() - began < 20
    assert text.count("its name does not resolve: the resolver does not answer") == 3
    assert status == 0


@ROOT_ONLY
def test_a_name_that_is_loopback_here_is_told(doctor, host_with):
    status, text = doctor.says(
        prefix=host_with("127.0.1.1 db1\n192.0.2.2 db2\n"),
        peers="1=db1:7100,2=db2:7100",
        security="none",
    )
    assert status == 1
    assert lines(text, "fail")[0].startswith(
        "member 1 at db1:7100: it is loopback on this machine: 127.0.1.1"
    )


def test_a_directory_that_cannot_be_used_is_told(doctor, tmp_path):
    (tmp_path / "file").write_text("")
    status, text = doctor.says(data_dir=str(tmp_path / "file" / "data"))
    assert (status, [line for line in lines(text, "fail") if "is no directory" in line] != []) == (
        1,
        True,
    )
    status, text = doctor.says(data_dir="/proc/bullring")
    assert (
        status,
        [line for line in lines(text, "fail") if "can be written there" in line] != [],
    ) == (1, True)
    status, text = doctor.says(data_dir="/dev/shm/bullring-doctor-test")
    assert (status, [line for line in lines(text, "warn") if "it is in memory" in line] != []) == (
        0,
        True,
    )


@pytest.mark.parametrize(
    ("flags", "level", "found"),
    [
        ({"listen": "no-such-host.invalid:1"}, "warn", "listen no-such-host.invalid:1: its name"),
        ({"http": "no-such-host.invalid:1"}, "fail", "http no-such-host.invalid:1: its name"),
        ({"http": "127.0.0.1:{0}"}, "fail", "the node itself listens there"),
        ({"http": "unix:{2}/file"}, "fail", "what is there is no socket"),
        ({"events": "{2}"}, "fail", "it is a directory"),
        ({"on-elected": "/no/such/hook now"}, "warn", '"/no/such/hook now" is not found'),
    ],
    ids=["listen", "http", "one port twice", "no socket", "directory", "hook"],
)
def test_what_would_fail_at_the_start_is_told(doctor, tmp_path, flags, level, found):
    (tmp_path / "file").write_text("")
    flags = {name: text.format(*doctor.ports[:2], tmp_path) for name, text in flags.items()}
    public = ["--http-public"] if "no-such" in flags.get("http", "") else []
    status, text = doctor.says(*public, **flags)
    assert [line for line in lines(text, level) if found in line], text
    assert status == (1 if level == "fail" else 0)


@ROOT_ONLY
def test_limits_with_which_no_node_starts_are_failures(doctor):
    status, text = doctor.says(prefix=["prlimit", "--nofile=30:30"])
    assert (status, "30 are allowed, with which no node starts" in text) == (1, True), text
    as_nobody = ["setpriv", "--reuid=65534", "--clear-groups", "prlimit", "--nproc=5:5"]
    words = [word for name, value in doctor.flags.items() for word in (f"--{name}", value)]
    _, text = doctor_of(words, as_nobody)
    assert [line for line in lines(text, "fail") if line.startswith("limit of processes")], text


@ROOT_ONLY
def test_the_files_of_another_user_and_a_damaged_state_are_told(doctor, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "state").write_text("nonsense")
    status, text = doctor.says()
    assert (status, "state is damaged: 8 bytes are too few" in text) == (1, True), text
    assert sorted(path.name for path in data.iterdir()) == ["state"]
    (data / "state").unlink()
    (data / "lock").write_text("")
    (data / "lock").chmod(0o600)
    for path in (data, *data.parents[:3]):
        path.chmod(0o777)
    words = [word for name, value in doctor.flags.items() for word in (f"--{name}", value)]
    status, text = doctor_of(words, ["setpriv", "--reuid=65534", "--clear-groups"])
    assert (status, "Permission denied" in text) == (1, True), text


def test_members_that_run_are_asked(new_cluster):
    cluster, _ = new_cluster(3).settled()
    stop(cluster, cluster[1])
    words = words_of(cluster[1])
    status, text = doctor_of(words)
    assert status == 0, text
    assert len([line for line in lines(text, "ok") if "it answers within" in line]) == 2, text
    status, text = doctor_of([*words, "--algorithm", "ring"])
    assert status == 1
    differs = "algorithm is 'ring' here and 'bully' there"
    assert len([line for line in lines(text, "fail") if differs in line]) == 2, text
    assert text.count("→ give all members the same --algorithm") == 2
    status, text = doctor_of([*words, "--cluster", "another"])
    assert status == 1
    assert (
        len([line for line in lines(text, "fail") if "somebody is there, and refuses" in line]) == 2
    )


def test_who_would_be_refused_is_told(new_cluster, ports):
    cluster, leader = new_cluster(3).settled()
    words = words_of(leader)
    # Another list than theirs.
    more = f"{cluster.peers},4=127.0.0.1:{ports.take()}"
    status, text = doctor_of([*words, "--id", "4", "--peers", more])
    assert status == 1
    other = "its members are 1, 2, 3, and here they are 1, 2, 3, 4"
    assert len([line for line in lines(text, "fail") if other in line]) == 3, text
    # A second process with the ID of one that runs.
    moved = cluster.peers.replace(leader.address, f"127.0.0.1:{ports.take()}")
    elsewhere = ["--peers", moved, "--data-dir", f"{leader.data_dir}-another"]
    status, text = doctor_of([*words, *elsewhere])
    assert status == 1
    twin = f"it is connected with a node {leader.id} that is not this one"
    assert len([line for line in lines(text, "fail") if twin in line]) == 2, text
    # Two addresses that are changed over.
    one, two = (cluster[n].address for n in (1, 2))
    swapped = f"1={two},2={one},3={cluster[3].address}"
    status, text = doctor_of([*words_of(cluster[3]), "--peers", swapped])
    assert status == 1
    assert len([line for line in lines(text, "fail") if "somebody else is there" in line]) == 2


@pytest.fixture
def joining(new_cluster, ports, tmp_path):
    """A cluster of three, and the doctor's words of a node 4 that would join it."""
    cluster, _ = new_cluster(3, flags=["--lease-max", "1s"]).settled()

    def says(*more, by=(1,), address=None):
        joins = ",".join(
            [*(cluster[member].address for member in by), *([address] * bool(address))]
        )
        listen = f"127.0.0.1:{ports.take()}"
        words = ["--id", "4", "--join", joins, "--listen", listen]
        return doctor_of([*words, "--data-dir", str(tmp_path / "joins"), *more])

    return cluster, says


def test_who_would_join_is_told_what_it_would_ask_for_and_nobody_is_asked_for_it(joining):
    cluster, says = joining
    before = cluster.member_list()
    status, text = says("--voter")
    assert (status, lines(text, "fail"), lines(text, "warn")) == (0, [], []), text
    (plan,) = [line for line in lines(text, "ok") if line.startswith("joining: it would ask")]
    assert "to be added, without a vote, at 127.0.0.1:" in plan
    assert plan.endswith(", and for a vote")
    assert text.count("it answers, and says: ") == 3, text
    assert says("--listen", "0.0.0.0:7100", "--security", "none")[0] == 0
    # Two questions to one member are none of its business either.
    assert cluster.member_list() == before
    assert not [event for event in cluster.events() if event["event"] == "members"]


@pytest.mark.parametrize(
    ("more", "found", "remedy"),
    [
        (
            ["--algorithm", "ring"],
            "algorithm is 'ring' here and 'bully' there",
            "give this node the --algorithm of the others",
        ),
        (["--wire", "2"], "version is '2-2' here and '3-6' there", "take --wire 2 from this node"),
        (["--cluster", "another"], "somebody is there, and refuses: ", "compare --cluster"),
        (["--id", "2"], "another process is node 2, at ", "give this one an --id of its own"),
    ],
    ids=["algorithm", "wire", "cluster", "id"],
)
def test_who_could_not_join_is_told_why(joining, more, found, remedy):
    _, says = joining
    status, text = says(*more)
    assert status == 1
    assert [line for line in lines(text, "fail") if found in line], text
    assert [line for line in text.splitlines() if "→" in line and remedy in line], text
    assert "--join-as" not in text


def test_addresses_at_which_nobody_is_fail_if_there_are_no_others(joining, ports):
    _, says = joining
    dead = f"127.0.0.1:{ports.take()}"
    found = f"join {dead}: no member answers there: Connection refused"
    status, text = says(address=dead)
    assert (status, lines(text, "warn")) == (0, [found]), text
    status, text = says(by=(), address=dead)
    assert (status, lines(text, "fail")) == (1, [found]), text


def test_an_id_that_is_taken_by_a_member_that_joined_is_told(joining):
    cluster, says = joining
    taken = cluster.new_node(4)
    taken.join = [cluster[1].address]
    taken.start()
    cluster.wait_for(lambda: 4 in cluster.member_list()[1], "node 4 is a member")
    status, text = says(by=(2,))
    assert status == 1
    assert [x for x in lines(text, "fail") if f"node 4, at {taken.address}" in x], text
    # On the directory of that process it is the same node.
    status, text = doctor_of(words_of(taken))
    assert (status, lines(text, "fail")) == (0, []), text
    assert f"joining: node 4 is a member already, at {taken.address}" in text
    # And when it has ended its place is taken over.
    taken.kill()
    cluster.wait_for(
        lambda: not [n for n in cluster.status()["nodes"] if 4 in n["peers_up"]], "all know it"
    )
    status, text = says(by=(2,))
    assert "this node takes its place" in text
    assert status == 0, text


def test_a_key_that_is_another_does_not_join(secured, ports, tmp_path):
    made = secured("key")
    made.start()
    key = tmp_path / "other.key"
    subprocess.run([find_program(), "key", "new", "--out", str(key)], check=True)
    words = ["--id", "4", "--join", made.cluster[1].address, "--security", "key"]
    words += ["--listen", f"127.0.0.1:{ports.take()}", "--data-dir", str(tmp_path / "joins")]
    status, text = doctor_of([*words, "--key-file", str(key)])
    assert status == 1
    assert [line for line in lines(text, "fail") if "it has another key" in line], text


def test_who_has_no_security_yet_is_no_failure_in_a_migration(new_cluster, tmp_path):
    cluster, _ = new_cluster(3).settled()
    key = tmp_path / "cluster.key"
    subprocess.run([find_program(), "key", "new", "--out", str(key)], check=True)
    words = [*words_of(cluster[1]), "--security", "key", "--key-file", str(key)]
    stop(cluster, cluster[1])
    status, text = doctor_of(words)
    assert status == 1
    assert len([x for x in lines(text, "fail") if "somebody is there, and refuses" in x]) == 2, text
    status, text = doctor_of([*words, "--security-migrate"])
    assert status == 0, text
    assert len([x for x in lines(text, "note") if "it has no security yet" in x]) == 2, text


def test_lead_is_examined_by_the_node_that_it_would_ask(new_cluster, tmp_path):
    cluster, leader = new_cluster(3).settled()

    def says(*words, command=("true",)):
        return told("lead", *words, "--check", "--", *command)

    status, text = says("--data-dir", leader.data_dir)
    assert (status, f"it is {leader.id} of cluster" in text) == (0, True), text
    assert "leads with grants of" in text
    other = next(node for node in cluster if node is not leader)
    status, text = says("--data-dir", other.data_dir, command=["touch", str(tmp_path / "file")])
    assert (status, "it would not begin now" in text) == (0, True), text
    assert not (tmp_path / "file").exists()
    status, text = says("--data-dir", other.data_dir, "--id", leader.id)
    assert (status, "→ correct --id and --cluster, or --data-dir" in text) == (1, True), text
    status, text = says("--data-dir", tmp_path / "nowhere", command=["/no/such/program"])
    assert status == 1
    assert [line.split(":")[0] for line in lines(text, "fail")] == [
        "command",
        f"node in {tmp_path}/nowhere",
    ]


def test_the_list_in_the_state_file_is_what_a_start_goes_by(new_cluster):
    cluster, leader = new_cluster(3, flags=["--lease-max", "1s", "--no-preempt"]).settled()
    one, other = (node for node in cluster if node is not leader)
    assert cluster.member("demote", str(one.id)).returncode == 0
    stop(cluster, one)
    status, text = doctor_of(words_of(one))
    assert (status, lines(text, "warn")) == (0, []), text
    status, text = doctor_of([*words_of(one), "--wire", "2"])
    assert (status, "it was changed, which --wire 2 has no messages for" in text) == (1, True), text
    # One that was removed while it was away is told so by the others.
    assert cluster.member("remove", str(one.id)).returncode == 0
    status, text = doctor_of(words_of(one))
    assert status == 1
    found = f"this node is not one of its members {min(leader.id, other.id)}, "
    assert len([line for line in lines(text, "fail") if found in line]) == 2, text
    assert f"→ have it added: bullring member add {one.id}={one.address}" in text


def test_without_a_quorum_a_node_that_runs_is_told_by_its_address(new_cluster):
    cluster = new_cluster(2, unjudged=TEXTBOOK, flags=["--quorum", "none"]).start()
    cluster.wait_leader()
    status, text = doctor_of(words_of(cluster[1]))
    assert (status, "this node listens there now" in text) == (0, True), text


@MODES
def test_members_are_asked_with_the_credentials_of_this_one(secured, mode):
    made = secured(mode)
    made.start()
    asking = made.cluster[1]
    status, text = doctor_of(words_of(asking), variables=made.cluster.environment)
    assert status == 0, text
    assert len([line for line in lines(text, "ok") if "it answers within" in line]) == 2, text
    assert ("certificate: it is valid until" in text) == (mode == TLS)


def test_a_node_that_runs_already_is_told_and_not_disturbed(new_cluster):
    cluster, leader = new_cluster(3).settled()
    status, text = doctor_of(words_of(leader))
    assert status == 0, text
    assert "this node listens there now" in text
    assert [line for line in lines(text, "note") if "is in use by" in line]
    assert cluster.wait_leader().view == leader.view


def test_whether_processes_may_attach_is_told(new_cluster):
    _, node = new_cluster(1, flags=["--hang-after", "off"]).settled()
    path = node.data_dir / "attach.sock"

    def told_of_it(level, node=node, path=path):
        status, text = doctor_of([*words_of(node), "--attach", "on"])
        assert status == 0, text
        (line,) = [line for line in lines(text, level) if line.startswith(f"{path}: ")]
        return line.removeprefix(f"{path}: ")

    assert told_of_it("ok") == "processes may attach"
    path.chmod(0o660)
    assert told_of_it("warn").startswith("its mode is 0660 and its group ")
    with contextlib.ExitStack() as stack:
        for _ in range(256):
            stack.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        assert "256 processes are attached already" in told_of_it("warn")
    node.hang()
    assert told_of_it("warn") == "nobody answers there"
    node.resume()
    _, without = new_cluster(1, flags=["--attach", "off"]).settled()
    missing = told_of_it("warn", without, without.data_dir / "attach.sock")
    assert missing == "no process can attach: No such file or directory"


@ROOT_ONLY
def test_whether_a_group_may_attach_is_told(doctor, tmp_path):
    words = [word for name, text in doctor.flags.items() for word in (f"--{name}", text)]
    words += ["--attach-group", "daemon"]
    data, inner = tmp_path / "data", tmp_path / "data" / "inner"
    inner.mkdir(parents=True)
    shutil.chown(inner, 65534)
    inner.chmod(0o700)
    words += ["--data-dir", str(inner)]
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o711)
    data.chmod(0o755)

    def warned(*groups):
        status, text = doctor_of(words, ["setpriv", "--reuid=65534", *groups])
        assert status == 0, text
        assert ("this user may give it the socket" in text) == (groups == ("--groups=1",))
        return lines(text, "warn")

    denied = "attach-group: this user can't give it the socket: Operation not permitted"
    assert warned("--clear-groups") == [denied]
    assert warned("--groups=1") == []
    inner.chmod(0o750)
    data.chmod(0o700)
    shutil.chown(data, 65534)
    assert warned("--groups=1") == [
        f"attach-group: it may not enter {path}" for path in (inner, data)
    ]


# Takes connections, and dials on from an address of its own.
PROXY = """
import socket, sys, threading
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("ready", flush=True)
def pour(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)
while True:
    near = listener.accept()[0]
    far = socket.create_connection((sys.argv[3], int(sys.argv[4])))
    for pair in ((near, far), (far, near)):
        threading.Thread(target=pour, args=pair, daemon=True).start()
"""


@pytest.mark.skipif(netns.unavailable() is not None, reason="needs namespaces")
def test_silence_and_proxies_on_the_way_are_told(new_cluster, spawn):
    with contextlib.closing(netns.Namespaces([1, 2, 3])) as spaces:
        port = netns.PORT
        hosts = {i: (address, port) for i, address in spaces.addresses.items()}
        cluster = new_cluster(3, hosts=hosts)
        for node in cluster:
            node.prefix = spaces.prefix(node.id)
        cluster.start().wait_leader()
        stop(cluster, cluster[1])
        words = [*words_of(cluster[1]), "--security", "none"]
        status, text = doctor_of(words, spaces.prefix(1))
        assert status == 0, text
        assert len([line for line in lines(text, "ok") if "it answers within" in line]) == 2, text

        proxy = spawn(
            [*spaces.prefix(2), sys.executable, "-c", PROXY, hosts[2][0], str(port + 1)]
            + [hosts[3][0], str(port)],
            stdout=subprocess.PIPE,
        )
        assert proxy.stdout.readline() == b"ready\n"
        through = ",".join(
            [f"1={hosts[1][0]}:{port}", f"2={hosts[2][0]}:{port}", f"3={hosts[2][0]}:{port + 1}"]
        )
        status, text = doctor_of([*words, "--peers", through], spaces.prefix(1))
        (seen,) = [line for line in lines(text, "warn") if "a proxy or NAT" in line]
        assert seen.startswith(f"member 3 at {hosts[2][0]}:{port + 1}: it sees this machine as ")
        assert status == 0

        spaces.cut_link(1, 3)
        status, text = doctor_of(words, spaces.prefix(1))
        (silent,) = lines(text, "warn")
        assert silent == f"member 3 at {hosts[3][0]}:{port}: nothing came back"
        assert status == 0
        spaces.heal()
