// The library's node in a process that is killed: its second process tells the others.
#include <chrono>
#include <memory>
#include <optional>

#include <bullring/bullring.hpp>
#include <doctest/doctest.h>
#include <unistd.h>

#include "src/base/os/sanitizers.hpp"
#include "tests/support/library_cluster.hpp"
#include "tests/support/transport_harness.hpp"

namespace bullring::library_notice_test {

namespace {

using std::chrono::steady_clock;
using namespace test;

constexpr std::chrono::seconds lease{5};
constexpr std::uint64_t killed = 3;

Options options_of(const LibraryCluster& cluster, std::uint64_t id) {
    Options options = cluster.options(id);
    options.lease = lease;
    options.fast_release = FastRelease::notice;
    return options;
}

bool names(const std::vector<Change>& changes, std::uint64_t leader) {
    return !changes.empty() && changes.back().leader && changes.back().leader->id == leader;
}

}  // namespace

TEST_CASE("library: where notices count, a killed host process costs no lease" *
          doctest::skip(thread_sanitizer)) {
    const LibraryCluster cluster(3);
    test::Child host([&] {
        Node node(options_of(cluster, killed));
        node.run_while_leader(
            [](const Leadership& lead) { lead.wait_for(std::chrono::nanoseconds::max()); });
    });
    Options second = options_of(cluster, 2);
    second.never_lead = true;
    Node voter(second);
    Node successor(options_of(cluster, 1));
    Notes<Change> changes;
    const Subscription subscription = voter.subscribe([&](const Change& c) { changes.add(c); });
    voter.start();
    successor.start();
    REQUIRE(changes.wait_for([](const auto& all) { return names(all, killed) || names(all, 1); }));
    if (names(changes.all(), 1)) {
        REQUIRE(test::resign_when_possible(successor, test::generous).done);
        REQUIRE(changes.wait_for([](const auto& all) { return names(all, killed); }));
    }
    const auto killed_at = steady_clock::now();
    host.kill_now();
    REQUIRE(changes.wait_for([](const auto& all) { return names(all, 1); }));
    CHECK(steady_clock::now() - killed_at < lease / 2);
}

}  // namespace bullring::library_notice_test
