// The search itself: that it counts the same twice, that its bounds hold, that it finds what is
// there and tells the shortest way to it.
#include <algorithm>

#include <doctest/doctest.h>

#include "sim/explore/search.hpp"

namespace bullring::sim::explore::explore_search_test {
namespace {

using protocol::Algorithm;

const Algorithm both[] = {Algorithm::bully, Algorithm::ring};

SmallWorld small(Algorithm algorithm, unsigned faults, Begin begin = Begin::settled,
                 Time delay_max = 2 * ms) {
    Settings settings;
    settings.algorithm = algorithm;
    settings.by_hand = begin;
    settings.delay = {0, delay_max};
    settings.first_epoch = protocol::FirstEpoch::zero;
    return {settings, FaultKinds::usual(), faults};
}

SearchBounds depth(unsigned depth_max, unsigned jobs = 1) {
    SearchBounds bounds;
    bounds.depth_max = depth_max;
    bounds.states_max = 300'000;  // whatever is broken, the memory is not eaten
    bounds.jobs = jobs;
    return bounds;
}

}  // namespace

TEST_CASE("explore search: the same bounds give the same counts, whatever the number of jobs") {
    for (const Algorithm algorithm : both) {
        const SmallWorld start = small(algorithm, 1);
        const SearchReport once = search(start, depth(5));
        CHECK(once.end == SearchEnd::depth);
        CHECK(once.depth == 5);
        CHECK(once.states > 500);
        CHECK(once.duplicates > 0);
        CHECK(once.transitions == once.duplicates + once.states - 1);
        CHECK_FALSE(once.violation.has_value());
        for (const unsigned jobs : {1U, 3U}) {
            const SearchReport again = search(start, depth(5, jobs));
            CHECK(again.states == once.states);
            CHECK(again.transitions == once.transitions);
            CHECK(again.layers == once.layers);
        }
    }
}

TEST_CASE("explore search: a search from a cold start sees the handshakes and nothing wrong") {
    for (const Algorithm algorithm : both) {
        const SearchReport report = search(small(algorithm, 0, Begin::cold), depth(7));
        CHECK(report.states > 1000);
        CHECK_FALSE(report.violation.has_value());
    }
}

TEST_CASE("explore search: without faults and delays a quiet cluster has few states, all of them") {
    for (const Algorithm algorithm : both) {
        SearchBounds bounds;
        bounds.states_max = 20'000;
        const SearchReport report = search(small(algorithm, 0, Begin::settled, 0), bounds);
        CHECK(report.end == SearchEnd::complete);
        CHECK(report.states > 20);
        CHECK_FALSE(report.violation.has_value());
    }
}

TEST_CASE("explore search: the bound of states is kept exactly") {
    SearchBounds bounds;
    bounds.states_max = 1234;
    const SearchReport report = search(small(Algorithm::bully, 2), bounds);
    CHECK(report.end == SearchEnd::states);
    CHECK(report.states == 1234);
}

TEST_CASE("explore search: a candidacy or a grant beyond what the disk knows is found") {
    std::size_t longest = 0;
    for (const Algorithm algorithm : both) {
        for (const HostIndex forgetful : {HostIndex{0}, HostIndex{1}}) {
            SmallWorld start = small(algorithm, 1);
            // The leader has just died, and nobody has seen it yet.
            REQUIRE(start.world.leads(2));
            start.make(move_of(MoveKind::crash, 2));
            start.world.disk(forgetful).file->hw = Epoch{1};
            const SearchReport report = search(start, depth(16));
            REQUIRE(report.violation.has_value());
            CHECK(report.end == SearchEnd::violation);
            CHECK(report.violation->check == "I11");
            CHECK(report.path.size() == report.depth + 1);
            longest = std::max(longest, report.path.size());
            SmallWorld again = start;
            for (const Move& move : report.path) {
                CHECK_FALSE(again.checks.violation().has_value());
                CHECK(possible(again.world, move));
                again.make(move);
            }
            CHECK(again.checks.violation() == report.violation);
            // There is no shorter one.
            CHECK_FALSE(search(start, depth(report.depth)).violation.has_value());
        }
    }
    CHECK(longest > 1);
}

}  // namespace bullring::sim::explore::explore_search_test
