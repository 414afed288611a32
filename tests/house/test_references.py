"""The things that comments and documents refer to are there: files, clauses, messages, commands."""

import re

from harness.node import ROOT
import test_clauses
from test_clauses import NAMED

FOLDERS = ("include", "protocol", "scripts", "sim", "src", "tests")
KINDS = {".cpp", ".hpp", ".h", ".py", ".md", ".txt", ".cmake", ".in", ".lua", ".sh", ".toml", ""}
# They plant files in trees of their own.
PLANTED = ("tests/house/",)
MADE_BY_THE_BUILD = {"include/bullring/version.hpp"}
PATH = re.compile(r"(?<![\w./-])(?:include|protocol|scripts|sim|src|tests)(?:/[\w.-]*\w)+")


def texts():
    """(path, text) of what people write, in all rooms."""
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            path = file.relative_to(ROOT).as_posix()
            if file.is_file() and file.suffix in KINDS and not path.startswith(PLANTED):
                yield path, file.read_text(errors="replace")
    for file in sorted(ROOT.glob("*")):
        if file.suffix in {".md", ".txt", ".toml", ".json"}:
            yield file.name, file.read_text()


TEXTS = dict(texts())


def gone(text):
    """The paths of files, with an ending, that the text names and the tree has not."""
    for name in PATH.findall(text):
        is_file = re.search(
            r"\.(cpp|hpp|h|py|md|txt|cmake|in|lua|toml|patch|html|json|ya?ml)$", name
        )
        if is_file and name not in MADE_BY_THE_BUILD and not (ROOT / name).exists():
            yield name


def test_the_files_that_are_named_are_there():
    assert {path: found for path in TEXTS if (found := sorted(set(gone(TEXTS[path]))))} == {}


def test_a_file_that_has_gone_is_found():
    assert list(gone("// see src/nowhere.hpp, tests/README.md, and build/src/x.cpp")) == [
        "src/nowhere.hpp"
    ]


# ---- Clauses and rules.

SPECIFICATION = TEXTS["protocol/README.md"]
CLAUSES = set(test_clauses.defined())
RULES = {clause.partition(".")[0] for clause in CLAUSES}
RULE = re.compile(r"\b(?:PROTOCOL|\((?:see )?)\s?([RC]\d+)\b(?!\.)")
SECTION = re.compile(r"§(\d+)\b")
SECTIONS = set(re.findall(r"(?m)^## (\d+)\. ", SPECIFICATION))
# Other documents have sections, too: what follows their names is not ours.
FOREIGN = re.compile(r"(RFC \d+|Raft|paper|POSIX|thesis)[^.\n]{0,40}§[\d.]+")
SOURCES = [path for path in TEXTS if path.startswith(("include/", "protocol/", "sim/", "src/"))]


def unknown(text):
    text = FOREIGN.sub("", text)
    yield from (one for one in NAMED.findall(text) if one not in CLAUSES)
    yield from (one for one in RULE.findall(text) if one not in RULES)
    yield from (f"§{one}" for one in SECTION.findall(text) if one not in SECTIONS)


def test_the_clauses_and_sections_that_are_named_are_there():
    assert {path: found for path in SOURCES if (found := sorted(set(unknown(TEXTS[path]))))} == {}


def test_a_clause_that_is_not_there_is_found():
    text = "(PROTOCOL C99), R3.99, §99, and RFC 9112, §3.2; what is there: R3.1, (R4), §12"
    assert list(unknown(text)) == ["R3.99", "C99", "§99"]


# ---- The messages of the wire.

# Where the specification has a shorter name than the code.
ALSO = {
    "heartbeat": "HB",
    "leader_is": "LEADER",
    "token_ack": "TACK",
    "coordinator_token": "CTOKEN",
    "observer_state": "STATE",
    "observer_change": "CHANGE",
    "observer_refused": "REFUSED",
}


def rows_of_the_wire(specification):
    """{number: name} of the table of §4."""
    table = specification.partition("\n## 4. ")[2].partition("\n## 5. ")[0]
    for numbers, names in re.findall(r"(?m)^\| ([\d –]+) \| ([A-Z_, ·]+) \|", table):
        low, dash, high = numbers.partition("–")
        each = range(int(low), int(high) + 1) if dash else map(int, numbers.split())
        yield from zip(each, re.split(r"[, ·]+", names), strict=True)


def test_the_specification_has_each_type_of_message():
    enum = TEXTS["src/wire/message_types.hpp"].partition("enum class Type")[2].partition("};")[0]
    types = {int(number): word for word, number in re.findall(r"(\w+) = (\d+)", enum)}
    assert len(types) > 20
    assert dict(rows_of_the_wire(SPECIFICATION)) == {
        number: ALSO.get(word, word.upper()) for number, word in types.items()
    }


# ---- Lists of commands.

LIST = re.compile(r"`[a-z ]+`(?:(?:,| and| or|, and) `[a-z ]+`)+")


def incomplete(text):
    """Lists of what an administrator may do that leave a command out."""
    for found in LIST.findall(" ".join(text.split())):
        words = set(re.findall(r"`([a-z]+)", found))
        if {"resign", "drill"} <= words and "member" not in words:
            yield found


def test_a_list_of_what_needs_an_administrator_is_whole():
    pages = [path for path in TEXTS if path.startswith(("src/manual/", "protocol/"))]
    assert {path: found for path in pages if (found := list(incomplete(TEXTS[path])))} == {}


def test_the_decision_on_what_is_stored_names_each_durable_value():
    durable = SPECIFICATION.partition("**Durable**")[2].partition("**Volatile")[0]
    values = re.findall(r"(?m)^- `(\w+)`:", durable)
    assert {"hw", "K"} <= set(values)
    decision = TEXTS["protocol/decisions/0005-no-replicated-store.md"]
    assert [value for value in values if f"`{value}`" not in decision] == []
