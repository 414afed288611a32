// Tests the messages of an idle cluster (§6): renewals and their grants stand for the heartbeats
// between leader and followers, and followers tell each other half as often while their leader
// vouches for them.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::quiet_test {
namespace {

using namespace test;

constexpr std::uint64_t leader = 3;
constexpr Epoch epoch{5001};

/// To whom heartbeats went as messages of their own.
std::vector<std::uint64_t> told(const Actions& actions) {
    std::vector<std::uint64_t> peers;
    for (const Send& send : only<Send>(actions))
        if (std::holds_alternative<Heartbeat>(send.message))
            peers.push_back(send.session.value / 1000);
    return peers;
}

/// Node 1 of three follows node 3, beside node 2; a simulated cluster of scripted peers.
class Following {
public:
    explicit Following(Config config = never_leads()) : node(config) {
        node.recover();
        for (const std::uint64_t peer : {2U, 3U}) node.connect(peer);
        for (int i = 0; i < 4; ++i) {
            hear_follower();
            hear_renewal();
            node.after(h());
        }
        REQUIRE(node.view().leader == NodeId{leader});
    }
    static Config never_leads() {
        Config config = test::config_for(1, {1, 2, 3});
        config.priority = Priority::never();
        return config;
    }

    Duration h() const { return node.timing().heartbeat; }
    Heartbeat naming_leader(std::uint64_t peer) const {
        Heartbeat heartbeat = node.heartbeat_from(peer);
        heartbeat.leader = {leader};
        heartbeat.leader_epoch = epoch;
        heartbeat.leader_announced = true;
        heartbeat.leader_remaining = milliseconds(400);
        return heartbeat;
    }
    Actions hear_renewal() { return hear_renewal(naming_leader(leader)); }
    Actions hear_renewal(const Heartbeat& heartbeat) {
        return node.hear(
            leader, Coordinator{epoch, node.timing().lease, node.now(), true, true, heartbeat});
    }
    Actions hear_follower() { return node.hear(2, naming_leader(2)); }
    bool hears(std::uint64_t peer) const {
        return node.view().connected.contains(static_cast<Index>(peer - 1));
    }
    /// Wakes whenever the node wants to, until it has told everybody; how long that took.
    Duration until_told() {
        const Instant since = node.now();
        while (told(node.wake()).empty()) node.pass(node.node().until_wake(node.now()));
        return elapsed(since, node.now());
    }

    NodeFixture node;
};

TEST_CASE("quiet: a leader's renewals carry its heartbeat, and it sends no other") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    node.run_granted(milliseconds(100));
    const Actions actions = node.run_granted(milliseconds(500));
    CHECK(told(actions).empty());
    const std::vector<Coordinator> renewals = sent<Coordinator>(actions);
    CHECK(renewals.size() == 2 * 10);
    for (const Coordinator& renewal : renewals) {
        REQUIRE(renewal.heartbeat.has_value());
        CHECK(renewal.heartbeat->leader == NodeId{3});
        CHECK(renewal.heartbeat->leader_announced);
        CHECK(renewal.heartbeat->heard == MemberSet(0b011));
    }
}

TEST_CASE("quiet: a candidacy and its grant carry no heartbeat") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.stand({1, 2});
    REQUIRE(node.last_request(1).has_value());
    CHECK_FALSE(node.last_request(1)->heartbeat.has_value());
    NodeFixture voter(Following::never_leads());
    voter.recover();
    voter.connect(2);
    const Actions actions =
        voter.hear(2, Coordinator{epoch, milliseconds(250), voter.now(), false, true});
    CHECK_FALSE(sent_one<Grant>(actions).heartbeat.has_value());
}

TEST_CASE("quiet: a leader that renews no more tells all with each period") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    node.run_granted(milliseconds(100));
    node.step(Stalled{});
    REQUIRE(node.role() == Role::stepping_down);
    node.after(node.timing().stagger);
    for (int i = 0; i < 3; ++i) CHECK(told(node.run(node.timing().heartbeat)).size() == 2);
}

