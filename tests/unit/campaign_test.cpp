// The candidate (R1, and R3 up to the election or the abandoned candidacy).
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::campaign_test {
namespace {

using namespace test;

constexpr Epoch first_epoch{5001};  // the fixture's file says hw 5000

/// Node 3 of {1, 2, 3}, recovered: the highest, so it stands as soon as it has a majority.
NodeFixture fresh(std::vector<std::uint64_t> ids = {1, 2, 3}) {
    NodeFixture node(test::config_for(ids.back(), ids));
    node.recover();
    return node;
}
NodeFixture candidate() {
    NodeFixture node = fresh();
    node.stand({1, 2});
    return node;
}
Coordinator request(const NodeFixture& node, Epoch epoch, Instant stamp) {
    return {epoch, node.timing().campaign_lease, stamp, false, true};
}
Nack busy(NodeFixture& node, std::uint64_t holder, bool parked = false) {
    return {node.own_incarnation(),
            node.last_request(1)->epoch,
            NackReason::busy,
            {holder},
            {4990},
            milliseconds(70),
            parked};
}

// R1.4
TEST_CASE("campaign: who has a majority and nobody higher stands at once, for a new epoch") {
    NodeFixture node = fresh();
    node.accept(1);
    node.dial(1);
    node.pass(milliseconds(1));
    CHECK(without_heartbeats(node.hear_heartbeat(1)) ==
          Actions{ElectionStarted{first_epoch, "no leader is known"},
                  RoleChanged{Role::candidate, first_epoch},
                  Send{node.dialled(1), request(node, first_epoch, node.now())}, PeerUp{{1}}});
}

// R1.1
TEST_CASE("campaign: nobody stands who may not") {
    Config config = test::config_for(3, {1, 2, 3});
    SUBCASE("priority never") { config.priority = Priority::never(); }
    SUBCASE("its lease is refused as too long by a majority") {}
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : {1U, 2U}) {
        node.accept(peer);
        HelloAck ack = node.ack_from(peer);
        if (!config.priority.is_never()) ack.lease_max = config.timing.lease - Duration{1};
        node.dial(peer, ack);
    }
    Actions actions = node.hear_heartbeat(1);
    test::append(actions, node.hear_heartbeat(2));
    CHECK(only<RoleChanged>(actions).empty());
    CHECK(only<RoleChanged>(node.run(seconds(2))).empty());
    CHECK(node.role() == Role::follower);
}

TEST_CASE("campaign: who is unhealthy, stopping or recovering does not stand") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.disk_answers(true);
    SUBCASE("recovering") {}
    SUBCASE("unhealthy") {
        node.recover();
        node.step(HealthChanged{false});
    }
    SUBCASE("stopping") {
        node.recover();
        node.step(StopRequested{});
    }
    node.connect(1);
    node.connect(2);
    CHECK(node.role() == Role::follower);
    CHECK(only<RoleChanged>(node.run(milliseconds(400))).empty());
}

// B1.1
TEST_CASE("campaign: without a majority connected nobody stands") {
    NodeFixture node = fresh({1, 2, 3, 4, 5});
    node.connect(1);
    CHECK(only<ElectionStarted>(node.run(seconds(2))).empty());
    CHECK_FALSE(only<ElectionStarted>(node.connect(2)).empty());
}

// R1.1
TEST_CASE("campaign: while its own promise is live to another a node does not stand") {
    NodeFixture node = fresh();
    node.accept(1);
    node.dial(1);
    node.hear(1, node.candidacy(5001));
    REQUIRE(node.view().promised_to == NodeId{1});
    node.connect(2);
    CHECK(node.role() == Role::follower);
}

// R1.2
TEST_CASE("campaign: the epoch is above every epoch that was ever heard of") {
    NodeFixture node = fresh();
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.max_seen = {5300};
    node.accept(1);
    node.dial(1);
    CHECK(sent<Coordinator>(node.hear(1, heartbeat)) ==
          std::vector<Coordinator>{request(node, {5301}, node.now())});
}

