"""Process ids begin anew at the end of their range: that a process began later than another says
nothing about their numbers.
"""

import subprocess
import sys

import pytest
from clusters import on
from harness.pid_namespace import IN_NAMESPACE, needs_namespace

pytestmark = pytest.mark.limit(300)

ROUNDS = 3, 3


@needs_namespace
def test_rounds_where_what_is_left_behind_has_the_lower_number(tmp_path):
    words = [sys.executable, "-m", "pytest", "-o", "python_functions=inside_*", __file__]
    # In there this user is root, whose usual place may be another's out here.
    words.append(f"--basetemp={tmp_path / 'inside'}")
    done = subprocess.run([*IN_NAMESPACE, *words], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@on(("bully", 3))
def inside_a_namespace_near_the_end_of_its_numbers(play, journal, algorithm, n):
    with open("/proc/sys/kernel/pid_max") as highest:
        near_the_end = int(highest.read()) - 200
    with open("/proc/sys/kernel/ns_last_pid", "w") as given_out:
        given_out.write(str(near_the_end))

    def attack(cluster, leader, family):
        def left_behind():
            return [int(pid) for _, _, epoch, pid in journal.lines("left") if int(epoch) == now]

        now = leader.view[1]
        (left,) = cluster.wait_for(left_behind, "the child that it leaves behind")
        assert left < family.command
        leader.kill()

    play(attack, "fork", "early", count=ROUNDS)