TEST_CASE("quiet: a leader's change of state is told after δ, not with the next renewal") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    node.run_granted(milliseconds(100));
    node.lose(1);
    CHECK(told(node.after(node.timing().stagger)) == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("quiet: the heartbeats that a renewal and its grant carry count like others") {
    SUBCASE("the leader's, at a follower") {
        Following cluster;
        Heartbeat deaf = cluster.naming_leader(leader);
        deaf.heard = {};
        CHECK(only<PeerDown>(cluster.hear_renewal(deaf)).size() == 1);
    }
    SUBCASE("a follower's, at the leader") {
        NodeFixture node(test::config_for(3, {1, 2, 3}));
        node.lead({1, 2});
        node.run_granted(milliseconds(100));
        Grant grant = node.grant_from(1);
        grant.heartbeat = node.heartbeat_from(1);
        grant.heartbeat->heard = {};
        CHECK(only<PeerDown>(node.hear(1, grant)).size() == 1);
    }
}

TEST_CASE("quiet: the grant of a renewal tells the leader how its follower is") {
    Following cluster;
    const Actions actions = cluster.hear_renewal();
    const Grant grants = sent_one<Grant>(actions);
    REQUIRE(grants.heartbeat.has_value());
    CHECK(grants.heartbeat->heard == MemberSet(0b110));
    CHECK(grants.heartbeat->leader == NodeId{leader});
}

TEST_CASE("quiet: followers tell each other with every second renewal, and the leader never") {
    Following cluster;
    std::vector<std::size_t> counts;
    for (int i = 0; i < 8; ++i) {
        cluster.hear_follower();
        const std::vector<std::uint64_t> peers = told(cluster.hear_renewal());
        for (const std::uint64_t peer : peers) CHECK(peer == 2);
        counts.push_back(peers.size());
        CHECK(told(cluster.node.after(cluster.h())).empty());
    }
    for (std::size_t i = 2; i < counts.size(); ++i) {
        CHECK(counts[i] + counts[i - 1] == 1);
        CHECK(counts[i] == counts[i - 2]);
    }
}

TEST_CASE("quiet: a follower that the leader does not vouch for is told with every renewal") {
    Following cluster;
    Heartbeat without = cluster.naming_leader(leader);
    Heartbeat follower = cluster.naming_leader(2);
    SUBCASE("the leader does not hear it") { without.heard = MemberSet(0b001); }
    SUBCASE("it follows nobody") { follower.leader = nobody; }
    SUBCASE("it follows the leader of another epoch") { follower.leader_epoch = {5000}; }
    SUBCASE("it has promised to a candidate only") { follower.leader_announced = false; }
    for (int i = 0; i < 6; ++i) {
        cluster.node.hear(2, follower);
        const std::size_t count = told(cluster.hear_renewal(without)).size();
        if (i >= 2) CHECK(count == 1);
        cluster.node.after(cluster.h());
    }
}

TEST_CASE("quiet: when the renewals stop, all are told within h and a half, and then each h") {
    Following cluster;
    cluster.hear_follower();
    cluster.hear_renewal();
    CHECK(cluster.until_told() == cluster.h() + cluster.h() / 2);
    CHECK(cluster.until_told() <= cluster.h());
}

TEST_CASE("quiet: when the leader ends, all are told after δ, and then each h") {
    Following cluster;
    cluster.hear_follower();
    cluster.hear_renewal();
    SUBCASE("its process dies") { cluster.node.lose(leader); }
    SUBCASE("it resigns") { cluster.node.hear(leader, Resign{epoch, nobody}); }
    CHECK(cluster.until_told() == cluster.node.timing().stagger);
    for (int i = 0; i < 3; ++i) {
        cluster.node.pass(Duration{1});
        CHECK(cluster.until_told() <= cluster.h());
    }
}

TEST_CASE("quiet: a leader is suspected after T_s like anybody else") {
    Following cluster;
    cluster.hear_renewal();
    const Duration allowed = cluster.node.timing().suspect_after;
    cluster.node.after(allowed - Duration{1});
    CHECK(cluster.hears(leader));
    cluster.node.after(Duration{1});
    CHECK_FALSE(cluster.hears(leader));
}

// P1.2
TEST_CASE("quiet: a follower that the leader vouches for may be silent for 6h, and no longer") {
    Following cluster;
    cluster.hear_follower();
    const Instant last = cluster.node.now();
    while (cluster.hears(2)) {
        cluster.hear_renewal();
        cluster.node.after(std::min(cluster.h(), cluster.node.node().until_wake(last)));
        REQUIRE(elapsed(last, cluster.node.now()) <= cluster.h() * 7);
    }
    CHECK(elapsed(last, cluster.node.now()) == cluster.h() * 6);
}

// P1.2
TEST_CASE("quiet: a silent follower is suspected at once when nobody vouches for it any more") {
    Following cluster;
    cluster.hear_follower();
    for (int i = 0; i < 5; ++i) {
        cluster.hear_renewal();
        cluster.node.after(cluster.h());
    }
    REQUIRE(cluster.hears(2));  // after 5h, where T_s is 4h
    SUBCASE("the leader does not hear it") {
        Heartbeat without = cluster.naming_leader(leader);
        without.heard = MemberSet(0b001);
        cluster.hear_renewal(without);
    }
    SUBCASE("the leader's process dies") { cluster.node.lose(leader); }
    SUBCASE("the leader resigns") { cluster.node.hear(leader, Resign{epoch, nobody}); }
    CHECK_FALSE(cluster.hears(2));
}

TEST_CASE("quiet: the textbook's leader announces itself once and tells all with each period") {
    Config config = test::config_for(3, {1, 2, 3});
    config.quorum = QuorumMode::none;
    NodeFixture node(config);
    for (const std::uint64_t peer : {1U, 2U}) node.connect(peer);
    node.run(seconds(1));
    REQUIRE(node.role() == Role::leader);
    const Actions actions = node.run(milliseconds(500));
    CHECK(sent<Coordinator>(actions).empty());
    CHECK(told(actions).size() == 2 * 10);
}

}  // namespace
}  // namespace bullring::protocol::quiet_test
