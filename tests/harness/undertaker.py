"""The undertaker of a node, as a test sees it from outside."""

import os

import pytest
from harness.task import child_named

# Others must not look into it, so its owner has to be root to see what it holds.
SEEN_BY_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="it is readable for root alone")


def undertaker_of(node):
    return child_named(node.current.process.pid, "bullring-notice")


def held_by(pid):
    """The targets of a process's descriptors, sorted."""
    held = f"/proc/{pid}/fd"
    targets = [os.readlink(f"{held}/{fd}") for fd in os.listdir(held)]
    # Kernels name a pidfd in two ways.
    return sorted("pidfd" if "pidfd" in name else name.split("[")[0] for name in targets)
