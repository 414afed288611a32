"""The formulas that `scripts/bench members` draws beside what it measures."""

import pytest
from bench import growth


@pytest.mark.parametrize("algorithm", ["bully", "ring"])
@pytest.mark.parametrize("n", [3, 5, 9, 17])
def test_the_simulator_counts_what_the_formula_says(algorithm, n):
    assert growth.counted_messages(algorithm, n) == growth.failover_messages(algorithm, n)
