// How far what others say may raise the epochs of a node (R9).
#include "protocol/lease/epoch_bound.hpp"

#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::epoch_bound_test {
namespace {

using namespace test;

constexpr Instant start{1'000'000'000'000, 2'000'000'000'000};
constexpr Epoch horizon = EpochBound::horizon;
constexpr std::uint64_t step = EpochBound::step;

// R9.1
TEST_CASE("epoch bound: up to the horizon every epoch is believed at once, however long away") {
    EpochBound bound;
    CHECK(bound.raised(start, {1}, {2}) == Epoch{2});
    CHECK(bound.raised(start, {1}, {1024ULL * 1'800'000'000'000}) ==
          Epoch{1024ULL * 1'800'000'000'000});
    CHECK(bound.raised(start, {1}, horizon) == horizon);
    CHECK(bound == EpochBound{});  // nothing is remembered of it
}

TEST_CASE("epoch bound: nothing lowers an epoch") {
    EpochBound bound;
    CHECK(bound.raised(start, {9}, {3}) == Epoch{9});
    CHECK(bound.raised(start, horizon + 9, {3}) == horizon + 9);
}

// R9.5
TEST_CASE("epoch bound: nonsense is not followed at all") {
    EpochBound bound;
    for (const std::uint64_t told : {EpochBound::nonsense.value, std::uint64_t{INT64_MAX}})
        CHECK(bound.raised(start, {5000}, {told}) == Epoch{5000});
}

// R9.1
TEST_CASE("epoch bound: above the horizon it rises by one step a window, whoever says what") {
    EpochBound bound;
    Epoch seen{5000};
    for (int i = 0; i < 1000; ++i) seen = bound.raised(start, seen, horizon + 1000 * step);
    CHECK(seen == horizon + step);
    for (int i = 0; i < 1000; ++i)
        seen = bound.raised(start + (EpochBound::window - Duration{1}), seen, seen + step);
    CHECK(seen == horizon + step);
    seen = bound.raised(start + EpochBound::window, seen, horizon + 1000 * step);
    CHECK(seen == horizon + 2 * step);
}

TEST_CASE("epoch bound: small steps use up a window like a large one") {
    EpochBound bound;
    Epoch seen = horizon;
    for (std::uint64_t i = 0; i < 3 * step / 1024; ++i)
        seen = bound.raised(start, seen, seen + 1024);
    CHECK(seen == horizon + step);
}

TEST_CASE("epoch bound: who was away catches up in a window for each that the others have spent") {
    EpochBound bound;
    Epoch seen{5000};
    Instant now = start;
    const Epoch theirs = horizon + 20 * step;
    int windows = 0;
    for (; seen < theirs; now = now + EpochBound::window, ++windows)
        seen = bound.raised(now, seen, theirs);
    CHECK(windows == 20);
}

// ---- At a node.

NodeFixture voter() {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.disk_answers(true);
    node.recover();
    node.connect(2);
    node.connect(3);
    return node;
}

// R2.2b, R9.4
TEST_CASE("epoch bound: a request above it is refused, and nothing of it becomes durable") {
    for (const bool renew : {false, true}) {
        NodeFixture node = voter();
        Coordinator request = node.candidacy(INT64_MAX);
        request.renew = renew;
        const test::Actions actions = node.hear(2, request);
        CHECK(sent_one<Nack>(actions).reason == NackReason::epoch_too_high);
        CHECK(only<Persist>(actions).empty());
        CHECK(node.view().promised_to == nobody);
    }
}

TEST_CASE("epoch bound: two nodes that were raised differently find one epoch for both") {
    NodeFixture node = voter();
    const Epoch theirs = horizon + 5 * step + 1;
    int windows = 0;
    bool granted = false;
    for (; !granted && windows < 10; ++windows) {
        granted = !sent<Grant>(node.hear(2, node.candidacy(theirs.value))).empty();
        node.after(EpochBound::window);
    }
    CHECK(granted);
    CHECK(windows == 6);
}

// R9.5
TEST_CASE(
    "epoch bound: an epoch that is nonsense is nobody's leadership and nobody's resignation") {
    NodeFixture node = voter();
    const Coordinator renewal{{5001}, node.timing().lease, node.now(), true, true};
    node.hear(3, renewal);
    Heartbeat heartbeat = node.heartbeat_from(2);
    heartbeat.leader = {2};
    heartbeat.leader_epoch = {INT64_MAX};
    heartbeat.leader_announced = true;
    heartbeat.leader_remaining = seconds(1);
    CHECK(only<LeaderChanged>(node.hear(2, heartbeat)).empty());
    CHECK(only<LeaderChanged>(node.hear(3, Resign{{INT64_MAX}, {2}})).empty());
    CHECK(node.view().leader == NodeId{3});
}

TEST_CASE("epoch bound: a STALE that asks for no other epoch does not make a candidate hurry") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.stand({1, 2});
    const Nack stale{
        node.own_incarnation(), {5001}, NackReason::stale, nobody, {INT64_MAX}, {}, false};
    CHECK(sent<Coordinator>(node.hear(1, stale)).empty());
}

// R9.6
TEST_CASE("epoch bound: the wall clock of a machine gone mad leaves room for elections") {
    Config config = test::config_for(1, {1});
    Start fresh = test::start_without_file(config);
    fresh.wall_clock_ms = UINT64_MAX;
    NodeFixture node(config, fresh);
    node.disk_answers(true);
    node.after(seconds(1));
    CHECK(node.view().epoch == horizon + 1);
}

}  // namespace
}  // namespace bullring::protocol::epoch_bound_test
