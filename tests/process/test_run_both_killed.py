"""The node and the guard of its command killed at one instant, a thousand times: the commands never
overlap.
"""


import pytest
from harness.task import signal_all
from clusters import on_both

pytestmark = [pytest.mark.long, pytest.mark.limit(3600), on_both(3)]


def test_a_thousand_times(play):
    def attack(cluster, leader, family):
        leader.current.expected_to_run = False
        signal_all([family.guard, family.node])

    play(attack, count=(500, 500))
