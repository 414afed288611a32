"""What the documents point at is there, and what they quote from the sources stands there."""

import re
import shutil
import subprocess
from urllib.parse import unquote

import pytest
from bullring_node import ROOT

pytestmark = pytest.mark.beside

FOLDERS = ("include", "protocol", "scripts", "sim", "src", "tests")
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(file for name in FOLDERS for file in (ROOT / name).rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A file of this tree, as the documents write it.
NAMED = re.compile(r"`((?:tests|scripts|src|sim|protocol|include)/[\w./-]+)`")


def prose(document):
    """Its text without the blocks of code."""
    lines = document.read_text().split("\n")
    return "\n".join(line for line in lines if not line.startswith("    "))


def anchors(document):
    """The headings, as GitHub makes anchors of them."""
    found = set()
    for line in document.read_text().split("\n"):
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


def test_the_poller_in_the_readme_is_the_one_that_is_tested():
    source = (ROOT / "tests" / "examples" / "poller.cpp").read_text()
    main = source[source.index("int main") :].rstrip("\n").split("\n")
    quoted = "\n".join(f"    {line}".rstrip() for line in main)
    assert f"\n{quoted}\n" in (ROOT / "README.md").read_text(), "they differ"


UNIT = re.compile(r"(?m)^    # /etc/systemd/system/(\S+)\n((?:    .*\n|\n(?=    ))+)")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize(("name", "text"), UNIT.findall((ROOT / "README.md").read_text()))
def test_systemd_understands_a_unit_in_the_readme(tmp_path, name, text):
    # Only what is installed here can be executed here.
    text = text.replace("/usr/local/bin/bullring", "/bin/true").replace("\n    ", "\n")
    file = tmp_path / name
    file.write_text(text[4:])
    done = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True)
    assert name not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
