"""Namespaces of processes: a node is the first process of one, as in a container, and a test may
choose the numbers that are given out next.
"""

import os
import subprocess

import pytest
from harness.waiting import DEADLINE

IN_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
if os.geteuid() != 0:
    IN_NAMESPACE[1:1] = ["--user", "--map-root-user"]


def why_not():
    """Why a namespace of processes can't be had here, None if it can."""
    words = [*IN_NAMESPACE, "true"]
    try:
        tried = subprocess.run(words, capture_output=True, text=True, timeout=DEADLINE)
    except FileNotFoundError:
        return "unshare is not installed"
    return None if tried.returncode == 0 else tried.stderr.strip() or "unshare fails"


_REASON = why_not()
needs_namespace = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))
