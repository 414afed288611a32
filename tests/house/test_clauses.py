"""Each clause of the rules (protocol/README.md, and the READMEs of its parts) stands where the code
decides it, in a test that checks it, and in a mutant that breaks it."""

import functools
import re

import pytest
from harness.node import ROOT

SPECIFICATION = sorted((ROOT / "protocol").rglob("README.md"))
# As the specification defines one: in bold. Elsewhere a number is a reference.
DEFINED = re.compile(r"\*\*([RCNSPBTH]\d+\.\d+[a-z]?)\*\*")
NAMED = re.compile(r"\b[RCNSPBTH]\d+\.\d+[a-z]?\b")
RULE = re.compile(r"(?m)^#+ ([RCNSPBTH]\d+) ")
# Undertaker and guard are processes beside a node, and src/ decides what is said on a connection.
OF_SRC = re.compile(r"N[1256]\.|N3\.[123]$")

# No seed or scenario tells these from the rule, as far as is known; unit tests do.
WITHOUT_A_MUTANT = {
    "C1.2": "a grant is given only if the request has the tag of the list on the voter's disk",
    "C1.3": "its own vote, which comes first, is given under that list alone",
    "C1.7": "what such a session brings is judged again, by C1.5 (founding_test.cpp)",
    "C2.6": "a list that too few of its voters take is undone, by C2.3 (members_test.cpp)",
    "C3.3": "one that is behind hears of the list from free voters, too (believing_test.cpp)",
    "C4.1": "a candidate that went on would ask in vain until T_camp, and stand again then",
    "C5.4": "two majorities would have to share this voter alone (members_test.cpp)",
    "C5.5": "a grant bears the tag of its request's list, by C1.2, which is one of the two",
    "C5.6": "no host of the simulator asks for untied grants",
    "C6.1": "no seed shows a list to a restarted voter whose promise counts (members_test.cpp)",
    "C8.5": "a disk would have to be lost, and its node to end again in its silence",
    "C8.6": "no seed adds members to a cluster of one, and then takes the disk of the first",
    "C10.1": "no host of the simulator is the only one of its cluster that is left, and told so",
    "C11.6": "no seed gives the voters of one list two settled ids (believing_test.cpp)",
    "C11.8": "a list without the id does harm where one owner of it is left (believing_test.cpp)",
    "C11.9": "what their sessions bring is refused, by C11.4 (identity_test.cpp)",
    "C12.3": "no founder in the simulator is greeted by other founders (believing_test.cpp)",
    "C12.4": "only refusals for the list carry one (judging.cpp)",
    "C12.5": "no seed gives an id to a node that keeps another cluster's list (believing_test.cpp)",
    "C13.2": "addresses in the lists of the simulator are not dialled (callers_test.cpp)",
    "H1.3": "each host of the simulator has somebody to do the work (candidacies.txt)",
    "H1.5": "where a leader is to be found concerns its users (work_test.cpp)",
    "H3.1": "a client that is not told to end has lost its lease a little later (candidacies.txt)",
    "H3.4": "the same, and its node would wait for it until that is over (candidacies.txt)",
    "H3.5": "a client without a connection that is renewed leads on (candidacies.txt)",
    "H3.6": "no client of the simulator asks to be watched (candidacies.txt)",
    "N3.5": "a promise to a run that has ended covers nothing, and ends by time (notice_test.cpp)",
    "N4.3": "nothing outlives a node of the simulator, see R6.7",
    "R1.5": "R1.2 and R1.3 come to it, and the node's own assertion would stop it first",
    "R2.2a": "a node stands where a majority dials it, and those would grant (voter_test.cpp)",
    "R3.1": "a candidacy begins with an empty lease: what a follower has counted is gone by then",
    "R3.5": "an end that has passed is never the q-th largest of a lease that is valid",
    "R3.12": "a pause that goes on is no longer than that after any candidacy (campaign_test.cpp)",
    "R4.4": "the simulator has no children that outlive their node",
    "R5.6": "each host of the simulator has somebody to do the work",
    "R5.11": "no task of the simulator is ended by a guard",
    "R5.12": "a leader that gave way to nobody would be elected again (resign_test.cpp)",
    "R5.13": "a leader that takes over again disobeys its user, and no invariant (resign_test.cpp)",
    "R5.14": "the successor would stand a little later, in time for each bound (resign_test.cpp)",
    "R5.17": "one without work would hand over again, a few round trips later (work_test.cpp)",
    "R5.18": "the hold-off is over before the settling of a run is (preemption_test.cpp)",
    "R6.12": "a vote of a lost run would have to elect somebody, unheard of (recovery_test.cpp)",
    "R6.19": "no HELLO_ACK of the simulator is forged (recall_test.cpp)",
    "R6.20": "two that hold would both count a vote that was given to one (recall_test.cpp)",
    "R6.24": "no seed has two that refuse one node, and take it in turn (handshake_test.cpp)",
    "R7.3": "no seed and no scenario has epochs that outrun a disk for long",
    "R8.3": "one holder reads both clocks for each stamp, so both put its grants in one order",
    "R8.4": "a timer that waited for both clocks would only be late after a suspend",
    "R8.5": "a lease ends when its clocks say so, whenever its host wakes (time_test.cpp)",
    "R9.6": "no history of the simulator gets to the horizon by elections",
    "S1.2": "a session that lingers too long breaks no invariant (sessions_test.cpp)",
    "S2.2": "nobody in the simulator answers with a version that was not offered",
    "S3.2": "a HELLO of one that is no member has no place in the tables of the node",
    "S3.3": "no node would learn of its twin: twin_votes_too has what follows",
    "S3.4": "a dialler gives each of its sessions a number of its own",
}


