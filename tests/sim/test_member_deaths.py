"""A leader that dies at each step of a change of the members: the next one has the old list or the
new one, and whoever asks again gets what was asked for. The invariants judge the rest.
"""

import itertools

import pytest

# Nodes 1 to 4 vote, of which 4 leads; 5 is a member without a vote. The changes that are asked for,
# and what comes of each.
CHANGES = {
    "add 6": "1,2,3,4+5,6",
    "promote 5": "1,2,3,4,5",
    "demote 1": "2,3,4+1,5",
    "remove 1": "2,3,4+5",
    "remove 5": "1,2,3,4",
    "address 1": "1,2,3,4+5",
}
# So long after it was asked, the leader dies: at once (0), or after that many actions of the next
# step in which it has some to do. Its disk takes 3 ms, the way to the others 1 ms, theirs 3 ms, and
# the answers 1 ms: up to then the next leader has the old list, or the new one.
ACTIONS = range(5)
AFTER_US = range(0, 10_000, 500)


def scenario(change, actions, after_us):
    lines = [
        "nodes 6",
        "founders 1,2,3,4",
        "algorithm both",
        "profile lan",
        f"seed {1 + actions + after_us}",
        "delay 1ms..1ms",
        "fsync 3ms..3ms",
        "preempt off",
        "at 0s start all",
        "at +0s expect leader 4 within 5s",
        "at +0s members add 5 at leader",
        "at +1s expect members 1,2,3,4+5",
        f"at +0s members {change} at leader",
        "at +0s mark",
        f"at +{after_us}us crash 4" + (f" within-step {actions}" if actions else ""),
        "at +40ms crash 4",  # no step had so many actions
        "at +0s expect leader within 2s",
        "at +0s expect a higher epoch",
        f"at +0s members {change} at leader",
        f"at +1s expect members {CHANGES[change]}",
        "at +0s start 4",
        "at +1s expect steady for 2s",
    ]
    return "# one death of all\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_survives_its_leader(run_sim, tmp_path, change):
    files = []
    for actions, after_us in itertools.product(ACTIONS, AFTER_US):
        file = tmp_path / f"{after_us:05}-{actions}.txt"
        file.write_text(scenario(change, actions, after_us))
        files.append(file)
    shown = run_sim("scenario", *files).stdout
    assert f"{len(files)} scenarios, 0 broken" in shown