// R1.2
TEST_CASE("campaign: an epoch beyond hw is on the disk before anybody is asked for it") {
    NodeFixture node = fresh();
    Heartbeat heartbeat = node.heartbeat_from(1);
    heartbeat.max_seen = {90'000};
    node.accept(1);
    node.dial(1);
    const Actions before = node.hear(1, heartbeat);
    CHECK(sent<Coordinator>(before).empty());
    CHECK(only<RoleChanged>(before).empty());
    CHECK(only_one<Persist>(before).durable.hw >= Epoch{90'001});
    node.pass(milliseconds(20));
    CHECK(sent<Coordinator>(node.persisted()) ==
          std::vector<Coordinator>{request(node, {90'001}, node.now())});
}

// R1.3
TEST_CASE("campaign: the candidate's own promise binds it against rivals") {
    NodeFixture node = candidate();
    const Actions actions = node.hear(1, node.candidacy(5002));
    CHECK(sent<Nack>(actions) ==
          std::vector<Nack>{{node.incarnation_of(1),
                             {5002},
                             NackReason::busy,
                             {3},
                             first_epoch,
                             node.timing().promise(node.timing().campaign_lease),
                             true}});
}

// R1.5
TEST_CASE("campaign: no epoch is used for two candidacies") {
    NodeFixture node = candidate();
    std::vector<Epoch> epochs{first_epoch};
    for (int round = 0; round < 5; ++round) {
        for (const RoleChanged& change : only<RoleChanged>(node.run(milliseconds(300))))
            if (change.role == Role::candidate) epochs.push_back(change.epoch);
    }
    REQUIRE(epochs.size() >= 3);
    for (std::size_t i = 1; i < epochs.size(); ++i) CHECK(epochs[i] > epochs[i - 1]);
}

TEST_CASE("campaign: a peer that comes up during a candidacy is asked with a stamp of its own") {
    NodeFixture node = fresh();
    node.stand({1});
    const Instant first_stamp = node.last_request(1)->stamp;
    node.pass(milliseconds(7));
    node.accept(2);
    node.dial(2);
    REQUIRE(node.last_request(2).has_value());
    CHECK(*node.last_request(2) == request(node, first_epoch, first_stamp + milliseconds(7)));
}

// ---- Elected.

TEST_CASE(
    "campaign: the majority's grant makes a leader, that renews with its full lease at once") {
    NodeFixture node = candidate();
    const Instant stamp = node.last_request(1)->stamp;
    node.pass(milliseconds(2));
    MemberSet grants;
    grants.insert(0);
    grants.insert(2);
    const Coordinator renewal{first_epoch, node.timing().lease, node.now(), true, true};
    CHECK(without_heartbeats(node.answer_grant(1)) ==
          Actions{RoleChanged{Role::leader, first_epoch},
                  Publish{first_epoch, stamp + node.timing().campaign_lease},
                  Elected{first_epoch, grants}, StartTask{first_epoch},
                  Publish{first_epoch, stamp + node.timing().campaign_lease},
                  Send{node.dialled(1), renewal}, Send{node.dialled(2), renewal},
                  LeaderChanged{{3}, first_epoch, "app-3"}});
}

TEST_CASE("campaign: a node alone leads without asking anybody") {
    NodeFixture node(test::config_for(1, {1}));
    node.disk_answers(true);
    const Actions actions = node.wake();
    CHECK(only<StartTask>(actions) == std::vector<StartTask>{{first_epoch}});
    CHECK(sent<Coordinator>(actions).empty());
    CHECK(node.role() == Role::leader);
}

// R3.2, R3.5
TEST_CASE("campaign: a grant that does not belong to this candidacy is not counted") {
    NodeFixture node = candidate();
    Grant grant = node.grant_from(1);
    SUBCASE("another epoch") { grant.epoch = {5000}; }
    SUBCASE("a later epoch") { grant.epoch = {5002}; }
    SUBCASE("another run of this node") { grant.holder_incarnation = {12345}; }
    SUBCASE("a voter that is not the process at that address") {
        grant.voter_incarnation = {12345};
    }
    SUBCASE("tied to a session that never was") { grant.tied_session = {99}; }
    SUBCASE("tied to a session to another peer") { grant.tied_session = node.dialled(2); }
    SUBCASE("already over") { grant.stamp = node.now() - node.timing().campaign_lease; }
    CHECK(without_heartbeats(node.hear(1, grant)) == Actions{});
    CHECK(node.role() == Role::candidate);
}

// R3.3
TEST_CASE("campaign: a grant tied to a session that is closed by now is not counted") {
    NodeFixture node = candidate();
    const Grant grant = node.grant_from(1);
    const Actions closed = node.step(SessionEnded{node.dialled(1), SessionEnd::eof});
    CHECK(only<CloseSession>(closed) == std::vector<CloseSession>{{node.dialled(1)}});
    node.hear(1, grant);
    CHECK(node.role() == Role::candidate);
}

// R3.3
TEST_CASE("campaign: an untied grant counts whatever became of the session") {
    NodeFixture node = candidate();
    Grant grant = node.grant_from(1);
    grant.tied_session = no_session;
    node.step(SessionEnded{node.dialled(1), SessionEnd::eof});
    node.hear(1, grant);
    CHECK(node.role() == Role::leader);
}

// R3.2
TEST_CASE("campaign: a voter whose handshake has not been answered yet cannot vote") {
    NodeFixture node = fresh({1, 2, 3});
    node.stand({1});
    node.accept(2);
    Grant grant = node.grant_from(1);
    grant.voter_incarnation = node.incarnation_of(2);
    grant.tied_session = no_session;
    node.hear(2, grant);
    CHECK(node.role() == Role::candidate);
}

// ---- Refused.

// R3.10
TEST_CASE("campaign: STALE raises the epoch, resigns the old one and stands again at once") {
    NodeFixture node = candidate();
    const Nack nack{node.own_incarnation(), first_epoch, NackReason::stale, nobody, {5050}, {}};
    const Coordinator again = request(node, {5051}, node.now());
    CHECK(without_heartbeats(node.hear(1, nack)) ==
          Actions{RoleChanged{Role::follower, first_epoch},
                  Send{node.dialled(1), Resign{first_epoch, nobody}},
                  Send{node.dialled(2), Resign{first_epoch, nobody}},
                  RoleChanged{Role::candidate, {5051}}, Send{node.dialled(1), again},
                  Send{node.dialled(2), again}});
}

// R3.11
TEST_CASE("campaign: the majority's refusal abandons it, releases its own promise and says so") {
    NodeFixture node = candidate();
    CHECK(without_heartbeats(node.hear(1, busy(node, 2))) == Actions{});
    Nack second = busy(node, 1);
    CHECK(without_heartbeats(node.hear(2, second)) ==
          Actions{RoleChanged{Role::follower, first_epoch},
                  Send{node.dialled(1), Resign{first_epoch, nobody}},
                  Send{node.dialled(2), Resign{first_epoch, nobody}}});
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("campaign: a voter that refuses twice has refused once") {
    NodeFixture node = candidate();
    node.hear(1, busy(node, 2));
    node.hear(1, busy(node, 2));
    CHECK(node.role() == Role::candidate);
}

TEST_CASE("campaign: a refusal of an older candidacy changes nothing") {
    NodeFixture node = candidate();
    for (const std::uint64_t peer : {1U, 2U}) {
        Nack nack = busy(node, 2);
        nack.epoch = {5000};
        node.hear(peer, nack);
        nack = busy(node, 2);
        nack.holder_incarnation = {12345};
        node.hear(peer, nack);
    }
    CHECK(node.role() == Role::candidate);
}

TEST_CASE(
    "campaign: BUSY with a holder that is known to be gone is ignored when it has parked us") {
    NodeFixture node = fresh({1, 2, 3});
    node.accept(2);
    node.dial(2);
    node.accept(1);
    node.dial(1);
    node.hear(2, node.renewal(5001));
    node.hear_heartbeat(1);
    node.lose(2);  // FIN of the leader: this node is free, node 1 has not seen it yet
    while (node.role() != Role::candidate) node.after(milliseconds(1));
    Nack nack{node.own_incarnation(),
              node.last_request(1)->epoch,
              NackReason::busy,
              {2},
              {5001},
              milliseconds(400),
              true};
    node.hear(1, nack);
    CHECK(node.role() == Role::candidate);
    CHECK(node.view().leader == nobody);
    node.answer_grant(1);
    CHECK(node.role() == Role::leader);
}

// R3.11
TEST_CASE("campaign: without an answer it is abandoned after T_camp") {
    NodeFixture node = candidate();
    node.after(node.timing().campaign_wait - Duration{1});
    CHECK(node.role() == Role::candidate);
    const Actions actions = without_heartbeats(node.after(Duration{1}));
    CHECK(sent<Resign>(actions) ==
          std::vector<Resign>{{first_epoch, nobody}, {first_epoch, nobody}});
    CHECK(node.role() == Role::follower);
}

TEST_CASE("campaign: the end of an abandoned one serves who is parked here, in the same step") {
    NodeFixture node = candidate();
    node.pass(milliseconds(50));
    node.hear(1, node.candidacy(5002));
    const Actions actions = node.after(node.timing().campaign_wait - milliseconds(50));
    CHECK(sent<Resign>(actions).size() == 2);
    CHECK(sent<Grant>(actions).size() == 1);
    CHECK(node.view().promised_to == NodeId{1});
}

// R3.11
TEST_CASE("campaign: after an abandoned one it waits until a majority can be free") {
    NodeFixture node = candidate();
    for (const std::uint64_t peer : {1U, 2U}) {
        Nack nack = busy(node, nobody.value);
        nack.remaining = milliseconds(peer == 1 ? 70 : 300);
        node.hear(peer, nack);
    }
    REQUIRE(node.role() == Role::follower);
    node.run(milliseconds(69));
    CHECK(node.role() == Role::follower);
    node.run(milliseconds(31));
    CHECK(node.role() == Role::candidate);
}

// R3.12
TEST_CASE("campaign: that wait is over when the leader that it followed since is lost") {
    bool won = false;
    SUBCASE("it had won") { won = true; }
    SUBCASE("it was a candidate, who failed") {}
    NodeFixture node = candidate();
    for (const std::uint64_t peer : {1U, 2U}) {
        Nack nack = busy(node, nobody.value);
        nack.remaining = milliseconds(300);
        node.hear(peer, nack);
    }
    REQUIRE(node.role() == Role::follower);
    node.hear(1, Coordinator{{5100}, milliseconds(250), node.now(), won, true});
    REQUIRE(node.view().promised_to == NodeId{1});
    node.lose(1);
    node.wake();
    CHECK(node.role() == (won ? Role::candidate : Role::follower));
}

// R3.1
TEST_CASE("campaign: a late grant cannot elect who has abandoned") {
    NodeFixture node = candidate();
    const Grant grant = node.grant_from(1);
    node.after(node.timing().campaign_wait);
    REQUIRE(node.role() == Role::follower);
    CHECK(without_heartbeats(node.hear(1, grant)) == Actions{});
    CHECK(node.role() == Role::follower);
}

}  // namespace
}  // namespace bullring::protocol::campaign_test
