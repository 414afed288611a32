# ctest-labels: long
# ctest-timeout: 1800
"""The same seed is the same history with every compiler and every optimisation: byte for byte."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import simulator
from simulator import ROOT, SimulatorCase

SEEDS = "1..60"
TRACED = (3, 17, 42, 58)


class Builds(SimulatorCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="bullring-builds-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)

    def build(self, compiler, kind):
        folder = self.work / f"{compiler}-{kind}"
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        for command in (
            ["cmake", "-S", ROOT, "-B", folder, *generator, f"-DCMAKE_CXX_COMPILER={compiler}",
             f"-DCMAKE_BUILD_TYPE={kind}", "-DBULLRING_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON"],
            ["cmake", "--build", folder, "--target", "bullring_sim",
             "--parallel", str(os.cpu_count())],
        ):  # fmt: skip
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout[-4000:])
        return folder / "bullring-sim"

    def story(self, program):
        """The digest of many seeds, and the traces of some."""
        traces = []
        usual, simulator.PROGRAM = simulator.PROGRAM, str(program)
        try:
            digest = self.sweep(SEEDS, "--no-shrink")["digest"]
            for seed in TRACED:
                trace = self.folder() / f"trace-{seed}"
                self.run_sim("run", "--seed", seed, "--quiet", "--trace", trace)
                traces.append(trace.read_bytes())
        finally:
            simulator.PROGRAM = usual
        return digest, traces

    def test_all_builds_tell_the_same_story(self):
        digest, traces = self.story(simulator.PROGRAM)
        self.assertGreater(sum(map(len, traces)), 100_000)
        for compiler, kind in (
            ("g++", "Debug"),
            ("clang++-16", "Debug"),
            ("clang++-16", "Release"),
        ):
            with self.subTest(compiler=compiler, kind=kind):
                other_digest, other_traces = self.story(self.build(compiler, kind))
                self.assertEqual(other_digest, digest)
                for seed, one, other in zip(TRACED, traces, other_traces):
                    self.assertTrue(one == other, f"the traces of seed {seed} differ")


if __name__ == "__main__":
    unittest.main()
