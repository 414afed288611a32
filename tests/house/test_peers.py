"""The bench of the field understands its systems and counts right; none of them is needed here."""

import os

from bench import peers_cases as bench_peers_cases
from bench import peers_report as bench_peers_report
import pytest
from peers import bullring, etcd, keepalived, sentinel, zookeeper
from peers.observer import FOLLOWS, GONE, LEADS, WAITS, Observer, Said

PORTS = {1: 7001, 2: 7002, 3: 7003}
ELECTED = '{"ts_ns":1,"time":"t","node":2,"event":"elected","epoch":4,"grants":[1,2]}'
DEPOSED = '{"ts_ns":2,"time":"t","node":2,"event":"deposed","epoch":4,"held_until_ns":2}'
RAFT = "raft2026/01/02 03:04:05 INFO: 8e9e05c52164694d became leader at term 3"
QUORUM = "[QuorumPeer] INFO o.a.z.s.quorum.Leader - LEADING - LEADER ELECTION TOOK - 5 MS"


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (bullring.parse_event(2, ELECTED), [(LEADS, 2)]),
        (bullring.parse_event(2, DEPOSED), [(FOLLOWS, 2)]),
        (bullring.parse_event(2, '{"event":"peer_up"}'), []),
        (keepalived.parse_state(3, 'INSTANCE "bench" MASTER 103'), [(LEADS, 3)]),
        (keepalived.parse_state(3, 'INSTANCE "bench" BACKUP 103'), [(FOLLOWS, 3)]),
        (keepalived.parse_state(3, 'GROUP "bench" MASTER 103'), []),
        (
            sentinel.parse_switch(PORTS, "bench 127.0.0.1 7001 127.0.0.1 7003"),
            [(FOLLOWS, 1), (LEADS, 3)],
        ),
        (sentinel.parse_switch(PORTS, "+switch-master"), []),
        (zookeeper.parse_client(1, "waits"), [(WAITS, 1)]),
        (zookeeper.parse_client(1, "Connecting to localhost"), []),
    ],
)
def test_a_line_says_who_leads(said, means):
    assert said == means


def test_a_server_s_log_says_that_it_leads_the_service():
    leads = etcd.Etcd.leads_service
    assert leads(RAFT) and not leads(RAFT.replace("leader", "follower"))
    leads = zookeeper.Zookeeper.leads_service
    assert leads(QUORUM) and not leads("FOLLOWING")


@pytest.fixture
def observer():
    one = Observer()
    yield one
    one.close()


@pytest.fixture
def pipe(observer):
    """Whose lines are read as those of a client."""

    def make(member):
        reading, writing = os.pipe()
        observer.watch(
            open(reading, "rb"), member, lambda line: zookeeper.parse_client(member, line)
        )
        return writing

    return make


def test_a_claim_ends_with_the_process_that_made_it(observer, pipe):
    one, other = pipe(1), pipe(2)
    os.write(one, b"waits\nlea")
    observer.poll()
    assert observer.leading == set() and observer.waiting == {1}
    os.write(one, b"ds\n")
    os.write(other, b"leads\n")
    observer.poll()
    observer.poll()
    assert observer.leading == {1, 2}
    os.close(one)
    observer.poll()
    assert observer.leading == {2}
    assert [said.what for said in observer.said if said.member == 1] == [WAITS, LEADS, GONE]
    os.close(other)


def test_a_change_of_leader_counts_once_whatever_of_it_was_said():
    count = bench_peers_cases.false_failovers
    assert count([]) == 0
    assert count([Said(1, 1, FOLLOWS), Said(2, 2, LEADS)]) == 1
    assert count([Said(1, 1, GONE)]) == 1
    assert count([Said(1, 2, LEADS), Said(2, 2, FOLLOWS), Said(3, 1, WAITS)]) == 1


def row(system, **cases):
    return {"system": system, "setting": "as shipped", "cases": cases}


def test_the_table_has_medians_the_longest_and_the_ratio_to_bullring_of_the_same_run():
    base = row(bench_peers_report.BASE, crash={"samples_ns": [1_000_000, 2_000_000, 3_000_000]})
    other = row(
        "other",
        crash={"samples_ns": [5_000_000_000]},
        hang={"samples_ns": [1_000_000] * 3, "two_leaders": 1, "two_leaders_ns": [700_000]},
    )
    lines = bench_peers_report.table([base, other]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert {len(line) for line in cells} == {len(bench_peers_report.HEAD)}
    told = dict(zip(cells[0], cells[3]))
    assert dict(zip(cells[0], cells[2]))["crash"] == "2.00, 3.00 (3)"
    assert told["crash"] == "5,000, 5,000 (1)"
    assert told["x crash"] == "2,500"
    assert told["two leaders after SIGCONT"] == "1 of 3: 0.70, 0.70"
    assert told["handover"] == "-"
