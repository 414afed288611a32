// Tests how often many voters tell each other that they are there (§6): so that the heartbeats of a
// cluster without a leader grow with their number, and not with its square.
#include <numeric>
#include <utility>

#include <doctest/doctest.h>

#include "tests/support/following.hpp"

namespace bullring::protocol::many_voters_test {
namespace {

using namespace test;

/// Node 1 of so many, all with a vote.
Config config_of(std::size_t voters) {
    Ids ids(voters);
    std::iota(ids.begin(), ids.end(), 1);
    return test::config_for(1, ids);
}

/// A heartbeat of `peer`, which follows node 1.
Heartbeat following(Following& cluster, std::uint64_t peer) {
    Heartbeat heartbeat = cluster.node.heartbeat_from(peer);
    heartbeat.leader = {1};
    heartbeat.leader_epoch = {5001};
    heartbeat.leader_announced = true;
    return heartbeat;
}

}  // namespace

TEST_CASE("many voters: while nobody leads, two tell each other every ⌈V/16⌉ periods") {
    constexpr std::pair<std::uint64_t, std::int64_t> cases[] = {{16, 1}, {17, 2}, {40, 3}, {64, 4}};
    for (const auto& [voters, periods] : cases) {
        CAPTURE(voters);
        Following cluster(config_of(voters));
        const Ids first = told<Heartbeat>(cluster.node.run(cluster.h() * periods));
        const Ids later = told<Heartbeat>(cluster.node.run(cluster.h() * (periods * 10)));
        for (std::uint64_t peer = 2; peer <= voters; ++peer) {
            CAPTURE(peer);
            CHECK(count(first, peer) >= 1);
            CHECK(count(later, peer) == 10);
        }
    }
}

TEST_CASE("many voters: each pair at a time of its own") {
    Following cluster(config_of(64));
    cluster.node.run(cluster.h() * 4);
    for (int period = 0; period < 8; ++period)
        CHECK(told<Heartbeat>(cluster.node.run(cluster.h())).size() < 32);
}

// P2.1
TEST_CASE("many voters: one may be silent for three of its heartbeats to this node") {
    SUBCASE("T_s, of few") {
        Following cluster(config_of(16));
        CHECK(cluster.heard_for(2) == cluster.node.timing().suspect_after);
    }
    SUBCASE("its own pace, of many") {
        Following cluster(config_of(64));
        CHECK(cluster.heard_for(2) == cluster.h() * 12);
    }
    SUBCASE("T_s if it leads, or follows this node") {
        Following follower(config_of(64));
        follower.hear_renewal(2);
        CHECK(follower.heard_for(2) == follower.node.timing().suspect_after);
        Following leader(config_of(64));
        leader.node.hear(2, following(leader, 2));
        CHECK(leader.heard_for(2) == leader.node.timing().suspect_after);
    }
    SUBCASE("T_s without a quorum, where all tell all every h") {
        Config config = config_of(64);
        config.quorum = QuorumMode::none;
        Following cluster(config);
        CHECK(cluster.heard_for(2) == cluster.node.timing().suspect_after);
        const Ids heard_of = told<Heartbeat>(cluster.node.run(cluster.h() * 10));
        CHECK(count(heard_of, 3) == 10);
    }
}

TEST_CASE("many voters: a change is told after h, of few after δ") {
    for (const std::size_t voters : {16U, 17U}) {
        CAPTURE(voters);
        Following cluster(config_of(voters));
        const Duration within =
            voters == 16 ? cluster.node.timing().stagger : cluster.node.timing().heartbeat;
        for (int i = 0; i < 4; ++i) {
            cluster.hear_renewal(2);
            cluster.node.run(cluster.h());
        }
        cluster.hear_renewal(2);
        cluster.node.lose(3);
        CHECK(told<Heartbeat>(cluster.node.after(within - Duration{1})).empty());
        CHECK(told<Heartbeat>(cluster.node.after(Duration{1})).size() == voters - 1);
    }
}

}  // namespace bullring::protocol::many_voters_test
