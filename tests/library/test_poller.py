"""The README's example: three pollers move rows into a queue; one is killed, one is stopped in the
middle. No row twice, none lost, and the fencing tokens in the queue never fall.
"""

import os
import signal
import sqlite3
import subprocess
import time
import unittest

from library_case import ROOT, LibraryCase

ROWS = 400
DEADLINE = 60


class Poller(LibraryCase):
    def setUp(self):
        folder = self.build_consumer(
            ROOT / "tests" / "library" / "consumer", f"-DEXAMPLES={ROOT}"
        )
        self.program = folder / "poller"
        self.own = self.place / self._testMethodName
        self.own.mkdir()
        self.database = self.own / "database"
        with sqlite3.connect(self.database) as tables:
            tables.executescript(
                "CREATE TABLE inbox (id INTEGER PRIMARY KEY, sent INTEGER NOT NULL DEFAULT 0);"
                "CREATE TABLE queue (place INTEGER PRIMARY KEY, id INTEGER, epoch INTEGER);"
                "CREATE TABLE fence (epoch INTEGER NOT NULL); INSERT INTO fence VALUES (0);"
            )
        self.peers = ",".join(f"{id}=127.0.0.1:{self.ports.take()}" for id in (1, 2, 3))
        self.pollers = {id: self.start(id) for id in (1, 2, 3)}
        self.added = 0

    def start(self, id):
        process = subprocess.Popen(
            [self.program, str(id), self.peers, self.own / f"data-{id}", self.database],
            env={**os.environ, "LD_LIBRARY_PATH": str(self.libraries)},
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def query(self, sql):
        with sqlite3.connect(self.database, timeout=30) as tables:
            return tables.execute(sql).fetchall()

    def moved(self):
        return self.query("SELECT count(*) FROM queue")[0][0]

    def all_moved(self):
        """Without waiting for the database."""
        try:
            with sqlite3.connect(self.database, timeout=0.1) as tables:
                moved = tables.execute("SELECT count(*) FROM queue").fetchall()[0][0]
        except sqlite3.OperationalError:
            return False
        return moved >= self.added

    def add(self, count):
        with sqlite3.connect(self.database, timeout=30) as tables:
            tables.executemany(
                "INSERT INTO inbox (id) VALUES (?)",
                [(self.added + i,) for i in range(1, count + 1)],
            )
        self.added += count

    def wait_moved(self, count):
        limit = time.monotonic() + DEADLINE
        while self.moved() < count:
            self.assertLess(time.monotonic(), limit, f"only {self.moved()} rows of {count}")
            time.sleep(0.01)  # pause: between two looks

    def leader(self):
        """The one that works: whose file is open in the middle of the lease, by its own events."""
        words = [os.environ.get("BULLRING_BIN", ROOT / "build" / "bullring"), "status", "--json"]
        limit = time.monotonic() + DEADLINE
        while time.monotonic() < limit:
            out = subprocess.run(
                [*words, "--cluster", "poller", "--peers", self.peers],
                capture_output=True, text=True, timeout=30,
            )
            found = __import__("json").loads(out.stdout)["leader"] if out.returncode == 0 else None
            if found is not None:
                return found
        raise AssertionError("nobody leads")

    def test_what_is_wrong_is_its_exit_status(self):
        running = self.leader()
        twin = self.start(running)  # the same directory, and the same port
        self.assertEqual(twin.wait(DEADLINE), 1)
        self.assertIsNone(self.pollers[running].poll())
        stranger = self.start(4)
        self.assertEqual(stranger.wait(DEADLINE), 2)

    def test_each_row_once(self):
        self.add(ROWS // 4)
        self.wait_moved(self.added // 2)
        killed = self.leader()
        self.pollers[killed].kill()
        self.add(ROWS // 4)
        self.wait_moved(self.added)
        self.pollers[killed].wait()
        self.pollers[killed] = self.start(killed)

        self.add(ROWS // 2)
        stopped = self.leader()
        self.pollers[stopped].send_signal(signal.SIGSTOP)
        # It may have been stopped with the database locked: then nobody can move a row, or even
        # look, before it goes on, and that is SQLite's matter. So it is not waited for long.
        limit = time.monotonic() + 3
        while time.monotonic() < limit and not self.all_moved():
            time.sleep(0.01)  # pause: between two looks
        self.pollers[stopped].send_signal(signal.SIGCONT)
        self.wait_moved(ROWS)
        for poller in self.pollers.values():
            poller.terminate()
        for poller in self.pollers.values():
            self.assertEqual(poller.wait(DEADLINE), 0)
        rows = self.query("SELECT id, epoch FROM queue ORDER BY place")
        self.assertEqual([row[0] for row in rows], list(range(1, ROWS + 1)))
        epochs = [row[1] for row in rows]
        self.assertEqual(epochs, sorted(epochs))
        self.assertGreaterEqual(len(set(epochs)), 2)


if __name__ == "__main__":
    unittest.main()
