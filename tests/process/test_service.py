"""A node as a service: what it tells the manager that has started it (sd_notify(3)), by a socket of
the test's own.
"""

import os
import signal
import socket
import subprocess
import time

import pytest
from harness.node import clean_environment, find_program
from harness.waiting import DEADLINE, wait_until

pytestmark = pytest.mark.sanitize

WATCHDOG_S = 0.4


class Manager:
    """The side of the service manager: it only listens."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        self.address = address
        self.heard = []

    def listen(self, timeout):
        """The next message as a dictionary, None when there is none within that time."""
        self.socket.settimeout(timeout)
        try:
            text = self.socket.recv(65536).decode()
        except (TimeoutError, BlockingIOError):
            return None
        message = dict(line.split("=", 1) for line in text.splitlines())
        self.heard.append(message)
        return message

    def drain(self):
        """Hears what has been said so far."""
        while self.listen(0) is not None:
            pass

    def wait_for(self, predicate, deadline=DEADLINE):
        """The first message from here on for which it is true."""
        limit = time.monotonic() + deadline
        while (left := limit - time.monotonic()) > 0:
            message = self.listen(left)
            if message is not None and predicate(message):
                return message
        raise AssertionError(f"not told within {deadline} s; heard: {self.heard}")

    def wait_status(self, *parts):
        status = self.wait_for(lambda told: all(part in told.get("STATUS", "") for part in parts))
        return status["STATUS"]

    def variables(self, **more):
        return {"NOTIFY_SOCKET": self.address, **more}


@pytest.fixture
def manager(tmp_path):
    made = Manager(str(tmp_path / "notify"))
    yield made
    made.socket.close()


def start(cluster, node, variables):
    """The node alone, with these variables in its environment."""
    usual = cluster.environment
    cluster.environment = {**usual, **variables}
    node.start()
    cluster.environment = usual
    return node


def test_it_is_ready_when_it_listens_before_there_is_a_leader(new_cluster, manager):
    cluster = new_cluster(3)
    node = start(cluster, cluster[3], manager.variables())
    first = manager.listen(DEADLINE)
    assert first["READY"] == "1"
    assert "follower, no leader: " in first["STATUS"]
    socket.create_connection((node.host, node.port), DEADLINE).close()
    cluster.start([1, 2])
    manager.wait_status("leader, epoch ", ": leads with grants of ")


def test_the_status_tells_of_each_new_leader(new_cluster, manager):
    cluster = new_cluster(3)
    start(cluster, cluster[1], manager.variables())
    cluster.start([2, 3])
    epoch = cluster.wait_settled().view[1]
    manager.wait_status(f"follower, epoch {epoch}: follows 3")
    cluster[3].kill()
    manager.wait_status("follower, epoch ", ": follows 2")
    cluster[2].kill()
    manager.wait_status("follower, no leader: no majority: hears 1 of 3")


def test_the_watchdog_hears_of_the_loop_and_of_nothing_else(new_cluster, manager):
    cluster = new_cluster(1)
    usec = str(int(WATCHDOG_S * 1e6))
    start(cluster, cluster[1], manager.variables(WATCHDOG_USEC=usec))
    cluster.wait_leader()
    manager.drain()
    manager.wait_for(lambda told: "WATCHDOG" in told)
    begun = time.monotonic()
    for _ in range(6):
        manager.wait_for(lambda told: told.get("WATCHDOG") == "1")
    assert time.monotonic() - begun >= 5 * WATCHDOG_S / 2  # no more often than is asked for


def test_a_node_that_stands_still_feeds_no_watchdog(new_cluster, manager):
    cluster = new_cluster(1, flags=["--hang-after", "off"])
    usec = str(int(WATCHDOG_S * 1e6))
    node = start(cluster, cluster[1], manager.variables(WATCHDOG_USEC=usec))
    manager.wait_for(lambda told: "WATCHDOG" in told)
    node.hang()
    manager.drain()
    assert manager.listen(3 * WATCHDOG_S) is None
    node.resume()
    manager.wait_for(lambda told: told.get("WATCHDOG") == "1")


def test_a_watchdog_for_another_process_is_not_fed(new_cluster, manager):
    cluster = new_cluster(1)
    variables = manager.variables(WATCHDOG_USEC="1000", WATCHDOG_PID=str(os.getpid()))
    start(cluster, cluster[1], variables)
    manager.wait_status("leader, epoch ")
    while manager.listen(0.5) is not None:
        pass
    assert not any("WATCHDOG" in told for told in manager.heard)


def test_a_reload_begins_and_ends(new_cluster, manager):
    cluster = new_cluster(1)
    node = start(cluster, cluster[1], manager.variables())
    cluster.wait_leader()
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    node.current.process.send_signal(signal.SIGHUP)
    begun = manager.wait_for(lambda told: "RELOADING" in told)
    assert begun["RELOADING"] == "1"
    assert int(begun["MONOTONIC_USEC"]) >= before
    manager.wait_for(lambda told: told.get("READY") == "1")


def test_it_says_that_it_stops_before_it_has_handed_over(new_cluster, manager):
    cluster = new_cluster(3)
    start(cluster, cluster[3], manager.variables())
    cluster.start([1, 2])
    leader = cluster.wait_settled()
    leader.terminate()
    manager.wait_for(lambda told: told.get("STOPPING") == "1")
    assert leader.wait_exit() == 0


def test_a_manager_that_does_not_listen_delays_nothing(new_cluster, manager):
    cluster = new_cluster(3)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as other:
        with pytest.raises(BlockingIOError):
            while True:
                other.sendto(b"X=1", manager.address)
    start(cluster, cluster[3], manager.variables(WATCHDOG_USEC="20000"))
    cluster.start([1, 2])
    leader = cluster.wait_settled()
    assert leader.id == 3
    view = leader.view
    cluster.never(lambda: leader.view != view, "the leader waits for its manager", 1.0)
    manager.wait_for(lambda told: told.get("READY") == "1" and "leader, " in told["STATUS"])


def test_what_a_start_waits_for_is_the_status(manager, spawn, tmp_path):
    key = tmp_path / "key"
    words = ["node", "--id", "1", "--peers", "1=127.0.0.1:1", "--security", "key"]
    process = spawn(
        [find_program(), *words, "--key-file", str(key)],
        env={**clean_environment(), **manager.variables()},
    )
    manager.wait_status("waiting: --key-file: ", str(key))
    process.terminate()
    assert process.wait(timeout=DEADLINE) == 0


def test_an_abstract_socket_does_as_well(new_cluster, tmp_path):
    manager = Manager(f"@bullring-test-{os.getpid()}")
    cluster = new_cluster(1)
    start(cluster, cluster[1], manager.variables())
    manager.wait_for(lambda told: told.get("READY") == "1")
    manager.socket.close()


@pytest.mark.parametrize("address", ["", "relative", "/no/such/socket", "/" + "x" * 200])
def test_without_a_manager_there_is_a_node_all_the_same(new_cluster, address):
    cluster = new_cluster(1)
    variables = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000"}
    node = start(cluster, cluster[1], variables)
    assert cluster.wait_leader() is node
    assert node.stop() == 0


def test_nothing_that_a_node_starts_may_speak_in_its_name(new_cluster, manager, tmp_path):
    cluster = new_cluster(1)
    node = cluster[1]
    told = {what: tmp_path / what for what in ("command", "hook", "health")}
    node.task = ["sh", "-c", f"env > {told['command']}; exec sleep 1000"]
    node.flags = ["--on-elected", f"env > {told['hook']}"]
    node.flags += ["--health-cmd", f"env > {told['health']}"]
    start(cluster, node, manager.variables(WATCHDOG_USEC="1000000", WATCHDOG_PID=""))
    manager.wait_status("leader, epoch ")
    for what, file in told.items():
        cluster.wait_for(
            lambda file=file: file.exists() and "\nPATH=" in f"\n{file.read_text()}", what
        )
        names = [line.split("=")[0] for line in file.read_text().splitlines()]
        assert not {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} & set(names), what
    node.terminate()
    manager.wait_for(lambda message: message.get("STOPPING") == "1")
    assert node.wait_exit() == 128 + signal.SIGTERM


def journal(file):
    """As systemd tells a program that this is the journal."""
    found = os.fstat(file.fileno())
    return {**clean_environment(), "JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_the_journal_is_told_how_important_a_line_is(spawn, ports, tmp_path, log_format):
    port = ports.take()
    log = tmp_path / "log"
    with open(log, "w") as file:
        spawn(
            [find_program(), "node", "--id", "1", "--peers", f"1=127.0.0.1:{port}"]
            + ["--listen", f"0.0.0.0:{port}", "--security", "none", "--log-format", log_format]
            + ["--data-dir", str(tmp_path / "data")],
            stderr=file,
            env=journal(file),
        )
    lines = wait_until(
        lambda: [line for line in log.read_text().splitlines() if "leader" in line]
        and log.read_text().splitlines(),
        "it leads",
    )
    for line in lines:
        assert line.startswith("<4>" if "security none" in line else "<6>"), line
    assert any("security none" in line for line in lines)


def test_the_journal_is_told_why_a_start_fails(tmp_path):
    with open(tmp_path / "log", "w") as file:
        subprocess.run([find_program(), "node"], stderr=file, env=journal(file), timeout=DEADLINE)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines and all(line.startswith("<3>bullring: ") for line in lines)


def test_elsewhere_lines_have_no_priority(tmp_path):
    with open(tmp_path / "log", "w") as file, open(tmp_path / "other", "w") as other:
        subprocess.run([find_program(), "node"], stderr=file, env=journal(other), timeout=DEADLINE)
    assert (tmp_path / "log").read_text().startswith("bullring: ")