def clauses_in(*texts):
    return {clause for text in texts for clause in NAMED.findall(text)}


def beside_code(file):
    """Its comments without the head, which says what the file is about and decides nothing."""
    text = file.read_text()
    return "\n".join(re.findall(r"//.*", text.partition("#pragma once\n")[2] or text))


def sources(folder, *kinds):
    return [file for kind in kinds for file in sorted((ROOT / folder).rglob(kind))]


@functools.cache
def defined():
    found = [clause for file in SPECIFICATION for clause in DEFINED.findall(file.read_text())]
    assert len(found) == len(set(found)), "a clause is defined twice"
    return found


def of_the_protocol():
    return [clause for clause in defined() if not OF_SRC.match(clause)]


@functools.cache
def decided():
    return clauses_in(*map(beside_code, sources("protocol", "*.cpp", "*.hpp")))


@functools.cache
def checked():
    files = [
        *sources("tests/unit", "*.cpp"),
        *sources("tests/sim", "*.py"),
        *sources("tests/scenarios", "*.txt"),
        *sources("protocol", "*/testdata/*.txt"),
    ]
    return clauses_in(*(file.read_text() for file in files))


@functools.cache
def broken():
    patches = "\n".join(file.read_text() for file in sources("tests/mutants", "*.patch"))
    return set(NAMED.findall(" ".join(re.findall(r"^Breaks: (.*)$", patches, re.MULTILINE))))


def test_the_specification_has_clauses_of_each_rule():
    rules = {"R": 9, "C": 13, "N": 6, "S": 3, "P": 2, "B": 2, "T": 2, "H": 3}
    assert {clause.split(".")[0] for clause in defined()} == {
        f"{letter}{n}" for letter, last in rules.items() for n in range(1, last + 1)
    }


@pytest.mark.parametrize("file", SPECIFICATION, ids=lambda file: file.parent.name)
def test_a_rule_has_a_heading_that_can_be_linked(file):
    text = file.read_text()
    assert {clause.split(".")[0] for clause in DEFINED.findall(text)} == set(RULE.findall(text))


@pytest.mark.parametrize("clause", of_the_protocol())
def test_a_clause_is_decided_tested_and_broken(clause):
    assert clause in decided(), "no comment beside code of protocol/ names it"
    assert clause in checked(), "no unit test, test of the simulator or scenario names it"
    assert (clause in broken()) != (clause in WITHOUT_A_MUTANT), (
        "a mutant breaks it, and the table says that none can"
        if clause in broken()
        else "no mutant breaks it"
    )


@pytest.mark.parametrize("clause", sorted(set(defined()) - set(of_the_protocol())))
def test_a_clause_of_the_processes_beside_a_node_is_decided_and_tested(clause):
    assert clause in clauses_in(*map(beside_code, sources("src", "*.cpp", "*.hpp")))
    tests = [*sources("tests/unit", "*.cpp"), *sources("tests/process", "*.py")]
    assert clause in clauses_in(*(file.read_text() for file in tests))


def test_what_is_named_is_defined():
    every = decided() | checked() | broken() | set(WITHOUT_A_MUTANT)
    assert every - set(defined()) == set()
