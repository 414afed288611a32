"""The node and the guard of its command killed at one instant, a thousand times: the commands never
overlap.
"""
# ctest-labels: long
# ctest-timeout: 3600

import unittest

from process_case import expanded, over
from test_run_rounds import COMBINATIONS, Rounds

from bullring_task import signal_all


@expanded
class BothKilled(Rounds):
    rounds = 500

    @over(COMBINATIONS)
    def test_a_thousand_times(self, algorithm, n):
        def attack(cluster, leader, family):
            leader.current.expected_to_run = False
            signal_all([family.node, family.guard])

        self.play(algorithm, n, attack)


if __name__ == "__main__":
    unittest.main()
