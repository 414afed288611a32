"""The examples of examples/python that need more than Python: a poller with PostgreSQL as the
fenced store, and a service of aiohttp."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys

import pytest
from attached import settled
from harness.http import ask
from harness.node import ROOT, python_environment
from harness.waiting import DEADLINE, wait_until

__all__ = ["settled"]  # a fixture

pytestmark = [pytest.mark.long]

ROWS = 200


@pytest.fixture
def start(spawn):
    """An example, beside a node."""

    def started(name, *words):
        program = ROOT / "examples" / "python" / name
        return spawn([sys.executable, str(program), *words], env=python_environment())

    return started


class Postgres:
    """A server of the test's own, on a socket in its folder."""

    def __init__(self, folder):
        self.folder = folder
        (self.programs,) = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
        self.user = {}
        if os.geteuid() == 0:  # which PostgreSQL refuses
            account = pwd.getpwnam("postgres")
            os.chown(folder, account.pw_uid, account.pw_gid)
            self.user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.dsn = f"host={folder} dbname=postgres user=postgres"
        self.run("initdb", "--no-sync", "--auth=trust", "--username=postgres", folder / "data")
        settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        self.control("start", "-w", "-l", folder / "log", "-o", settings)

    def run(self, program, *words):
        words = [str(self.programs / program), *map(str, words)]
        done = subprocess.run(
            words, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **self.user
        )
        assert done.returncode == 0, done.stderr

    def control(self, *words):
        self.run("pg_ctl", "-D", self.folder / "data", *words)

    def query(self, sql):
        import psycopg2

        with contextlib.closing(psycopg2.connect(self.dsn)) as database:
            with database, database.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else None


@pytest.fixture
def postgres(tmp_path_factory):
    folder = tmp_path_factory.mktemp("postgres")
    for above in folder.parents[:2]:
        above.chmod(0o755)
    server = Postgres(folder)
    yield server
    server.control("stop", "-m", "immediate")
    shutil.rmtree(folder)


def test_each_row_once_whoever_is_killed_or_stopped(settled, start, postgres):
    cluster, _ = settled()
    text = (ROOT / "examples" / "python" / "poller_postgresql.py").read_text()
    tables = text[text.index("    CREATE TABLE inbox") : text.index('"""\n\nimport')]
    postgres.query(tables)
    pollers = {}

    def poll(node):
        words = (f"{postgres.dsn} application_name={node.id}", str(node.data_dir))
        pollers[node.id] = start("poller_postgresql.py", *words)

    def working():
        """The node whose poller leads: no other is connected."""
        found = postgres.query(
            "SELECT application_name FROM pg_stat_activity WHERE application_name ~ '^[0-9]+$'"
            " ORDER BY backend_start DESC LIMIT 1"
        )
        return found and cluster[int(found[0][0])]

    def add(count):
        first = postgres.query("SELECT count(*) FROM inbox")[0][0]
        postgres.query(f"INSERT INTO inbox SELECT generate_series({first + 1}, {first + count})")
        return first + count

    def moved():
        return postgres.query("SELECT count(*) FROM queue")[0][0]

    for node in cluster:
        poll(node)
    total = add(ROWS)
    wait_until(lambda: moved() > total // 4, "rows")
    node = wait_until(working, "a poller that leads")
    pollers[node.id].kill()
    poll(node)
    total = add(ROWS)
    wait_until(lambda: moved() == total, "all rows")
    stopped = pollers[wait_until(working, "a poller that leads").id]
    stopped.send_signal(signal.SIGSTOP)
    cluster.command("resign")
    total = add(ROWS)
    wait_until(lambda: moved() == total, "all rows, by another one")
    stopped.send_signal(signal.SIGCONT)
    total = add(ROWS)
    wait_until(lambda: moved() == total, "all rows")
    rows = postgres.query("SELECT id, epoch FROM queue ORDER BY place")
    assert sorted(row[0] for row in rows) == list(range(1, total + 1))
    epochs = [row[1] for row in rows]
    assert epochs == sorted(epochs) and len(set(epochs)) >= 3


def test_one_service_is_ready_and_then_another(settled, start, ports):
    cluster, _ = settled()
    services = {}
    for node in cluster:
        port = ports.take()
        services[port] = start("service_aiohttp.py", str(port), str(node.data_dir))

    def ready():
        found = []
        for port, process in services.items():
            with contextlib.suppress(OSError):
                if process.poll() is None and ask(port, "/readyz").status == 200:
                    found.append(port)
        assert len(found) <= 1
        return found[0] if found else None

    wait_until(lambda: all(map(serves, services)), "all services")
    first = wait_until(ready, "a service that is ready")
    others = [port for port in services if port != first]
    answer = wait_until(lambda: answered(first), "an answer of the leader")
    assert [ask(port, "/").status for port in others] == [503, 503]
    cluster.command("resign")
    second = wait_until(lambda: ready() not in (None, first) and ready(), "another one")
    assert wait_until(lambda: answered(second), "its answer")["epoch"] > answer["epoch"]
    services[second].terminate()
    services[second].wait(DEADLINE)
    services.pop(second)
    wait_until(ready, "a third one")
    for process in services.values():
        process.terminate()
        assert process.wait(DEADLINE) == 0


def serves(port):
    with contextlib.suppress(OSError):
        return ask(port, "/readyz").status in (200, 503)


def answered(port):
    answer = ask(port, "/")
    return answer.json if answer.status == 200 else None
