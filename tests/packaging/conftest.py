"""The fixtures of the tests of what is packaged."""

import pytest
from harness.packaging_files import ROOT, run


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The packages by their names, made by scripts/package, which lets lintian look at them."""
    folder = tmp_path_factory.mktemp("packages")
    run(ROOT / "scripts" / "package", "--lint", "--output", folder)
    return {file.name.split("_")[0]: file for file in folder.glob("*.deb")}
