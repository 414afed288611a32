"""bullring-troubleshooting(7) has each line by which the program warns or fails, and no old one."""

import os
import re

from harness import readme
from harness.node import ROOT

PAGE = readme.FENCE.sub("", (ROOT / "src/manual/bullring-troubleshooting.7.md").read_text())

STRING = r'"((?:\\.|[^"\\])*)"'
LITERALS = re.compile(rf"(?:{STRING}\s*)+")
COMMENT = re.compile(STRING + r"|//[^\n]*|#include [^\n]*")

# ---- What the program can say.

# A line of the log or of stderr, and what a function that fails returns: its caller prints that.
ALWAYS = re.compile(r"print_error|complain|start_notes")
FAILS = re.compile(r"unexpected|runtime_error|NodeError|fail")
CALL = re.compile(
    rf"\b({FAILS.pattern}|log|log_limited|tell_|complain|print_log_line|print_error"
    r"|start_notes\.\w+_back|Note)[({]"
)
LOUD = re.compile(r"(?:LogLevel|Level)::(?:warn|error|warning)\b")
ROOMS = ["protocol", *(f"src/{room}" for room in ("api", "base", "cli/commands", "http", "node"))]
ROOMS += [f"src/{room}" for room in ("observe", "security", "settings", "task", "verify", "watch")]
# Their functions make texts that become lines elsewhere.
MAKERS = {
    "src/base/os/descriptors.cpp",
    "src/node/known_members.cpp",
    "src/node/node_files.cpp",
    "src/security/openssl_reason.cpp",
    "src/settings/check_files.cpp",
    "src/settings/survival_note.cpp",
    "src/task/supervisor/guard_run.cpp",
    "src/verify/drill/tally.cpp",
    "src/watch/undertaker/undertaker.hpp",
}
# Failures that tell what is wrong with a value that somebody has typed.
TYPED = re.compile(r"src/(base/text|settings/|verify/audit|cli/commands/(cert|key)_)")
# A line that says what would be right.
SELF_EXPLAINED = "; expected "
# A line without an entry, and the reason why it needs none.
NO_ENTRY = {
    "raise that limit, and ask again": "a remedy of doctor's",
    "correct it, or let this user read it": "a remedy of doctor's",
    "it is no JSON object": "a reason in the line of audit that the page has",
    "there is a newer one, or one of another cluster": "the entry on that line says so",
    "ends with a character that no key ends with; is it whole?": "it says what to look for",
    "no reason given": "in the place of a reason",
    "it is no base64": "a reason in the line on a damaged file",
    "in its certificate or one above it: {}": "OpenSSL's own reason follows",
    "its certificate or one above it: {}": "OpenSSL's own reason follows",
    "a guard is started by bullring run and bullring lead alone": "nobody does it by accident",
}


def without_comments(text):
    return COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else "", text)


def call_at(text, begin):
    """From the bracket at `begin` to the one that closes it."""
    depth = 0
    at = begin
    while at < len(text):
        string = re.compile(STRING).match(text, at)
        at = string.end() if string else at + 1
        if string is None:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at - 1], 0)
            if depth == 0:
                break
    return text[begin:at]


def told_by(call):
    """Its texts as one, with {} for what stands between them."""
    told = ""
    end = 0
    for found in re.finditer(STRING, call):
        told += ("{}" if call[end : found.start()].strip() else "") + found[1].replace('\\"', '"')
        end = found.end()
    return re.sub(r"\{[^}]*\}", "{}", told).removeprefix("{}")


def lines_in(path, source):
    text = without_comments(source)
    for found in CALL.finditer(text):
        name = found[1]
        call = call_at(text, found.end() - 1)
        told = told_by(call)
        if FAILS.fullmatch(name):
            if TYPED.match(path):
                continue
        elif not ALWAYS.match(name) and not LOUD.search(call):
            continue
        # The kind of a limited line comes first.
        yield told.partition("{}")[2] if name == "log_limited" else told
    if path in MAKERS:
        yield from (told_by(found[0]) for found in LITERALS.finditer(text))


