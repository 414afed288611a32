"""The draws of scripts/chaos depend on its seed alone and leave nothing out, and its judges can
fail.
"""

import itertools
import socket
import struct

import chaos.play  # noqa: F401 - it registers all kinds of faults
import pytest
from harness.audit import Leadership
from chaos import groups
from chaos.__main__ import conclude
from chaos.course import KINDS, Course
from chaos.fault import CLASSES
from chaos.judge import epochs_that_do_not_rise
from chaos.members import Roll
from chaos.play import Outcome
from chaos.report import Report
from chaos.shim import MILLION, Line
from chaos.switch import reply_to

RATE, ROUND_MS = 6.0, 20_000


def drawn(seed, security="none", count=15, **options):
    """The rounds of about five minutes."""
    course = Course(seed, 5, security, RATE, ROUND_MS, **options)
    return list(itertools.islice(course.rounds(), count))


def test_a_seed_draws_the_same_course_each_time():
    assert drawn(7, "tls") == drawn(7, "tls")


def test_another_seed_draws_another_course():
    assert drawn(7) != drawn(8)


@pytest.mark.parametrize("security", ["none", "key", "tls"])
@pytest.mark.parametrize("seed", range(20))
def test_five_minutes_have_each_kind_of_fault_several_times(seed, security):
    faults = [fault.kind for a_round in drawn(seed, security) for fault in a_round.faults]
    expected = Course(seed, 5, security, RATE, ROUND_MS).kinds()
    assert set(faults) == set(expected)
    assert min(map(faults.count, expected)) >= 4


def test_each_kind_can_happen_somewhere_and_is_known():
    everywhere = set()
    for security in ("none", "key", "tls"):
        everywhere |= set(Course(1, 5, security, RATE, ROUND_MS).kinds())
    assert everywhere == {kind.name for kind in KINDS} == set(CLASSES)


def outcome(struck=(), problems=(), violations=(), missed=None):
    made = Outcome(drawn(1, count=1)[0])
    made.struck = {kind: 1 for kind in struck}
    made.missed = dict(missed or {})
    made.problems = list(problems)
    made.violations = list(violations)
    return made


@pytest.mark.parametrize(
    ("found", "status"),
    [
        ({"struck": ["kill"]}, 0),
        ({}, 0),
        ({"missed": {"kill": 7}}, 0),
        ({"missed": {"kill": 8}}, 1),
        ({"struck": ["kill"], "missed": {"kill": 8}}, 0),
        ({"struck": ["kill"], "problems": ["no leader"]}, 1),
        ({"struck": ["kill"], "problems": ["no leader"], "violations": ["two leaders"]}, 3),
    ],
)
def test_the_exit_status_tells_safety_from_all_else(found, status, capsys):
    report = Report(["kill"])
    report.add(outcome(**found))
    assert conclude(report) == status
    assert ("violations of safety" in capsys.readouterr().out) == (status == 3)


def test_a_kind_that_never_struck_is_named_and_one_that_was_hardly_tried():
    report = Report(["kill", "stop", "loss"])
    report.add(outcome(struck=["kill"], missed={"stop": 7}))
    assert (report.never_struck(), report.hardly_tried()) == ([], ["stop", "loss"])
    report.add(outcome(missed={"stop": 1}))
    assert (report.never_struck(), report.hardly_tried()) == (["stop"], ["loss"])
    report.add(outcome(struck=["stop", "loss"]))
    assert (report.never_struck(), report.hardly_tried()) == ([], [])


def members(tag, **votes):
    listed = [{"id": int(name[1:]), "vote": vote} for name, vote in votes.items()]
    return {"event": "members", "tag": tag, "members": listed}


def test_the_newest_list_says_who_is_a_member_and_whose_vote_can_be_spared():
    roll = Roll([1, 2, 3])
    roll.note({"event": "started"})
    assert roll.votes == {1: True, 2: True, 3: True}
    assert roll.can_spare(3)
    roll.note(members("9.2", n1=True, n2=True, n4=False))
    roll.note(members("9.1", n1=True))
    assert roll.votes == {1: True, 2: True, 4: False}
    assert roll.can_spare(4)
    assert not roll.can_spare(2)
    roll.note(members("10.0", n1=True))
    assert roll.votes == {1: True}


def test_a_group_of_cgroup_v2_is_written_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "VERSION", groups.Version2)
    home = tmp_path / "home"
    home.mkdir()
    group = groups.Group(tmp_path, home)
    group.move(11)
    group.freeze()
    group.limit(1000, 200_000)
    written = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    assert written == {"cgroup.procs": "11", "cgroup.freeze": "1", "cpu.max": "1000 200000"}
    (tmp_path / "cpu.stat").write_text("usage_usec 5\nnr_periods 9\nnr_throttled 4\n")
    assert group.throttled() == 4
    group.limit(None, 200_000)
    assert (tmp_path / "cpu.max").read_text() == "max 200000"
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    assert group.thaw()
    assert (tmp_path / "cgroup.freeze").read_text() == "0"
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    assert not group.thaw()
    assert group.let_go() == 1
    assert (home / "cgroup.procs").read_text() == "11"


def led(node, epoch, start_ns):
    return Leadership(node, epoch, start_ns, None, None)


def test_epochs_that_rise_are_no_problem_also_where_leaderships_overlap():
    assert epochs_that_do_not_rise([led(1, 1, 10), led(2, 2, 11), led(1, 3, 30)]) == []


@pytest.mark.parametrize(
    "second",
    [led(2, 5, 20), led(1, 5, 20), led(1, 4, 20)],
    ids=["of another node", "the same", "a lower one"],
)
def test_epochs_that_do_not_rise_are_found(second):
    assert len(epochs_that_do_not_rise([led(1, 5, 10), second])) == 1


def test_a_time_that_a_bent_clock_showed_is_turned_back():
    line = Line(1_000)
    line.bend(5_000_000, 80_000)
    line.bend(9_000_000, -400_000)
    line.bend(20_000_000, 0)
    for true_ns in (1_000, 4_999_999, 5_000_001, 8_000_000, 9_000_000, 15_000_000, 30_000_000):
        shown = line_at(line, true_ns)
        assert abs(line.true(shown) - true_ns) <= 2


def line_at(line, true_ns):
    """As the preloaded library computes it."""
    begin, shown, ppm = [piece for piece in line.pieces if piece[0] <= true_ns][-1]
    return shown + (true_ns - begin) + int((true_ns - begin) * ppm / MILLION)


def question(name, kind=1):
    labels = b"".join(bytes([len(word)]) + word.encode() for word in name.split("."))
    return struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)


def test_the_name_server_knows_the_nodes():
    reply = reply_to(question("n2"), {"n2": "10.99.0.2"})
    assert reply[-4:] == socket.inet_aton("10.99.0.2")
    assert struct.unpack_from("!HHHH", reply)[3] == 1


@pytest.mark.parametrize(
    ("asked", "failing", "status"),
    [(question("other"), False, 3), (question("n2"), True, 2), (question("n2", 28), False, 0)],
    ids=["an unknown name", "when it fails", "IPv6"],
)
def test_the_name_server_has_no_answer(asked, failing, status):
    reply = reply_to(asked, {"n2": "10.99.0.2"}, failing)
    _, flags, _, answers = struct.unpack_from("!HHHH", reply)
    assert (flags & 15, answers) == (status, 0)


@pytest.mark.parametrize("size", [0, 11, 12, 16])
def test_what_is_no_question_is_not_answered(size):
    assert reply_to(question("n2")[:size], {}) is None
