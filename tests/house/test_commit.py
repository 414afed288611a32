"""The commit that a program says it was built from: of a checkout, of packed sources, of none."""

import subprocess

import pytest
from harness.node import ROOT

WRITES = ROOT / "src" / "base" / "commit" / "write.cmake"
ARCHIVED = "src/base/commit/archived"


def git(place, *words):
    names = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    done = subprocess.run(
        ["git", *names, *words], cwd=place, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def said(sources, output):
    subprocess.run(["cmake", f"-DSOURCE={sources}", f"-DOUTPUT={output}", "-P", WRITES], check=True)
    return output.read_text().partition('return "')[2].partition('"')[0]


@pytest.fixture
def sources(tmp_path):
    """As git has packed them, if it has."""
    place = tmp_path / "sources"
    (place / ARCHIVED).parent.mkdir(parents=True)
    (place / ARCHIVED).write_text("$Format:%H$\n")
    return place


@pytest.mark.parametrize(
    ("line", "commit"),
    [
        ("$Format:%H$", ""),
        ("0123456789abcdef0123456789abcdef01234567", "0123456789ab"),
        ("0123456789ab-dirty", "0123456789ab-dirty"),
    ],
)
def test_packed_sources_say_what_they_were_packed_from(sources, tmp_path, line, commit):
    (sources / ARCHIVED).write_text(line + "\n")
    git(tmp_path, "init", "--quiet")  # a checkout that is not theirs
    assert said(sources, tmp_path / "commit.cpp") == commit


def test_a_checkout_says_its_commit_and_whether_files_were_changed(sources, tmp_path):
    git(sources, "init", "--quiet")
    git(sources, "add", ".")
    git(sources, "commit", "--quiet", "-m", "x")
    commit = git(sources, "rev-parse", "HEAD")[:12]
    output = tmp_path / "commit.cpp"
    assert said(sources, output) == commit
    before = output.stat().st_mtime_ns
    assert said(sources, output) == commit
    assert output.stat().st_mtime_ns == before  # so nothing is built anew
    (sources / ARCHIVED).write_text("changed\n")
    assert said(sources, output) == f"{commit}-dirty"


def test_git_packs_the_commit_along():
    assert f"{ARCHIVED} export-subst" in (ROOT / ".gitattributes").read_text()
