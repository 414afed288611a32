"""A cluster is upgraded from the version that landed last, and downgraded to it, node by node: with
the program of that version itself, its state directories, its messages and its clients.
"""

import pytest
from clusters import on_both
from previous import previous_program
from rolling import FLAGS, Clients, Rolling
from secured import MODES
from test_upgrade import NEWEST

pytestmark = [pytest.mark.long, pytest.mark.limit(3600)]

# That version speaks no higher one.
OF_PREVIOUS = 3


def highest(node):
    return NEWEST if node.program is None else OF_PREVIOUS


@pytest.fixture(scope="module")
def previous():
    return previous_program()


def up_and_down(cluster, ports, spawn, previous):
    rolling = Rolling(cluster, ports, highest)
    for node in cluster:
        node.program = previous
    cluster.start().wait_settled()
    with Clients(cluster, spawn, [cluster.program, previous]):
        for program in (None, previous):
            rolling.restart_all(lambda node, program=program: setattr(node, "program", program))
    rolling.check_leaderships()
    print(f"{rolling.changes} of {2 * cluster.size} nodes led when they were restarted")


@on_both(3)
def test_from_the_version_before_and_back(new_cluster, ports, spawn, previous, algorithm, n):
    up_and_down(new_cluster(n, algorithm, flags=FLAGS), ports, spawn, previous)


@MODES
def test_the_same_where_connections_are_secured(secured, ports, spawn, previous, mode):
    up_and_down(secured(mode, flags=FLAGS).cluster, ports, spawn, previous)
