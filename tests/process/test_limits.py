"""The messages of a process that may open too few files, or start too few threads: what has failed,
the system's reason, and which limit it was.
"""

import os
import resource
import shutil
import subprocess

import pytest
from harness.net import PortHolder
from harness.node import clean_environment, find_program

FILES = "the limit of open files (ulimit -n, LimitNOFILE=) is reached"
THREADS = "a limit of processes and threads (ulimit -u, TasksMax=, pids.max) is reached"
NOBODY = 65534


@pytest.fixture(name="place")
def _place(tmp_path):
    # Also for somebody who is not root.
    for path in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        path.chmod(0o755)
    program = tmp_path / "bullring"
    shutil.copy(find_program(), program)
    program.chmod(0o755)
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o777)
    return program, state


def ended(command, limited):
    return subprocess.run(
        command,
        preexec_fn=limited,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def test_too_few_files_are_told_with_the_limit(place):
    program, state = place
    ports = PortHolder()
    node = [program, "node", "--id", "1", "--data-dir", state / "n", "--fast-release", "off"]
    node += ["--peers", f"1=127.0.0.1:{ports.take()}"]
    said = 0
    # Below these the directory cannot be opened, which is told by its name.
    for limit in range(14, 22):
        files = (limit, limit)
        end = ended(node, lambda files=files: resource.setrlimit(resource.RLIMIT_NOFILE, files))
        assert end.returncode == 1, (limit, end.stderr)
        last = end.stderr.splitlines()[-1]
        assert "Too many open files" in last, (limit, end.stderr)
        said += FILES in last
    assert said > 3


def test_too_few_threads_are_told_with_the_limit(place):
    program, state = place
    ports = PortHolder()
    node = [program, "node", "--id", "1", "--data-dir", state / "n"]
    node += ["--peers", f"1=127.0.0.1:{ports.take()}"]

    def alone():
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    end = ended(node, alone)
    assert end.returncode == 1, end.stderr
    assert "cannot start a thread: Resource temporarily unavailable; " in end.stderr
    assert THREADS in end.stderr
