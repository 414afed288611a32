"""The example of libbullring(3): three pollers move rows into a queue; one is killed, one is
stopped in the middle. No row twice, none lost, and the fencing tokens in the queue never fall.
"""

import contextlib
import json
import pathlib
import signal
import sqlite3
import subprocess

import pytest
from harness.node import ROOT, find_program
from installation import CONSUMER
from harness.waiting import DEADLINE, seen_within, wait_until

ROWS = 400


class Pollers:
    """Three pollers and their database."""

    def __init__(self, program, place, ports, spawn):
        self.program, self.place, self.spawn = program, place, spawn
        self.database = place / "database"
        with sqlite3.connect(self.database) as tables:
            tables.executescript(
                "CREATE TABLE inbox (id INTEGER PRIMARY KEY, sent INTEGER NOT NULL DEFAULT 0);"
                "CREATE TABLE queue (place INTEGER PRIMARY KEY, id INTEGER, epoch INTEGER);"
                "CREATE TABLE fence (epoch INTEGER NOT NULL); INSERT INTO fence VALUES (0);"
            )
        self.peers = ",".join(f"{id}=127.0.0.1:{ports.take()}" for id in (1, 2, 3))
        self.processes = {id: self.start(id) for id in (1, 2, 3)}
        self.added = 0

    def start(self, id):
        return self.spawn(
            [self.program, str(id), self.peers, self.place / f"data-{id}", self.database]
        )

    def query(self, sql, timeout=DEADLINE):
        with sqlite3.connect(self.database, timeout=timeout) as tables:
            return tables.execute(sql).fetchall()

    def moved(self, timeout=DEADLINE):
        return self.query("SELECT count(*) FROM queue", timeout)[0][0]

    def all_moved(self):
        """Without waiting for the database."""
        try:
            return self.moved(timeout=0.1) >= self.added
        except sqlite3.OperationalError:
            return False

    def add(self, count):
        with sqlite3.connect(self.database, timeout=DEADLINE) as tables:
            rows = [(self.added + i,) for i in range(1, count + 1)]
            tables.executemany("INSERT INTO inbox (id) VALUES (?)", rows)
        self.added += count

    def wait_moved(self, count):
        wait_until(lambda: self.moved() >= count, lambda: f"row {count}, after {self.moved()}")

    def other_leader(self, process):
        leader = self.leader()
        return leader if self.processes[leader] is not process else None

    def leader(self):
        status = [find_program(), "status", "--json", "--wait", "--timeout", f"{DEADLINE:.0f}s"]
        out = subprocess.run(
            [*status, "--cluster", "poller", "--peers", self.peers],
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(out.stdout)["leader"]

    def check_each_row_once(self):
        """The last thing: ends them all. Returns the epoch of each row."""
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            assert process.wait(DEADLINE) == 0
        rows = self.query("SELECT id, epoch FROM queue ORDER BY place")
        assert [row[0] for row in rows] == list(range(1, self.added + 1))
        epochs = [row[1] for row in rows]
        assert epochs == sorted(epochs)
        return epochs


def waits_for_the_lock(process):
    """Whether a thread of it sleeps, as SQLite does between two attempts and nobody else."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task").glob("*/wchan")
    return "hrtimer_nanosleep" in {task.read_text() for task in tasks}


@pytest.fixture(scope="module")
def program(installed):
    return installed.build(CONSUMER, f"-DEXAMPLES={ROOT}") / "poller"


@pytest.fixture
def pollers(installed, program, ports, tmp_path):
    with contextlib.ExitStack() as started:

        def spawn(command):
            process = started.enter_context(subprocess.Popen(command, env=installed.environment()))
            started.callback(process.kill)
            return process

        yield Pollers(program, tmp_path, ports, spawn)


def test_what_is_wrong_is_its_exit_status(pollers):
    running = pollers.leader()
    twin = pollers.start(running)  # the same directory, and the same port
    assert twin.wait(DEADLINE) == 1
    assert pollers.processes[running].poll() is None
    stranger = pollers.start(4)
    assert stranger.wait(DEADLINE) == 2


def test_each_row_once(pollers):
    pollers.add(ROWS // 4)
    pollers.wait_moved(pollers.added // 2)
    killed = pollers.leader()
    pollers.processes[killed].kill()
    pollers.add(ROWS // 4)
    pollers.wait_moved(pollers.added)
    pollers.processes[killed].wait()
    pollers.processes[killed] = pollers.start(killed)

    pollers.add(ROWS // 2)
    stopped = pollers.processes[pollers.leader()]
    stopped.send_signal(signal.SIGSTOP)
    # It may have been stopped with the database locked: then nobody can move a row, or even
    # look, before it goes on, and that is SQLite's matter. So it is not waited for long.
    seen_within(3, pollers.all_moved)
    stopped.send_signal(signal.SIGCONT)
    pollers.wait_moved(ROWS)
    assert len(set(pollers.check_each_row_once())) >= 2


def test_a_row_that_two_leaders_have_read(pollers):
    """The old leader wakes up when the new one has read a row and not yet written it."""
    old = pollers.processes[pollers.leader()]
    with contextlib.closing(
        sqlite3.connect(pollers.database, timeout=DEADLINE, isolation_level=None)
    ) as writer:
        pollers.add(ROWS // 8)
        writer.execute("BEGIN IMMEDIATE")  # others can read now, and nobody can write
        wait_until(lambda: waits_for_the_lock(old), "the old leader has read a row")
        old.send_signal(signal.SIGSTOP)
        new = pollers.processes[wait_until(lambda: pollers.other_leader(old), "another leader")]
        wait_until(lambda: waits_for_the_lock(new), "the new leader has come to the database")
        new.send_signal(signal.SIGSTOP)
        old.send_signal(signal.SIGCONT)
        before = pollers.moved()
        writer.execute("ROLLBACK")
    seen_within(0.5, lambda: pollers.moved() > before)
    new.send_signal(signal.SIGCONT)
    pollers.wait_moved(pollers.added)
    pollers.check_each_row_once()
