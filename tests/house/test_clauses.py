"""Each clause of the rules (protocol/README.md, R1 to R9, C1 to C12) stands where the code decides
it, in a test that checks it, and in a mutant that breaks it."""

import functools
import re

import pytest
from harness.node import ROOT

# As the specification defines one: in bold. Elsewhere a number is a reference.
DEFINED = re.compile(r"\*\*([RC]\d+\.\d+[a-z]?|N\d)\b")
NAMED = re.compile(r"\b(?:[RC]\d+\.\d+[a-z]?|N\d)\b")
# Undertaker and guard are processes of src/; `tests/process/test_notice.py` has their clauses.
NOT_OF_THE_PROTOCOL = {"N1", "N2", "N5", "N6"}

# No seed or scenario tells these from the rule, as far as is known; unit tests do.
WITHOUT_A_MUTANT = {
    "C1.2": "a grant is given only if the request has the tag of the list on the voter's disk",
    "C1.3": "its own vote, which comes first, is given under that list alone",
    "C4.1": "a candidate that went on would ask in vain until T_camp, and stand again then",
    "C5.4": "two majorities would have to share this voter alone (members_test.cpp)",
    "C6.1": "no seed shows a list to a restarted voter whose promise counts (members_test.cpp)",
    "C10.1": "no host of the simulator is the only one of its cluster that is left, and told so",
    "C12.3": "no founder in the simulator is greeted by other founders (believing_test.cpp)",
    "C13.2": "addresses in the lists of the simulator are not dialled (callers_test.cpp)",
    "R2.2a": "a node stands where a majority dials it, and those would grant (voter_test.cpp)",
    "R3.1": "a candidacy begins with an empty lease: what a follower has counted is gone by then",
    "R3.5": "an end that has passed is never the q-th largest of a lease that is valid",
    "R4.4": "the simulator has no children that outlive their node",
    "R4.5": "no host of the simulator asks for untied grants",
    "R5.6": "each host of the simulator has somebody to do the work",
    "R6.7": "nothing outlives a node of the simulator, and A1 forbids the rest",
    "R7.3": "no seed and no scenario has epochs that outrun a disk for long",
    "R8.3": "one holder reads both clocks for each stamp, so both put its grants in one order",
    "R8.4": "a timer that waited for both clocks would only be late after a suspend",
}


def clauses_in(*files):
    return {clause for file in files for clause in NAMED.findall(file.read_text())}


def sources(folder, *kinds):
    return [file for kind in kinds for file in sorted((ROOT / folder).rglob(kind))]


@functools.cache
def defined():
    found = DEFINED.findall((ROOT / "protocol" / "README.md").read_text())
    assert len(found) == len(set(found)), "a clause is defined twice"
    return [clause for clause in found if clause not in NOT_OF_THE_PROTOCOL]


@functools.cache
def decided():
    return clauses_in(*sources("protocol", "*.cpp", "*.hpp"))


@functools.cache
def checked():
    return clauses_in(
        *sources("tests/unit", "*.cpp"),
        *sources("tests/sim", "*.py"),
        *sources("tests/scenarios", "*.txt"),
        *sources("protocol", "*/testdata/*.txt"),
    )


@functools.cache
def broken():
    patches = "\n".join(file.read_text() for file in sources("tests/mutants", "*.patch"))
    return set(NAMED.findall(" ".join(re.findall(r"^Breaks: (.*)$", patches, re.MULTILINE))))


def test_the_specification_has_clauses_of_each_rule():
    assert {clause.split(".")[0] for clause in defined()} >= {f"R{n}" for n in range(1, 10)} | {
        f"C{n}" for n in range(1, 13)
    }


@pytest.mark.parametrize("clause", defined())
def test_a_clause_is_decided_tested_and_broken(clause):
    assert clause in decided(), "no line of protocol/ names it"
    assert clause in checked(), "no unit test, test of the simulator or scenario names it"
    assert (clause in broken()) != (clause in WITHOUT_A_MUTANT), (
        "a mutant breaks it, and the table says that none can"
        if clause in broken()
        else "no mutant breaks it"
    )


def test_what_is_named_is_defined():
    every = decided() | checked() | broken() | set(WITHOUT_A_MUTANT)
    assert every - set(defined()) - NOT_OF_THE_PROTOCOL == set()
