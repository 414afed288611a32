"""Users have the sources below their own project."""


import pytest
from harness.node import ROOT

pytestmark = [pytest.mark.long, pytest.mark.alone]


def test_fetch_content(installed, tmp_path):
    folder = installed.build(
        ROOT / "tests" / "library" / "subproject", f"-DBULLRING_SOURCE={ROOT}", "-GNinja"
    )
    installed.assert_leads(folder / "consumer", tmp_path)
