"""The fixture of the tests of the simulator."""

import pytest
from simulator import Simulator


@pytest.fixture
def run_sim(tmp_path):
    """Runs the simulator in the test's own folder."""
    return Simulator(tmp_path)
