"""The fixtures of the tests of real processes.

Every cluster that a test makes is judged at the end of the test by `bullring audit`, also when the
test has failed: no two leaderships overlap, and epochs rise with time. A contradiction is a
SafetyViolation, which ends the whole run.
"""

import contextlib
import os
import random
import subprocess

import pytest
import standstill
from harness.cluster import Cluster
from harness.net import PortHolder
from harness.safety import SafetyViolation, count_judged, record
from harness.task import Journal
from rounds import Rounds
from secured import Secured
from terminal import Terminal


def pytest_runtest_protocol(item, nextitem):
    """Plays a test again that the machine has disturbed."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    standstill.play(item, nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets the fixtures know at their end whether the test failed; keeps what breaks safety."""
    outcome = yield
    standstill.note_result(item, call, outcome.get_result())
    if call.excinfo is not None and isinstance(call.excinfo.value, SafetyViolation):
        path = record(item.nodeid, call.excinfo.value)
        item.session.shouldfail = f"SAFETY: {item.nodeid}, see {path}"


@pytest.fixture
def new_cluster(request):
    """Makes clusters that the end of the test judges and closes; if it fails, their files stay.

    `unjudged`: why there is nothing to judge, such as TEXTBOOK.
    """
    made = []

    def make(n, algorithm="bully", unjudged=None, **options):
        cluster = Cluster(n, algorithm, label=f"{algorithm}-{n}", **options)
        made.append((cluster, unjudged))
        request.node.stash[standstill.CLUSTERS].append(cluster)
        return cluster

    yield make
    with contextlib.ExitStack() as ends:
        # In the opposite order: first all are judged, then what is left of them is closed.
        ends.enter_context(_closed(request, [cluster for cluster, _ in made]))
        for cluster, unjudged in made:
            ends.callback(cluster.check_ends)
            if unjudged is None:
                ends.callback(_judge, request.node.nodeid, cluster)


def _judge(test, cluster):
    count_judged(test, len(cluster.judge_at_end()))


@contextlib.contextmanager
def _closed(request, clusters):
    failed = True
    try:
        yield
        failed = request.node.stash[standstill.FAILED]
    finally:
        for cluster in clusters:
            cluster.close(keep_files=failed)
            if failed:
                print(f"logs and event streams are kept in {cluster.directory}")


@pytest.fixture
def secured(new_cluster, tmp_path):
    """Makes clusters with a key or certificates."""
    return lambda mode, **options: Secured(new_cluster, tmp_path, mode, **options)


@pytest.fixture
def ports():
    """Ports of this host that nobody else gets."""
    held = PortHolder()
    yield held
    held.release()


@pytest.fixture
def draw(request):
    """A generator whose seed is printed, with the command that runs this test again."""
    seed = int(os.environ.get("BULLRING_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"seed {seed}; again: BULLRING_SEED={seed} pytest '{request.node.nodeid}'")
    return random.Random(seed)


@pytest.fixture
def browser(tmp_path):
    """A browser without a screen."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"):
        options.add_argument(word)
    options.add_argument("--window-size=1000,1400")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    yield started
    started.quit()


@pytest.fixture
def spawn():
    """Starts a program as subprocess.Popen does; it is killed when the test ends."""
    started = []

    def start(*arguments, **options):
        started.append(subprocess.Popen(*arguments, **options))
        return started[-1]

    yield start
    for process in started:
        with process:  # the test may have read, and closed, its streams
            process.kill()


@pytest.fixture
def in_terminal(spawn):
    """Starts a program in a terminal of its own."""
    with contextlib.ExitStack() as made:

        def start(command, **options):
            started = Terminal(spawn, command, **options)
            made.callback(started.close)
            return started

        yield start


@pytest.fixture
def journal(tmp_path):
    """The lines of the commands of all nodes; no two of them may have run at one time."""
    journal = Journal(tmp_path)
    yield journal
    journal.judge()


@pytest.fixture
def play(new_cluster, journal, algorithm, n):
    """Plays rounds of an attack on the leader of a cluster."""
    return Rounds(new_cluster, journal, algorithm, n)
