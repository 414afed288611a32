"""Namespaces of processes, in which a test may choose the numbers that are given out next."""

import os
import shutil
import subprocess

import pytest
from waiting import DEADLINE


def why_not():
    """Why a namespace of processes can't be had here, None if it can."""
    if os.geteuid() != 0:
        return "namespaces of processes need root"
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    words = ["unshare", "--pid", "--fork", "true"]
    tried = subprocess.run(words, capture_output=True, timeout=DEADLINE)
    return None if tried.returncode == 0 else "unshare --pid fails"


_REASON = why_not()
IN_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
needs_namespace = pytest.mark.skipif(_REASON is not None, reason=str(_REASON))
