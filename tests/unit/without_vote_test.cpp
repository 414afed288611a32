// Tests what members without a vote are asked and told (§6, §8): less than those that elect, so
// that the cost of a cluster does not grow with the square of their number.
#include <algorithm>

#include <doctest/doctest.h>

#include "protocol/values/member_change.hpp"
#include "tests/support/following.hpp"

namespace bullring::protocol::without_vote_test {
namespace {

using namespace test;

/// Node `self` of the voters 1, 2 and 3 and of others without a vote, 4 and up.
Config config_of(std::uint64_t self, std::size_t without_vote,
                 Algorithm algorithm = Algorithm::bully) {
    Ids ids;
    std::vector<MemberEntry> entries;
    for (std::uint64_t id = 1; id <= 3 + without_vote; ++id) {
        ids.push_back(id);
        entries.push_back({{id}, static_cast<Index>(id - 1), id <= 3, "h:" + std::to_string(id)});
    }
    Config config = test::config_for(self, ids, algorithm);
    config.members = Membership({{4000}, 1}, entries, {{1}, {2}, {3}});
    return config;
}

}  // namespace

// R1.4
TEST_CASE("without a vote: a candidate asks those with one, also when another comes") {
    SUBCASE("bully") {
        NodeFixture node(config_of(5, 2));
        node.recover();
        node.connect(4);
        node.connect(1);
        const Actions actions = node.connect(2);
        REQUIRE(node.role() == Role::candidate);
        CHECK(told<Coordinator>(actions) == Ids{1, 2});
        CHECK(told<Coordinator>(node.dial(4)).empty());
        CHECK(told<Coordinator>(node.dial(3)) == Ids{3});
        // Those who have a vote are enough.
        node.answer_grant(1);
        node.answer_grant(2);
        CHECK(node.role() == Role::leader);
        CHECK(node.last_request(4)->renew);
    }
    SUBCASE("ring: by a token that visits nobody else") {
        NodeFixture node(config_of(3, 2, Algorithm::ring));
        node.recover();
        for (const std::uint64_t peer : {1U, 2U, 4U, 5U}) node.connect(peer);
        CoordinatorToken token;
        token.walk = node.walk_from(1, {0, 1});
        token.request = node.candidacy(5001);
        token.request.tag = *node.config().members.tag();
        CHECK(told<CoordinatorToken>(node.hear(2, token)) == Ids{1});
    }
}

TEST_CASE("without a vote: the ring's search visits who elects, and who outranks its owner") {
    NodeFixture node(config_of(1, 4, Algorithm::ring));
    node.recover();
    for (std::uint64_t peer = 2; peer <= 7; ++peer) node.connect(peer);
    const auto next_of = [&](std::uint64_t owner, std::vector<Index> path, std::uint64_t round) {
        Token token;
        token.walk = node.walk_from(owner, std::move(path), 2, round);
        token.max_seen = {5000};
        return told<Token>(node.hear(owner, token));
    };
    CHECK(next_of(5, {4}, 1) == Ids{2});
    CHECK(next_of(5, {4, 1, 2}, 2) == Ids{6});
    CHECK(next_of(6, {5, 1, 2}, 1) == Ids{7});
    CHECK(next_of(7, {6, 1, 2}, 1) == Ids{7});  // it goes home
}

TEST_CASE("without a vote: the token's wait grows with a list that grows") {
    const Timing timing = make_timing(TimingRequest{}, 1, Algorithm::ring);
    CHECK(timing.ring_wait_of(1) == timing.ring_wait);
    CHECK(timing.ring_wait_of(3) == timing.ring_wait);
    CHECK(timing.ring_wait_of(64) == timing.hop_wait + timing.round_trip * (6 * 63));
    // As if they had all been there at the start.
    CHECK(timing.ring_wait_of(64) == make_timing(TimingRequest{}, 64, Algorithm::ring).ring_wait);
}

TEST_CASE("without a vote: one is asked for renewals half as often") {
    NodeFixture node(config_of(3, 1));
    node.disk_answers(true);
    node.lead({1, 2});
    node.connect(4);
    node.run_granted(node.timing().heartbeat * 2);
    const Ids asked = told<Coordinator>(node.run_granted(node.timing().heartbeat * 10));
    CHECK(count(asked, 1) == 10);
    CHECK(count(asked, 4) == 5);

    // A change is everybody's affair at once.
    const Actions changed =
        node.step(MembersRequested{{MemberChange::What::add, {5}, "h:5"}, {Asker::observer, 7}});
    CHECK(count(told<Coordinator>(changed), 4) == 1);
}

TEST_CASE("without a vote: a change of state is told to who elects or leads, and after h") {
    Following cluster(config_of(4, 4));
    for (int i = 0; i < 4; ++i) {
        cluster.hear_renewal(7);
        cluster.node.run(cluster.h());
    }
    cluster.hear_renewal(7);
    cluster.node.lose(3);
    CHECK(told<Heartbeat>(cluster.node.after(cluster.h() - Duration{1})).empty());
    CHECK(told<Heartbeat>(cluster.node.after(Duration{1})) == Ids{1, 2, 3, 7});

    // Whether it may stand, all are told.
    CHECK(told<Heartbeat>(cluster.node.step(HealthChanged{false})).empty());
    CHECK(told<Heartbeat>(cluster.node.after(cluster.h())) == Ids{1, 2, 3, 5, 6, 7});
}

TEST_CASE("without a vote: those with one tell their changes after δ to each other alone") {
    Following cluster(config_of(1, 2));
    cluster.hear_renewal(3);
    cluster.node.run(cluster.h());
    cluster.hear_renewal(3);
    cluster.node.lose(5);
    CHECK(told<Heartbeat>(cluster.node.after(cluster.node.timing().stagger)) == Ids{2, 3});
}

TEST_CASE("without a vote: two tell each other twice in as many periods as there are of them") {
    constexpr std::size_t others = 20;
    Following cluster(config_of(4, others + 1));
    const Ids first = told<Heartbeat>(cluster.node.run(cluster.h() * 11));
    const Ids told_then = told<Heartbeat>(cluster.node.run(cluster.h() * 11 * 10));
    for (std::uint64_t peer = 5; peer <= 4 + others; ++peer) {
        CAPTURE(peer);
        CHECK(count(first, peer) >= 1);
        CHECK(count(told_then, peer) == 10);
    }
    CHECK(count(told_then, 1) == 110);  // with a vote; nobody leads
    CHECK(Timing::periods_without_votes(others + 1) == 11);
    CHECK(Timing::periods_without_votes(2) == 2);
}

// P1.1
TEST_CASE("without a vote: a peer may be silent for three of its heartbeats to this node") {
    SUBCASE("a voter for T_s, to a voter") {
        Following voter(config_of(1, 1));
        CHECK(voter.heard_for(2) == voter.node.timing().suspect_after);
    }
    SUBCASE("6h, to and from a voter") {
        Following voter(config_of(1, 1));
        CHECK(voter.heard_for(4) == voter.h() * 6);
        Following without(config_of(4, 1));
        CHECK(without.heard_for(1) == without.h() * 6);
    }
    SUBCASE("its own pace, of two without one; 6h if it leads") {
        Following cluster(config_of(4, 20));
        CHECK(cluster.heard_for(5) == cluster.h() * 30);
        cluster.node.hear_heartbeat(5);
        cluster.hear_renewal(5);
        CHECK(cluster.heard_for(5) == cluster.h() * 6);
    }
    SUBCASE("6h, of two without one, to its leader") {
        Following leader(config_of(4, 20));
        Heartbeat follows = leader.node.heartbeat_from(5);
        follows.leader = {4};
        follows.leader_epoch = {5001};
        follows.leader_announced = true;
        leader.node.hear(5, follows);
        CHECK(leader.heard_for(5) == leader.h() * 6);
    }
    SUBCASE("T_s for a leader without one, to a voter") {
        Following cluster(config_of(1, 1));
        cluster.hear_renewal(4);
        CHECK(cluster.heard_for(4) == cluster.node.timing().suspect_after);
    }
}

}  // namespace bullring::protocol::without_vote_test
