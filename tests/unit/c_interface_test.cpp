// The C interface when memory is short: each function says that it has failed, or what is safe to
// believe, and lets no exception into a program that knows none.
#include <string>
#include <vector>

#include <bullring/bullring.h>
#include <doctest/doctest.h>

#include "tests/support/failing_allocation.hpp"
#include "tests/support/library_cluster.hpp"

namespace bullring::c_interface_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using namespace test;

struct Settings {
    explicit Settings(const LibraryCluster& cluster)
        : words{"id",      "1",    "peers",    cluster.peers(),
                "profile", "fast", "data-dir", cluster.directory() / "node-1"} {
        for (const std::string& word : words) pointers.push_back(word.c_str());
        pointers.push_back(nullptr);
    }
    bullring_node* open() const { return bullring_open(pointers.data(), nullptr, nullptr, 0); }

    std::vector<std::string> words;
    std::vector<const char*> pointers;
};

/// The epoch in which a node leads that has just been opened; 0 if it never does.
std::uint64_t epoch_when_elected(bullring_node* node) {
    bullring_change change{};
    while (bullring_wait(node, 60'000, &change) == BULLRING_OK)
        if (change.kind == BULLRING_ELECTED) return change.epoch;
    return 0;
}

/// Calls `body` with each of its allocations failing in turn, as long as there is one to fail.
template <class Body, class Check>
void with_each_failure(Body body, Check check) {
    for (std::size_t after = 0;; ++after) {
        CAPTURE(after);
        bool happened = false;
        const auto result = [&] {
            const FailingAllocation failing(after);
            auto value = body();
            happened = failing.happened();
            return value;
        }();
        if (!happened) return;
        check(result);
    }
}

}  // namespace

TEST_CASE("C interface: whichever allocation fails while a node is opened, there is none then") {
    const LibraryCluster cluster(1);
    const Settings settings(cluster);
    bullring_node* node = nullptr;
    int code = BULLRING_OK;
    char error[256] = "";
    std::size_t failures = 0;
    with_each_failure(
        [&] {
            error[0] = '\0';
            node = bullring_open(settings.pointers.data(), &code, error, sizeof error);
            return node != nullptr || error[0] != '\0';
        },
        [&](bool told) {
            ++failures;
            CHECK(told);
            // It does without a part that is not needed.
            if (node != nullptr) return bullring_close(node);
            CHECK(code == BULLRING_FAILED);
        });
    CHECK(failures > 10);
    REQUIRE_MESSAGE(node != nullptr, std::string(error));
    CHECK(epoch_when_elected(node) != 0);
    bullring_close(node);
}

TEST_CASE("C interface: whichever allocation fails, a question is answered") {
    const LibraryCluster cluster(1);
    bullring_node* const node = Settings(cluster).open();
    REQUIRE(node != nullptr);
    const std::uint64_t epoch = epoch_when_elected(node);
    const auto any = [](auto) {};
    with_each_failure([&] { return bullring_epoch(node); }, any);
    with_each_failure([&] { return bullring_valid(node, epoch); }, any);
    with_each_failure([&] { return bullring_time_left_ns(node); }, any);
    with_each_failure([&] { return bullring_progress(node), 0; }, any);
    char advertised[8] = "before";
    with_each_failure([&] { return bullring_leader(node, nullptr, advertised, 8); },
                      [](std::uint64_t leader) { CHECK(leader == 0); });
    bullring_change change{};
    with_each_failure([&] { return bullring_wait(node, 0, &change); }, any);
    with_each_failure([&] { return bullring_members(node, nullptr, 0, nullptr, 0); },
                      [](std::size_t members) { CHECK(members <= 1); });
    for (const int timeout_ms : {0, 1000}) {
        char error[64] = "";
        with_each_failure([&] { return bullring_resign(node, 0, timeout_ms, error, sizeof error); },
                          [&](int code) {
                              CHECK(code == BULLRING_FAILED);
                              CHECK(error[0] != '\0');
                          });
        CHECK(bullring_resign(node, 0, timeout_ms, nullptr, 0) == BULLRING_REFUSED);
    }
    CHECK(bullring_valid(node, epoch) == 1);
    // A call that has failed can be repeated.
    int last = BULLRING_INVALID;
    with_each_failure([&] { return last = bullring_done(node, epoch, 1); },
                      [](int code) { CHECK(code == BULLRING_FAILED); });
    CHECK(last == BULLRING_OK);
    bullring_close(node);
}

TEST_CASE("C interface: whichever allocation fails while a node is closed, it is closed") {
    for (std::size_t after = 0, happened = 1; happened != 0; ++after) {
        const LibraryCluster cluster(1);
        bullring_node* const node = Settings(cluster).open();
        REQUIRE(node != nullptr);
        CHECK(epoch_when_elected(node) != 0);
        const FailingAllocation failing(after);
        bullring_close(node);
        happened = failing.happened() ? 1 : 0;
    }
}

TEST_SUITE_END();

}  // namespace bullring::c_interface_test
