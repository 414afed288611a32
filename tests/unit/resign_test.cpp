// A user's resignation: the successor, the refusals, the answer, and standing back afterwards (R5).
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::resign_test {
namespace {

using namespace test;

constexpr Epoch epoch{5001};

NodeFixture leader() {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1, 2});
    return node;
}
NodeFixture resigned(NodeId to) {
    NodeFixture node = leader();
    node.step(ResignRequested{to, {Asker::observer, 77}});
    node.step(TaskEnded{epoch});
    REQUIRE(node.role() == Role::follower);
    return node;
}

// R5.8
TEST_CASE("resign: without a name the highest that may stand is the successor") {
    NodeFixture node = leader();
    SUBCASE("all may stand") {
        node.step(ResignRequested{nobody, {}});
        CHECK(sent<Resign>(node.step(TaskEnded{epoch})).at(0).successor == NodeId{2});
    }
    SUBCASE("the highest is not connected to a majority") {
        Heartbeat heartbeat = node.heartbeat_from(2);
        heartbeat.quorum_connected = false;
        node.hear(2, heartbeat);
        node.step(ResignRequested{nobody, {}});
        CHECK(sent<Resign>(node.step(TaskEnded{epoch})).at(0).successor == NodeId{1});
    }
    SUBCASE("a lower id has the higher priority") {
        HelloReceived hello = node.hello_from(1);
        hello.hello.priority = {5};
        node.accept(hello);
        node.hear_heartbeat(1);
        node.step(ResignRequested{nobody, {}});
        CHECK(sent<Resign>(node.step(TaskEnded{epoch})).at(0).successor == NodeId{1});
    }
}

// R5.8, R5.12
TEST_CASE("resign: a successor that could not lead is refused with the reason") {
    NodeFixture node = leader();
    NodeId to{1};
    Heartbeat heartbeat = node.heartbeat_from(1);
    std::string why;
    bool lasting = false;  // no waiting changes it
    SUBCASE("not a member") {
        to = {9};
        why = "node 9 is not a member";
        lasting = true;
    }
    SUBCASE("itself") {
        to = {3};
        why = "node 3 is the leader itself";
        lasting = true;
    }
    SUBCASE("not connected") {
        node.lose(1);
        why = "node 1 is not connected";
    }
    SUBCASE("connected one way only") {
        heartbeat.heard = {};
        node.hear(1, heartbeat);
        why = "node 1 is not connected";
    }
    SUBCASE("recovering") {
        heartbeat.recovering = true;
        node.hear(1, heartbeat);
        why = "node 1 is silent after a restart";
    }
    SUBCASE("not eligible") {
        heartbeat.eligible = false;
        node.hear(1, heartbeat);
        why = "node 1 does not stand at the moment";
    }
    SUBCASE("without a majority") {
        heartbeat.quorum_connected = false;
        node.hear(1, heartbeat);
        why = "node 1 is not connected to a majority";
    }
    SUBCASE("a voter that never leads") {
        HelloReceived hello = node.hello_from(1);
        hello.hello.priority = Priority::never();
        node.accept(hello);
        node.hear_heartbeat(1);
        why = "node 1 is a voter that never leads (priority never)";
        lasting = true;
    }
    SUBCASE("a voter that never led, and may come back with another priority") {
        HelloReceived hello = node.hello_from(1);
        hello.hello.priority = Priority::never();
        node.accept(hello);
        node.hear_heartbeat(1);
        node.lose(1);
        why = "node 1 is not connected";
    }
    CHECK(without_heartbeats(node.step(ResignRequested{to, {Asker::observer, 77}})) ==
          Actions{ResignAnswer{{Asker::observer, 77}, false, why, lasting}});
    CHECK(node.role() == Role::leader);
}

// R5.12
TEST_CASE("resign: with nobody to take over it is refused and the leader stays") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1});
    node.lose(1);
    const Actions actions = node.step(ResignRequested{nobody, {Asker::observer, 77}});
    CHECK_FALSE(only_one<ResignAnswer>(actions).done);
    CHECK(only_one<ResignAnswer>(actions).why.find("no successor") == 0);
    CHECK_FALSE(only_one<ResignAnswer>(actions).lasting);
    CHECK(node.role() == Role::leader);
}

TEST_CASE("resign: who is about to stand still hands over regardless, to nobody if need be") {
    NodeFixture node(test::config_for(3, {1, 2, 3}));
    node.lead({1});
    NodeId successor{1};
    SUBCASE("there is a successor") {}
    SUBCASE("there is none") {
        node.lose(1);
        successor = nobody;
    }
    node.step(ResignRequested{nobody, {}, true});
    CHECK(node.role() == Role::stepping_down);
    const Actions actions = node.step(TaskEnded{epoch});
    CHECK(only_one<Deposed>(actions).reason == DeposedReason::resigned);
    for (const Resign& resign : sent<Resign>(actions)) CHECK(resign.successor == successor);
    CHECK(node.role() == Role::follower);
}

