"""The library as its users have it: installed in a folder, and built against from another."""

import os
import pathlib
import re
import subprocess

from harness.node import ROOT

BUILD = pathlib.Path(os.environ.get("BULLRING_BUILD", ROOT / "build"))
CONSUMER = ROOT / "tests" / "library" / "consumer"


def run(*words, **options):
    """The output of a command that has to succeed."""
    result = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=1200, **options
    )
    assert result.returncode == 0, f"{words}\n{result.stdout}{result.stderr}"
    return result.stdout


class Installation:
    def __init__(self, place, ports):
        self.place = place
        self.ports = ports
        self.prefix = place / "installed"
        run("cmake", "--install", BUILD, "--component", "library", "--prefix", self.prefix)

    @property
    def libraries(self):
        return next(self.prefix.glob("lib/**/libbullring.so")).parent

    def build(self, source, *flags):
        """Builds a user's project in a folder of its own, without ccache; returns the folder."""
        folder = self.place / f"build-{source.name}"
        run("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={self.prefix}", *flags)
        run("cmake", "--build", folder, "--parallel", os.cpu_count())
        return folder

    def environment(self):
        """The caller's, with the libraries where the loader finds them."""
        return {**os.environ, "LD_LIBRARY_PATH": str(self.libraries)}

    def assert_leads(self, program, data, environment=None):
        """The program leads once, as its output says."""
        out = run(program, self.ports.take(), data, env=environment or self.environment())
        assert re.fullmatch(r"led in epoch [1-9]\d*, version \d+\.\d+\.\d+\n", out)