def words(text):
    return re.sub(r"[\"'`;:,.()]", " ", text).split()


def runs(told):
    """The runs of words that stand in a line as they are. A single word tells nothing."""
    each = (words(run) for run in re.split(r"\{\}|…", told))
    return [run for run in each if len(run) > 1]


def sources(folders):
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*.[ch]pp")):
            yield file.relative_to(ROOT).as_posix(), file.read_text()


def is_quoted(told, page=PAGE):
    """Four words of it that follow each other, or a shorter run, stand in a quotation."""
    quoted = " | ".join(" ".join(words(span)) for span in re.findall(r"`([^`]+)`", page))
    for run in runs(told):
        size = min(len(run), 4)
        for at in range(len(run) - size + 1):
            if f" {' '.join(run[at : at + size])} " in f" {quoted} ":
                return True
    return False


def test_each_line_has_an_entry():
    lines = {
        (path, told)
        for path, source in sources(ROOMS)
        for told in lines_in(path, source)
        if runs(told) and SELF_EXPLAINED not in told and told not in NO_ENTRY
    }
    assert len(lines) > 100
    missing = sorted(f"{path}: {told}" for path, told in lines if not is_quoted(told))
    assert missing == [], "give each an entry in the page, or a reason in NO_ENTRY"


def test_what_needs_no_entry_is_still_said():
    said = {
        told_by(found[0])
        for _, source in sources(ROOMS)
        for found in LITERALS.finditer(without_comments(source))
    }
    assert set(NO_ENTRY) - said == set()


def test_a_line_is_found_in_its_call():
    source = """
    // log(LogLevel::warn, "not this one");
    log(LogLevel::info, "nor this one");
    log_limited(LogLevel::warn, "kind", {id}, "peer " + id + ": it does "
                "not \\"read\\" (" + why() + ")");
    return tl::unexpected(fmt::format("cannot write {}: {}", path, why));
    """
    assert [told.replace("\\", "") for told in lines_in("src/node/a.cpp", source)] == [
        'peer {}: it does not "read" ({})',
        "cannot write {}: {}",
    ]
    assert is_quoted("peer {}: it does not read its session", "`peer 3: it does not read …`")
    assert not is_quoted("peer {}: it does not read its session", "it does not read, `peer 3: …`")


# ---- What the page quotes.

# A number, a path, an address, a flag, a thing in quotes, what is left out: one value of many.
VALUE = re.compile(r"""'[^']*'|"[^"]*"|\S*[\d/=…_]\S*|-*\b[A-Z]{4,}\S*|--\S+:""")
OF_THE_SYSTEM = {os.strerror(number) for number in range(1, 134)} | {"Name or service not known"}
REASON = re.compile("|".join(map(re.escape, sorted(OF_THE_SYSTEM, key=len, reverse=True))))


def threes(run):
    """A run is recognised by three words that follow each other, or as a whole."""
    return {tuple(run[at : at + 3]) for at in range(max(len(run) - 2, 1))}


def is_said(run, said):
    """Each word stands in something that the program says; two alone may be anybody's."""
    known = set()
    for at in range(len(run)):
        for size in (1, 2, 3):
            known |= {*range(at, at + size)} if tuple(run[at : at + size]) in said else set()
    return len(run) < 3 or known >= {*range(len(run))}


def stale(page, said):
    """The quotations at the head of an entry that the program says nowhere."""
    for line in page.split("\n"):
        for span in re.findall(r"`([^`]+)`", line) if line.startswith("`") else ():
            parts = VALUE.sub("|", REASON.sub("|", span)).split("|")
            if not all(is_said(words(part), said) for part in parts):
                yield span


def test_what_the_page_quotes_is_said():
    said = set()
    for _, source in sources(("protocol", "src")):
        for found in LITERALS.finditer(without_comments(source)):
            for run in map(words, re.split(r"\{\}|…", told_by(found[0]))):
                said |= threes(run)
    assert sorted(set(stale(PAGE, said))) == []
    assert list(stale("`the lock is held by nobody`\n:   Text.", said)) != []
