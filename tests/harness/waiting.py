"""Waiting for what must come: the one deadline that all tests have, and looking until it is so."""

import os
import time

# However slow the machine is: scripts/test has measured that (scripts/lib/gate/slowness.py).
DEADLINE = 60.0 * float(os.environ.get("BULLRING_SLOWNESS", 1))


def seen_within(seconds, predicate, every=0.01):
    """The value of predicate() as soon as it is true, or the last one when the time is up."""
    limit = time.monotonic() + seconds
    while not (value := predicate()) and time.monotonic() <= limit:
        time.sleep(every)  # pause: the condition is polled
    return value


def wait_until(predicate, what, deadline=DEADLINE, every=0.01, error=AssertionError):
    """The same, but an error when the time is up, with what was waited for.

    `what`: a text, or a function that makes it then.
    """
    value = seen_within(deadline, predicate, every)
    if not value:
        raise error(f"waited {deadline:.0f} s for: {what() if callable(what) else what}")
    return value
