#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <bullring/fencing_guard.hpp>
#include <doctest/doctest.h>

#include "tests/support/temporary_files.hpp"

namespace bullring::fencing_guard_test {

using test::TemporaryDirectory;

TEST_CASE("fencing guard: whoever comes with a lower epoch than somebody before is refused") {
    FencingGuard guard;
    CHECK_FALSE(guard.admit(0));
    CHECK(guard.admit(7));
    CHECK(guard.admit(7));
    CHECK_FALSE(guard.admit(6));
    CHECK(guard.admit(UINT64_MAX));
    CHECK_FALSE(guard.admit(8));
    CHECK(guard.highest() == UINT64_MAX);
}

TEST_CASE("fencing guard: its file remembers, and is shared") {
    const TemporaryDirectory place;
    const std::string path = place / "fence";
    {
        FencingGuard guard(path);
        CHECK(guard.highest() == 0);
        CHECK(guard.admit(7));
    }
    FencingGuard one(path);
    FencingGuard other(path);
    CHECK(one.highest() == 7);
    CHECK_FALSE(one.admit(6));
    CHECK(other.admit(9));
    CHECK_FALSE(one.admit(8));
    CHECK(one.highest() == 9);
}

TEST_CASE("fencing guard: a damaged file is an error, never a fresh start") {
    const TemporaryDirectory place;
    const std::string path = place / "fence";
    for (const char* text : {"x", "7\n", "0000000000000000000x\n", "00000000000000000007\n\n"}) {
        std::ofstream(path) << text;
        CHECK_THROWS_AS(FencingGuard{path}, std::system_error);
    }
    CHECK_THROWS_AS(FencingGuard{place / "no/such/directory"}, std::system_error);
}

TEST_CASE("fencing guard: a foreign file is refused with words of its own, and left as it is") {
    const TemporaryDirectory place;
    const std::string path = place / "fence";
    std::ofstream(path) << "# my settings\n";
    try {
        const FencingGuard guard(path);
        FAIL("it was accepted");
    } catch (const std::system_error& error) {
        CHECK(error.code().category() != std::generic_category());
        CHECK(std::string(error.what()).find(path) != std::string::npos);
    }
    std::string left;
    std::getline(std::ifstream(path), left);
    CHECK(left == "# my settings");
}

TEST_CASE("fencing guard: of many threads the epochs admitted never fall") {
    const TemporaryDirectory place;
    const std::string path = place / "fence";
    FencingGuard guard(path);
    std::vector<std::thread> threads;
    for (std::uint64_t first = 1; first <= 4; ++first)
        threads.emplace_back([&guard, first] {
            for (std::uint64_t epoch = first; epoch <= 100; epoch += 4) guard.admit(epoch);
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(guard.highest() == 100);
    CHECK(FencingGuard(path).highest() == 100);
}

}  // namespace bullring::fencing_guard_test
