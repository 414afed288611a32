# ctest-processors: 1
"""What the documents point at is there, and what they quote from the sources is what stands there."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from urllib.parse import unquote

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include", "protocol", "scripts", "sim", "src", "tests")
DOCUMENTS = [*ROOT.glob("*.md"), *(file for name in FOLDERS for file in (ROOT / name).rglob("*.md"))]
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


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        followed = 0
        for document in DOCUMENTS:
            for link in LINK.findall(prose(document)):
                if link.startswith(("http:", "https:")):
                    continue
                followed += 1
                path, _, anchor = link.partition("#")
                target = (document.parent / unquote(path)).resolve() if path else document
                with self.subTest(f"{document.relative_to(ROOT)}: {link}"):
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))
        self.assertGreater(followed, 50)

    def test_named_files_exist(self):
        named = 0
        for document in DOCUMENTS:
            for name in NAMED.findall(prose(document)):
                named += 1
                with self.subTest(f"{document.relative_to(ROOT)}: {name}"):
                    self.assertTrue((ROOT / name).exists())
        self.assertGreater(named, 20)

    def test_the_poller_in_the_readme_is_the_one_that_is_tested(self):
        source = (ROOT / "tests" / "examples" / "poller.cpp").read_text()
        main = source[source.index("int main") :].rstrip("\n").split("\n")
        quoted = "\n".join(f"    {line}".rstrip() for line in main)
        self.assertTrue(f"\n{quoted}\n" in (ROOT / "README.md").read_text(), "they differ")


class Units(unittest.TestCase):
    UNIT = re.compile(r"(?m)^    # /etc/systemd/system/(\S+)\n((?:    .*\n|\n(?=    ))+)")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_systemd_understands_all_of_the_units_in_the_readme(self):
        units = self.UNIT.findall((ROOT / "README.md").read_text())
        self.assertEqual(["poller.service", "bullring.service"], [name for name, _ in units])
        with tempfile.TemporaryDirectory(prefix="bullring-units-") as folder:
            for name, text in units:
                # Only what is installed here can be executed here.
                text = text.replace("/usr/local/bin/bullring", "/bin/true").replace("\n    ", "\n")
                file = pathlib.Path(folder) / name
                file.write_text(text[4:])
                done = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True)
                with self.subTest(name):
                    self.assertNotIn(name, done.stdout + done.stderr)
                    self.assertEqual(0, done.returncode, done.stderr)


if __name__ == "__main__":
    unittest.main()
