"""The targets of the documents are there, and their quotations stand in the sources."""

import re
from urllib.parse import unquote

import pytest
from harness import readme
from harness.node import ROOT

FOLDERS = ("include", "protocol", "scripts", "sim", "src", "tests")
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(file for name in FOLDERS for file in (ROOT / name).rglob("*.md")),
]
PAGES = [*sorted((ROOT / "src" / "manual").glob("*.md")), ROOT / "include" / "libbullring.3.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A file of this tree, as the documents write it.
NAMED = re.compile(r"`((?:tests|scripts|src|sim|protocol|include)/[\w./-]+)`")


def prose(document):
    """Its text without the blocks of code: fenced ones, or indented ones where none is fenced."""
    text, fenced = readme.FENCE.subn("", document.read_text())
    if fenced:
        return text
    return "\n".join(line for line in text.split("\n") if not line.startswith("    "))


def anchors(document):
    """The headings, as GitHub makes anchors of them."""
    found = set()
    for line in prose(document).split("\n"):
        if re.match(r"#+ ", line):
            text = line.lstrip("#").strip().lower()
            found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def links():
    """(document, target) of each link that stays in the tree."""
    for document in DOCUMENTS:
        for link in LINK.findall(prose(document)):
            if not link.startswith(("http:", "https:")):
                yield pytest.param(document, link, id=f"{document.relative_to(ROOT)}: {link}")


def named_files():
    for document in DOCUMENTS:
        for name in NAMED.findall(prose(document)):
            yield pytest.param(name, id=f"{document.relative_to(ROOT)}: {name}")


@pytest.mark.parametrize(("document", "link"), links())
def test_a_link_leads_somewhere(document, link):
    path, _, anchor = link.partition("#")
    target = (document.parent / unquote(path)).resolve() if path else document
    assert target.exists()
    if anchor:
        assert anchor in anchors(target)


@pytest.mark.parametrize("name", named_files())
def test_a_named_file_exists(name):
    assert (ROOT / name).exists()


# In a table of tests: a file, one of its functions, one of its doctest cases.
PART = re.compile(r"`(tests/[\w./-]+)`|`(test_\w+)`|\"(\w[^\"]*: [^\"]*)\"")
TABLES_OF_TESTS = (ROOT / "tests" / "README.md", ROOT / "SECURITY.md")


def named_tests(document):
    """(row, file, test) of each test that a row or a sentence of it names; test None: all."""
    file = None
    for line in document.read_text().splitlines():
        row = line.rpartition("|")[0] or line
        for path, function, case in PART.findall(row):
            file = path or file
            yield row, file, f"def {function}(" if function else case or None


def attacks():
    for document in TABLES_OF_TESTS:
        for _, file, test in named_tests(document):
            yield file, test


@pytest.mark.parametrize(("file", "test"), attacks())
def test_an_attack_is_made_by_the_test_that_is_named(file, test):
    source = re.sub(r'"\s*"', "", (ROOT / file).read_text())
    assert test is None or test in source


def test_there_are_attacks():
    assert sum(test is not None for _, test in attacks()) > 50


def test_each_promise_of_security_names_a_test():
    rows = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line[:2] == "| "]
    promises = [row for row in rows if row != "| promise | test |"]
    held = {f"{row}|" for row, _, _ in named_tests(ROOT / "SECURITY.md")}
    assert len(promises) > 15
    assert [row for row in promises if row not in held] == []


def test_the_poller_in_the_manual_is_the_one_that_is_tested():
    source = (ROOT / "tests" / "examples" / "poller.cpp").read_text()
    page = (ROOT / "include" / "libbullring.3.md").read_text()
    assert f"```cpp\n{source[source.index('int main'):]}```\n" in page, "they differ"


def test_the_client_in_the_manual_is_the_one_that_is_tested():
    source = (ROOT / "examples" / "shell" / "leader.sh").read_text()
    page = (ROOT / "src" / "manual" / "bullring-attach.7.md").read_text()
    assert f"```sh\n{source[source.index('set -u'):]}```\n" in page, "they differ"


def test_the_readme_is_a_first_page():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 300


def test_each_block_of_commands_in_the_readme_is_run_by_a_test():
    there = {
        (heading, index)
        for heading, blocks in readme.sections().items()
        for index in range(sum(language == "sh" for language, _ in blocks))
    }
    calls = re.compile(r'readme\.commands\("([^"]+)"(?:, (\d+))?\)')
    taken = [
        (heading, int(index or 0))
        for file in (ROOT / "tests").glob("*/test_*.py")
        for heading, index in calls.findall(file.read_text())
    ]
    assert len(there) > 5
    assert sorted(taken) == sorted(there)


def test_the_commands_of_the_readme_are_taken_one_by_one():
    text = "# A\n```sh\n# no heading\nb c   # why\n```\n## D\n```\ne\n```\n"
    blocks = readme.sections(text)
    assert blocks == {"A": [("sh", "# no heading\nb c   # why\n")], "D": [("", "e\n")]}
    block = readme.Block("b c   # why\nd\n")
    assert block.take("b") == "b c"
    with pytest.raises(AssertionError):
        block.take("e")


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_a_page_of_the_manual_begins_with_what_its_reader_came_for(page):
    text = page.read_text()
    name, section = page.name.removesuffix(".md").rsplit(".", 1)
    title = rf"# {re.escape(name)}\({section}\)\n\n## NAME\n\n{re.escape(name)} - \S.*\n\n"
    assert re.match(title, text)
    headings = re.findall(r"(?m)^## (.*)$", text)
    if section != "7":
        assert headings[1] == "SYNOPSIS"
    # The heads of documents that stand elsewhere are short.
    if page.name not in ("bullring-protocol.7.md", "bullring-sim.1.md"):
        assert "EXAMPLE" in headings[1:3]


def links_to_pages():
    for document in DOCUMENTS:
        for title, path in re.findall(r"\[([\w.-]+\(\d\))\]\(([^)#]+)", prose(document)):
            yield pytest.param(
                document, title, path, id=f"{document.relative_to(ROOT)}: {title} {path}"
            )


@pytest.mark.parametrize(("document", "title", "path"), links_to_pages())
def test_a_link_to_a_page_leads_to_that_page(document, title, path):
    target = (document.parent / path).resolve()
    documents = {"bullring-protocol(7)": "protocol", "bullring-sim(1)": "sim"}
    if target.name == "README.md":
        assert target == ROOT / documents[title] / "README.md"
    else:
        assert target.name == title.replace("(", ".").replace(")", ".md")


def test_the_example_of_a_test_of_real_processes_is_the_one_that_runs():
    folder = ROOT / "tests" / "process"
    example = (folder / "test_example.py").read_text()
    assert f"```python\n{example}```\n" in (folder / "README.md").read_text(), "they differ"


def test_what_the_page_on_real_processes_names_is_there():
    folder = ROOT / "tests" / "process"
    rows = re.findall(r"(?m)^\| (`.*?`) \| (.*) \|$", (folder / "README.md").read_text())
    assert len(rows) > 5
    for files, given in rows:
        paths = [
            ROOT / name if "/" in name else folder / name for name in re.findall(r"`(.*?)`", files)
        ]
        text = "".join(path.read_text() for path in paths)
        for name in re.findall(r"`(\w+)(?:\(\w*\))?`", given):
            assert re.search(rf"(?m)\b(def|class) {name}\b|^{name} = |self\.{name} = ", text), name
