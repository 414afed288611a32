"""Says what is wrong with a round. `bullring audit` judges the leaderships, in true time (shim.py),
and the journal of the commands judges that no two of them were there at one time; of processes that
lead through their nodes it judges their own logs (clients.py).

Where clocks have been outside of the bound, no overlap is judged, only counted. What holds by any
clock does: no epoch has two leaders, and the epochs of each node rise.
"""

import time

from harness.audit import Audit
from harness.events import EventError
from harness.safety import SafetyViolation
from chaos.course import OUTSIDE, RUN
from harness.waiting import seen_within

END_S = 10


def end_all(stage):
    """Stops the nodes, and waits for them: the last lines of their streams are there then."""
    running = [node for node in stage.cluster if node.running]
    for node in running:
        node.terminate()
    limit = time.monotonic() + END_S
    for node in running:
        if not node.ends_within(max(0.1, limit - time.monotonic())):
            node.kill()
            node.ends_within(END_S)


def judge(player):
    """Adds to the outcome of a round that has been played."""
    stage, outcome = player.stage, player.outcome
    if stage.crew:
        outcome.violations += stage.crew.judge()
    end_all(stage)
    for node, run in stage.cluster.incarnations():
        if fault := run.fault():
            outcome.problems.append(f"node {node.id}: {fault}\n{run.log()[-2000:]}")
    try:
        found = audit(stage)
    except EventError as error:
        outcome.problems.append(str(error))
        return
    outcome.leaderships = len(found.leaderships)
    outcome.unproved = len(found.unproved())
    for what in found.unproved():
        player.world.log(f"round {outcome.round.number}: not proved: {what}")
    if stage.what == OUTSIDE:
        outcome.overlaps = len(found.contradictions)
        outcome.violations += epochs_that_do_not_rise(found.leaderships)
    elif found.contradictions:
        outcome.violations.append(str(found))
    if stage.what == RUN:
        try:
            stage.journal.judge()
        except SafetyViolation as violation:
            outcome.violations.append(str(violation))


def audit(stage):
    """Lines that are written in the name of the dead may be on their way still."""
    found = None

    def told():
        nonlocal found
        found = Audit(stage.cluster.program, stage.true_streams(), stage.cluster.environment)
        return found.proved or found.contradictions

    seen_within(1, told, every=0.2)
    return found


def epochs_that_do_not_rise(leaderships):
    led_by, last, found = {}, {}, []
    for held in sorted(leaderships, key=lambda held: held.start_ns or 0):
        if held.start_ns is None:
            continue
        if led_by.setdefault(held.epoch, held.node) != held.node:
            found.append(f"epoch {held.epoch} is led by {led_by[held.epoch]} and {held.node}")
        if held.epoch <= last.get(held.node, 0):
            found.append(f"node {held.node}: epoch {held.epoch} after {last[held.node]}")
        last[held.node] = held.epoch
    return found
