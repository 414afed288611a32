"""The same seed is the same history with every compiler and every optimisation: byte for byte."""

import os
import pathlib
import subprocess
import tempfile

import pytest
from harness.node import ROOT
from simulator import PROGRAM, Simulator

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.limit(1800)]

SEEDS = "1..60"
TRACED = (3, 17, 42, 58)


def run(*words):
    words = [str(word) for word in words]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


def build(folder, compiler, kind):
    """The simulator built so; its path."""
    flags = [f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_BUILD_TYPE={kind}"]
    flags += ["-DBULLRING_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON"]
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *flags)
    run("cmake", "--build", folder, "--target", "bullring_sim", "--parallel", os.cpu_count())
    return folder / "bullring-sim"


def story(folder, program):
    """The digest of many seeds, and the traces of some."""
    run_sim = Simulator(folder, program)
    traces = {}
    for seed in TRACED:
        trace = folder / f"trace-{seed}"
        run_sim("run", "--seed", seed, "--quiet", "--trace", trace)
        traces[seed] = trace.read_bytes()
    return run_sim.sweep(SEEDS, "--no-shrink")["digest"], traces


@pytest.mark.parametrize(
    ("compiler", "kind"), [("g++", "Debug"), ("clang++-16", "Debug"), ("clang++-16", "Release")]
)
def test_another_build_tells_the_same_story(tmp_path, compiler, kind):
    digest, traces = story(tmp_path, PROGRAM)
    assert sum(map(len, traces.values())) > 100_000
    with tempfile.TemporaryDirectory(prefix="bullring-builds-") as folder:
        other_digest, other_traces = story(tmp_path, build(pathlib.Path(folder), compiler, kind))
    assert other_digest == digest
    for seed in TRACED:
        assert traces[seed] == other_traces[seed], f"the traces of seed {seed} differ"
