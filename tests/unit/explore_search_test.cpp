// The search itself: that it counts the same twice, that its bounds hold, that it finds what is
// there and tells the shortest way to it.
#include <doctest/doctest.h>

#include "sim/explore/replay.hpp"
#include "sim/explore/search.hpp"

namespace bullring::sim::explore::explore_search_test {
namespace {

using protocol::Algorithm;
using protocol::Duration;
using protocol::Epoch;
using protocol::milliseconds;

const Algorithm both[] = {Algorithm::bully, Algorithm::ring};

SmallWorldOptions options_of(Algorithm algorithm, unsigned faults) {
    SmallWorldOptions options;
    options.algorithm = algorithm;
    options.faults = faults;
    return options;
}

SearchBounds depth(unsigned depth_max, unsigned jobs = 1) {
    SearchBounds bounds;
    bounds.depth_max = depth_max;
    bounds.states_max = 300'000;  // whatever is broken, the memory is not eaten
    bounds.jobs = jobs;
    return bounds;
}

/// The leader, node 3, has just crashed, and nobody has seen it yet.
WorldState leader_crashed(const SmallWorld& world) {
    WorldState state = world.settled();
    REQUIRE(leads(state, 2));
    REQUIRE_FALSE(world.make(state, {MoveKind::crash, {2, 0, 0}}).has_value());
    return state;
}

}  // namespace

TEST_CASE("explore search: the same bounds give the same counts, whatever the number of jobs") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm, 1));
        const WorldState start = world.settled();
        const SearchReport once = search(world, start, depth(5));
        CHECK(once.end == SearchEnd::depth);
        CHECK(once.depth == 5);
        CHECK(once.states > 500);
        CHECK(once.duplicates > 0);
        CHECK(once.transitions == once.duplicates + once.states - 1);
        CHECK_FALSE(once.violation.has_value());
        for (const unsigned jobs : {1U, 3U}) {
            const SearchReport again = search(world, start, depth(5, jobs));
            CHECK(again.states == once.states);
            CHECK(again.transitions == once.transitions);
            CHECK(again.layers == once.layers);
        }
    }
}

TEST_CASE("explore search: a search from a cold start sees the handshakes and nothing wrong") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm, 0));
        const SearchReport report = search(world, world.cold(), depth(7));
        CHECK(report.states > 1000);
        CHECK_FALSE(report.violation.has_value());
    }
}

TEST_CASE("explore search: without faults and delays a quiet cluster has few states, all of them") {
    for (const Algorithm algorithm : both) {
        SmallWorldOptions options = options_of(algorithm, 0);
        options.delay_max = Duration{0};
        const SmallWorld world(options);
        SearchBounds bounds;
        bounds.states_max = 20'000;
        const SearchReport report = search(world, world.settled(), bounds);
        CHECK(report.end == SearchEnd::complete);
        CHECK(report.states > 20);
        CHECK_FALSE(report.violation.has_value());
    }
}

TEST_CASE("explore search: the bound of states is kept exactly") {
    const SmallWorld world(options_of(Algorithm::bully, 2));
    SearchBounds bounds;
    bounds.states_max = 1234;
    const SearchReport report = search(world, world.settled(), bounds);
    CHECK(report.end == SearchEnd::states);
    CHECK(report.states == 1234);
}

TEST_CASE("explore search: a second valid lease is found, and the shortest way to it") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm, 0));
        WorldState start = leader_crashed(world);
        // Somebody goes on leading in the old epoch as if nobody had released him.
        start.hosts[0].published = {start.elected, clock_of(0, start.now) + protocol::seconds(1)};
        REQUIRE_FALSE(world.check(start).has_value());
        const SearchReport report = search(world, start, depth(16));
        REQUIRE(report.violation.has_value());
        CHECK(report.end == SearchEnd::violation);
        CHECK(report.violation->rule == "I1");
        CHECK(report.path.size() == report.depth + 1);
        CHECK(report.path.size() > 1);
        const Replay shown = replay(world, start, named_steps(world, start, report.path));
        CHECK(shown.problem == "");
        CHECK(shown.violation == report.violation);
        CHECK(shown.text.find("is elected, epoch 2") != std::string::npos);
        // There is no shorter one.
        CHECK_FALSE(search(world, start, depth(report.depth)).violation.has_value());
    }
}

