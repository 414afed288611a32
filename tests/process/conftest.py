"""The fixtures of the tests of real processes.

Every cluster that a test makes is checked at the end of the test by `bullring audit`: no two
leaderships overlap, and epochs rise with time.
"""

import os
import random
import subprocess

import pytest
from bullring_cluster import Cluster
from bullring_net import PortHolder
from bullring_task import Journal
from rounds import Rounds

_FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Lets the fixtures know at their end whether the test failed."""
    outcome = yield
    if outcome.get_result().failed:
        item.stash[_FAILED] = True


@pytest.fixture
def new_cluster(request):
    """Makes clusters that the end of the test checks and closes; if it failed, their files stay."""
    made = []

    def make(n, algorithm="bully", judged=True, **options):
        cluster = Cluster(n, algorithm, label=f"{algorithm}-{n}", **options)
        made.append((cluster, judged))
        return cluster

    yield make
    failed = request.node.stash.get(_FAILED, False)
    try:
        for cluster, judged in made:
            if judged and not failed:
                cluster.check_intervals()
    except BaseException:
        failed = True
        raise
    finally:
        for cluster, _ in made:
            cluster.close(keep_files=failed)
            if failed:
                print(f"logs and event streams are kept in {cluster.directory}")


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
def spawn():
    """Starts a program as subprocess.Popen does; it is killed when the test ends."""
    started = []

    def start(*arguments, **options):
        started.append(subprocess.Popen(*arguments, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def journal(tmp_path):
    """What the commands of all nodes write; no two of them may have run at one time."""
    journal = Journal(tmp_path)
    yield journal
    assert journal.problems() == []


@pytest.fixture
def play(new_cluster, journal, algorithm, n):
    """Plays rounds of an attack on the leader of a cluster."""
    return Rounds(new_cluster, journal, algorithm, n)
