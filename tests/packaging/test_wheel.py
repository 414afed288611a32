"""The wheel of the Python package: made without a network, installed, typed, and it leads."""

import pathlib
import re
import shutil
import subprocess

import pytest
from harness.cluster import Cluster
from harness.node import clean_environment
from harness.packaging_files import ROOT, run

PYTHON = "/usr/bin/python3"  # for which Debian's packages are
MAKE = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """As scripts/packaging/debian/rules makes it."""
    sources = tmp_path_factory.mktemp("sources") / "python"
    shutil.copytree(ROOT / "src" / "python", sources)
    name = run(PYTHON, "-c", MAKE, cwd=sources).splitlines()[-1]
    return sources / "dist" / name


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The interpreter of an environment that has it."""
    place = tmp_path_factory.mktemp("environment")
    run(PYTHON, "-m", "venv", place)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel)
    return python


def test_its_version_is_that_of_the_project(wheel, installed):
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert wheel.name == f"bullring-{version}-py3-none-any.whl"
    shown = run(installed, "-c", "import bullring; print(bullring.__version__, bullring.__file__)")
    shown_version, place = shown.split()
    assert shown_version == version
    sources = {file.name for file in (ROOT / "src" / "python" / "bullring").glob("*.*")}
    there = {file.name for file in pathlib.Path(place).parent.glob("*.*")}
    assert there == sources and "py.typed" in there


USER = """
import bullring

def task(lead: bullring.Lead) -> None:
    reveal_type(lead.epoch)

with bullring.lead("/nowhere") as lead:
    task(lead)
    lead.wait("long")
"""


def test_its_users_are_checked_by_its_types(installed, tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER)
    words = ["mypy", "--strict", "--cache-dir=/dev/null", "--python-executable", installed, file]
    done = subprocess.run(words, capture_output=True, text=True)
    assert 'Revealed type is "builtins.int"' in done.stdout
    assert 'Argument 1 to "wait" of "Lead" has incompatible type "str"' in done.stdout
    assert "Found 1 error in 1 file" in done.stdout


LEADS = "import bullring, sys\nwith bullring.lead(sys.argv[1]) as lead: print(lead.epoch)"


def test_it_leads(installed):
    with Cluster(3, label="wheel") as cluster:
        cluster.start().wait_settled()
        printed = run(installed, "-c", LEADS, cluster[1].data_dir, env=clean_environment())
        assert int(printed) > 0
