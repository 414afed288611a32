"""One fencing file, used by the class of the library and by that of the Python package."""

import subprocess
import threading

import bullring
import pytest
from harness.node import ROOT

GUARD = """
#include <iostream>
#include <bullring/fencing_guard.hpp>

// Answers each epoch of its input by whether it is admitted.
int main(int, char** argv) {
    bullring::FencingGuard guard{argv[1]};
    std::uint64_t epoch = 0;
    while (std::cin >> epoch) std::cout << guard.admit(epoch) << std::endl;
}
"""


@pytest.fixture
def other(tmp_path):
    """The class of the library, in a process of its own: a function that offers an epoch."""
    (tmp_path / "guard.cpp").write_text(GUARD)
    words = ["c++", "-std=c++20", "-O0", f"-I{ROOT / 'include'}", "guard.cpp", "-o", "guard"]
    subprocess.run(words, cwd=tmp_path, check=True)
    with subprocess.Popen(
        [tmp_path / "guard", tmp_path / "epoch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def admits(epoch):
            print(epoch, file=process.stdin, flush=True)
            return process.stdout.readline() == "1\n"

        yield admits
        process.stdin.close()


def test_each_admits_nothing_below_the_highest_of_both(other, tmp_path):
    guard = bullring.FencingGuard(tmp_path / "epoch")
    assert guard.admit(1) and other(2)
    assert not guard.admit(1) and guard.admit(2) and guard.admit(3)
    assert not other(2) and other(3) and other(2**64 - 1)
    assert not guard.admit(4) and guard.highest == 2**64 - 1


def test_they_lock_each_other_out(other, tmp_path):
    """Each offers its own epochs: of those that were admitted none is admitted twice, or falls."""
    guard = bullring.FencingGuard(tmp_path / "epoch")
    highest = {}

    def offers(admits, name, first):
        for epoch in range(first, 300, 2):
            if admits(epoch):
                highest[name] = epoch

    threads = [
        threading.Thread(target=offers, args=arguments)
        for arguments in ((guard.admit, "python", 1), (other, "library", 2))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "epoch").read_text() == f"{max(highest.values()):020}\n"
    assert max(highest.values()) >= 298