// R5.12
TEST_CASE("resign: where no other member ever leads, the refusal is lasting") {
    const ResignAnswer refused{
        {Asker::observer, 77}, false, "no successor: no other member ever leads", true};
    SUBCASE("there is no other member") {
        NodeFixture node(test::config_for(1, {1}));
        node.disk_answers(true);
        node.wake();
        CHECK(only<ResignAnswer>(node.step(ResignRequested{nobody, {Asker::observer, 77}})) ==
              std::vector<ResignAnswer>{refused});
    }
    SUBCASE("the others are voters that never lead") {
        NodeFixture node = leader();
        for (const NodeId id : {NodeId{1}, NodeId{2}}) {
            HelloReceived hello = node.hello_from(id.value);
            hello.hello.priority = Priority::never();
            node.accept(hello);
            node.hear_heartbeat(id.value);
        }
        CHECK(only<ResignAnswer>(node.step(ResignRequested{nobody, {Asker::observer, 77}})) ==
              std::vector<ResignAnswer>{refused});
    }
}

TEST_CASE("resign: who does not lead refuses") {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    node.connect(2);
    const Actions actions = node.step(ResignRequested{nobody, {Asker::observer, 77}});
    CHECK_FALSE(only_one<ResignAnswer>(actions).done);
}

TEST_CASE("resign: it is answered when the other leader is in place, and only once") {
    NodeFixture node = resigned({1});
    CHECK(only<ResignAnswer>(node.hear(1, node.candidacy(5002))).empty());
    CHECK(only<ResignAnswer>(node.hear(1, node.renewal(5002))) ==
          std::vector<ResignAnswer>{{{Asker::observer, 77}, true, ""}});
    CHECK(only<ResignAnswer>(node.hear(1, node.renewal(5002))).empty());
}

TEST_CASE("resign: it keeps the reservation that it announced") {
    NodeFixture node = resigned({1});
    CHECK(sent_one<Nack>(node.hear(2, node.candidacy(5002))).reason == NackReason::reserved);
    CHECK(sent<Grant>(node.hear(1, node.candidacy(5003))).size() == 1);
}

// R5.9
TEST_CASE("resign: it stands back for T_res + T_coord and answers DECLINE until then") {
    NodeFixture node = resigned({1});
    const Duration back = node.timing().reservation() + node.timing().coordinator_wait;
    CHECK(sent<Decline>(node.hear(1, Election{4})) == std::vector<Decline>{{4}});
    CHECK(only<ElectionStarted>(node.run(back - milliseconds(1))).empty());
    CHECK(sent<Decline>(node.hear(1, Election{5})) == std::vector<Decline>{{5}});
    CHECK_FALSE(only<ElectionStarted>(node.run(milliseconds(1))).empty());
}

// R5.9
TEST_CASE("resign: another leader's renewal ends the standing back") {
    NodeFixture node = resigned({1});
    node.hear(1, node.renewal(5002));
    node.lose(1);  // that leader dies at once; only its reservation is left
    node.run(node.timing().reservation() + milliseconds(1));
    CHECK(node.role() == Role::candidate);
}

// R5.13
TEST_CASE("resign: after it a node says that it has had no majority for a hold-off that doubles") {
    NodeFixture node = leader();
    REQUIRE(node.timing().hand_over_hold_off == seconds(60));
    node.disk_answers(true);
    node.run_granted(milliseconds(300));
    const auto age = [&] {
        const std::vector<Heartbeat> heartbeats = sent<Heartbeat>(node.run(milliseconds(50)));
        REQUIRE_FALSE(heartbeats.empty());
        return heartbeats.back().quorum_age;
    };
    for (const Duration hold_off : {seconds(60), seconds(120), seconds(240)}) {
        CAPTURE(hold_off.ns);
        const Epoch led = node.view().epoch;
        node.step(ResignRequested{{1}, {}});
        node.step(TaskEnded{led});
        REQUIRE(node.role() == Role::follower);
        node.hear(1, node.renewal(led.value + 1));
        CHECK(age() == Duration{0});
        node.run(hold_off - seconds(1));
        CHECK(age() == Duration{0});
        node.run(seconds(1));
        CHECK(age() > hold_off);  // the true age again
        REQUIRE(node.role() == Role::candidate);
        node.answer_grant(1);
        node.answer_grant(1);
        REQUIRE(node.role() == Role::leader);
    }
}

// ---- RESIGN naming this node.

// R5.14
TEST_CASE("successor: who is named stands at once, without asking anybody") {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    node.accept(3);
    node.dial(3);
    node.hear(3, node.renewal(5001));
    node.hear_heartbeat(3);
    node.connect(2);
    const Coordinator request{{5002}, node.timing().campaign_lease, node.now(), false, true};
    CHECK(without_heartbeats(node.hear(3, Resign{{5001}, {1}})) ==
          Actions{ElectionStarted{{5002}, "named as the successor"},
                  RoleChanged{Role::candidate, {5002}}, Send{node.dialled(2), request},
                  Send{node.dialled(3), request},
                  LeaderChanged{nobody, {5001}, "", false, node.now()}});
}

TEST_CASE("successor: it stands even when it held no promise for the one that resigns") {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    node.connect(3);
    CHECK(sent<Coordinator>(node.hear(3, Resign{{5001}, {1}})).size() == 1);
}

// R5.14
TEST_CASE("successor: it does not stand while its promise is live to somebody else") {
    NodeFixture node(test::config_for(1, {1, 2, 3}));
    node.recover();
    for (const std::uint64_t peer : {2U, 3U}) {
        node.accept(peer);
        node.dial(peer);
    }
    node.hear(2, node.renewal(5002));
    CHECK(sent<Coordinator>(node.hear(3, Resign{{5001}, {1}})).empty());
    CHECK(node.role() == Role::follower);
}

}  // namespace
}  // namespace bullring::protocol::resign_test
