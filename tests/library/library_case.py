"""What the tests of the installed library share: one installation, and a user's project built
against it.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

from bullring_net import PortHolder  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BULLRING_BUILD", ROOT / "build"))


def run(*words, **more):
    """The output of a command that has to succeed."""
    result = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=1200, **more
    )
    if result.returncode != 0:
        raise AssertionError(f"{words} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


class LibraryCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory(prefix="bullring-library-")
        cls.addClassCleanup(cls.held.cleanup)
        cls.place = pathlib.Path(cls.held.name)
        cls.prefix = cls.place / "installed"
        run("cmake", "--install", BUILD, "--component", "library", "--prefix", cls.prefix)
        cls.ports = PortHolder()

    @classmethod
    def build_consumer(cls, source, *flags):
        """A user's project in a folder of its own, without ccache; the folder."""
        folder = cls.place / f"build-{source.name}"
        run("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={cls.prefix}", *flags)
        run("cmake", "--build", folder, "--parallel", os.cpu_count())
        return folder

    @property
    def libraries(self):
        return next(self.prefix.glob("lib/**/libbullring.so")).parent

    def leads(self, program, library_path=True):
        """The program leads once, as its output says."""
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        if library_path:
            environment["LD_LIBRARY_PATH"] = str(self.libraries)
        data = self.place / f"data-{len(list(self.place.iterdir()))}"
        out = run(program, self.ports.take(), data, env=environment)
        self.assertRegex(out, r"^led in epoch [1-9]\d*, version \d+\.\d+\.\d+\n$")