TEST_CASE("explore search: an election with an old epoch is found") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm, 0));
        WorldState start = leader_crashed(world);
        start.elected = Epoch{100};
        const SearchReport report = search(world, start, depth(16));
        REQUIRE(report.violation.has_value());
        CHECK(report.violation->rule == "I2");
    }
}

TEST_CASE("explore search: a leader whose epoch is not the newest is found at once") {
    const SmallWorld world(options_of(Algorithm::bully, 0));
    WorldState start = world.settled();
    start.elected = Epoch{100};
    const SearchReport report = search(world, start, depth(1));
    REQUIRE(report.violation.has_value());
    CHECK(report.violation->rule == "I3");
    CHECK(report.path.empty());
}

TEST_CASE("explore search: a candidacy or a grant beyond what the disk knows is found") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm, 0));
        for (const std::size_t forgetful : {std::size_t{0}, std::size_t{1}}) {
            WorldState start = leader_crashed(world);
            start.hosts[forgetful].disk->hw = Epoch{1};
            const SearchReport report = search(world, start, depth(16));
            REQUIRE(report.violation.has_value());
            CHECK(report.violation->rule == "I11");
        }
    }
}

TEST_CASE("explore search: a RESIGN while the task runs is found") {
    const SmallWorld world(options_of(Algorithm::bully, 0));
    WorldState start = world.settled();
    REQUIRE_FALSE(world.make(start, {MoveKind::resign, {2, 0, 0}}).has_value());
    REQUIRE(start.hosts[2].task_stopping);
    // The world takes the end of the task for that of an earlier one.
    protocol::Node resigned = *start.hosts[2].node;
    std::vector<protocol::Action> actions;
    resigned.step(clock_of(2, start.now), protocol::TaskEnded{start.hosts[2].task, false, false},
                  actions);
    std::optional<Violation> violation;
    for (const protocol::Action& action : actions)
        if (const auto* send = std::get_if<protocol::Send>(&action); send && !violation)
            violation = check_sent(start, world.config(2), 2, send->message);
    REQUIRE(violation.has_value());
    CHECK(violation->rule == "I10");
}

TEST_CASE("explore search: a deadline that moves back and a token that is too old are found") {
    const SmallWorld world(options_of(Algorithm::ring, 0));
    const WorldState state = world.settled();
    const protocol::Publish& published = state.hosts[2].published;
    CHECK_FALSE(check_published(state, 2, published).has_value());
    const auto earlier =
        check_published(state, 2, {published.epoch, published.deadline - milliseconds(1)}).value();
    CHECK(earlier.rule == "I10");

    protocol::Token token;
    token.walk.step = 6;
    CHECK_FALSE(check_sent(state, world.config(0), 0, token).has_value());
    token.walk.step = 7;
    const auto old = check_sent(state, world.config(0), 0, token).value();
    CHECK(old.rule == "L5");
}

TEST_CASE("explore search: a grant of a node that is silent after its start is found") {
    const SmallWorld world(options_of(Algorithm::bully, 0));
    WorldState state = world.cold();
    state.hosts[0].disk =
        protocol::Durable{Epoch{10}, protocol::seconds(20), false, world.config(0).members};
    protocol::Grant grant;
    grant.epoch = Epoch{5};
    grant.lease = milliseconds(250);
    const auto violation = check_sent(state, world.config(0), 0, grant).value();
    CHECK(violation.rule == "I7");
}

}  // namespace bullring::sim::explore::explore_search_test
