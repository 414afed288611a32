"""A proxy takes the settings of the manual, without a warning."""

import re
import shutil
import subprocess

import pytest
from harness.packaging_files import ROOT

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")


@pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")
def test_haproxy_takes_the_lines_of_the_manual(tmp_path):
    page = (ROOT / "src/manual/bullring-http.7.md").read_text()
    lines = re.search(r"For HAProxy:\n\n```\n(.*?)```", page, re.DOTALL)[1]
    file = tmp_path / "haproxy.cfg"
    file.write_text(lines)
    done = subprocess.run(
        [HAPROXY, "-c", "-f", file], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr
