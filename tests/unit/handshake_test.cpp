// The handshake (§3, §4): everything that must agree, who is refused, and what both sides are told.
#include <functional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "protocol/values/dialling.hpp"
#include "protocol/values/member_change.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::handshake_test {
namespace {

using namespace test;

NodeFixture voter() {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();
    NodeFixture node(config);
    node.recover();
    return node;
}

TEST_CASE(
    "handshake: a dialler says all that must agree, its lease and its number of the session") {
    NodeFixture node = voter();
    const Addresses addresses{"10.0.0.1:50000", "10.0.0.2:9000"};
    const std::vector<Hello> hellos = sent<Hello>(node.step(Dialled{{2}, {2500}, addresses}));
    Hello expected;
    expected.cluster = "unit";
    expected.members = {{1}, {2}, {3}};
    expected.id = {1};
    expected.incarnation = node.own_incarnation();
    expected.session = {2500};
    expected.priority = Priority::never();
    expected.lease = node.timing().lease;
    expected.heartbeat_period = node.timing().heartbeat;
    expected.advertised = "app-1";
    expected.addresses = addresses;
    expected.fast_release = FastRelease::fin;
    expected.had_file_at_start = true;
    expected.cluster_id = test::cluster_id;
    expected.directory = test::start_with_file(node.config()).file->directory;
    CHECK(hellos == std::vector<Hello>{expected});
}

TEST_CASE("handshake: nothing but HELLO is sent before the answer to it") {
    NodeFixture node = voter();
    node.accept(2);
    const SessionId session{2500};
    Actions actions = node.step(Dialled{{2}, session, {}});
    for (int i = 0; i < 10; ++i) {
        node.hear_heartbeat(2);
        test::append(actions, node.after(milliseconds(50)));
    }
    int sends = 0;
    for (const Send& send : only<Send>(actions)) {
        if (send.session != session) continue;
        ++sends;
        CHECK(std::holds_alternative<Hello>(send.message));
    }
    CHECK(sends == 1);
}

TEST_CASE("handshake: an accepted HELLO is answered and the peer is dialled back at once") {
    NodeFixture node = voter();
    HelloAck ack;
    ack.id = {1};
    ack.incarnation = node.own_incarnation();
    ack.priority = Priority::never();
    ack.lease = node.timing().lease;
    HelloReceived hello = node.hello_from(2);
    hello.hello.had_file_at_start = true;
    ack.addresses = hello.addresses;
    ack.max_seen = {5000};
    ack.promised_max = node.timing().promise(node.timing().lease);
    ack.lease_max = node.timing().lease_max;
    ack.had_file_at_start = true;
    ack.version = version_highest;
    ack.cluster_id = test::cluster_id;
    CHECK(without_heartbeats(node.accept(hello)) ==
          Actions{Send{hello.session, ack}, DialNow{{2}}});
}

TEST_CASE("handshake: a peer that is dialled already is not dialled again") {
    NodeFixture node = voter();
    node.dial(2);
    CHECK(only<DialNow>(node.accept(2)).empty());
}

struct Difference {
    const char* field;
    std::function<void(Hello&)> make;
};

// S3.1, S3.2
TEST_CASE("handshake: each thing that must agree refuses with its own name when it does not") {
    const std::vector<Difference> differences{
        {"version",
         [](Hello& h) {
             h.version_lowest = version_highest + 1;
             h.version_highest = version_highest + 2;
         }},
        {"version", [](Hello& h) { h.version_lowest = h.version_highest = 0; }},
        {"cluster", [](Hello& h) { h.cluster = "other"; }},
        {"members",
         [](Hello& h) {
             h.members = {{1}, {2}};
         }},
        {"members",
         [](Hello& h) {
             h.members = {{1}, {2}, {4}};
         }},
        {"quorum", [](Hello& h) { h.quorum = QuorumMode::none; }},
        {"algorithm", [](Hello& h) { h.algorithm = Algorithm::ring; }},
        {"rho", [](Hello& h) { h.rho_ppm = 2000; }},
        {"id", [](Hello& h) { h.id = {9}; }},
        {"id", [](Hello& h) { h.id = {1}; }},
    };
    for (const Difference& difference : differences) {
        CAPTURE(std::string(difference.field));
        NodeFixture node = voter();
        HelloReceived hello = node.hello_from(2);
        difference.make(hello.hello);
        const Actions actions = without_heartbeats(node.step(hello));
        REQUIRE(actions.size() == 3);
        const Refused refused = sent_one<Refused>(actions);
        CHECK(refused.field == difference.field);
        CHECK(actions ==
              Actions{Send{hello.session, refused}, CloseSession{hello.session},
                      HandshakeRefused{hello.hello.id, true, refused, hello.addresses.remote}});
        // Nothing is taken from such a session.
        CHECK(without_heartbeats(node.step(Receive{hello.session, node.candidacy(5001)})).empty());
        CHECK(node.view().promised_to == nobody);
    }
}

TEST_CASE("handshake: what may differ is accepted") {
    NodeFixture node = voter();
    HelloReceived hello = node.hello_from(2);
    hello.hello.version_highest = version_highest + 5;  // overlaps
    hello.hello.priority = {7};
    hello.hello.lease = seconds(1);
    hello.hello.advertised = "elsewhere";
    hello.hello.fast_release = FastRelease::off;
    hello.hello.addresses = {"192.0.2.1:1", "192.0.2.2:2"};
    CHECK(sent<HelloAck>(node.accept(hello)).size() == 1);
}

// ---- Versions of the messages.

// S2.1
TEST_CASE("handshake: the highest version that both ends speak is answered, whoever speaks more") {
    struct Case {
        std::uint16_t mine, lowest, highest, spoken;
    };
    const std::uint16_t top = version_highest;
    for (const Case& c : {Case{top, 1, top, top}, Case{top, 1, 1, 1}, Case{1, 1, top, 1},
                          Case{1, 1, 1, 1}, Case{top, 1, 9, top}, Case{top, top, 9, top}}) {
        CAPTURE(c.mine);
        CAPTURE(c.highest);
        Config config = test::config_for(1, {1, 2, 3});
        config.wire_highest = c.mine;
        NodeFixture node(config);
        node.recover();
        HelloReceived hello = node.hello_from(2);
        hello.hello.version_lowest = c.lowest;
        hello.hello.version_highest = c.highest;
        CHECK(sent_one<HelloAck>(node.accept(hello)).version == c.spoken);
        CHECK(node.view().versions == std::vector<std::uint16_t>{0, c.spoken, 0});
    }
}

TEST_CASE("handshake: a node that is held back says so, and refuses who speaks no version of its") {
    Config config = test::config_for(1, {1, 2, 3});
    config.wire_highest = 1;
    NodeFixture node(config);
    node.recover();
    const Hello hellos = sent_one<Hello>(node.step(Dialled{{2}, {2500}, {}}));
    CHECK(hellos.version_lowest == 1);
    CHECK(hellos.version_highest == 1);
    HelloReceived hello = node.hello_from(3);
    hello.hello.version_lowest = 2;
    hello.hello.version_highest = 3;
    CHECK(sent<Refused>(node.step(hello)) == std::vector<Refused>{{"version", "1-1", "2-3"}});
}

// S2.2
TEST_CASE("handshake: an answer with a version that was not offered ends the session") {
    const std::uint16_t none = 0;
    const std::uint16_t next = version_highest + 1;
    for (const std::uint16_t version : {none, next}) {
        NodeFixture node = voter();
        HelloAck ack = node.ack_from(2);
        ack.version = version;
        const Actions actions = node.dial(2, ack);
        const std::string said = std::to_string(version) + "-" + std::to_string(version);
        CHECK(only_one<HandshakeRefused>(actions).difference ==
              Refused{"version", said, "1-" + std::to_string(version_highest)});
        CHECK(only<CloseSession>(actions) == std::vector<CloseSession>{{node.dialled(2)}});
        CHECK(node.view().versions[1] == 0);
    }
}

TEST_CASE(
    "handshake: a peer with a lower version is told once, and once more that it was the last") {
    NodeFixture node = voter();
    const auto connect = [&](std::uint64_t peer, std::uint16_t version) {
        HelloReceived hello = node.hello_from(peer);
        hello.hello.version_highest = version;
        HelloAck ack = node.ack_from(peer);
        ack.version = version;
        Actions actions = node.accept(hello);
        test::append(actions, node.dial(peer, ack));
        test::append(actions, node.hear_heartbeat(peer));
        std::vector<std::string> notes;
        for (const Note& note : only<Note>(actions)) {
            CHECK(note.level == Note::Level::info);
            notes.push_back(note.text);
        }
        return notes;
    };
    const auto older = [](const char* peer) {
        return std::vector<std::string>{std::string("peer ") + peer +
                                        " speaks version 1 of the wire format at most, this node " +
                                        std::to_string(version_highest)};
    };
    CHECK(connect(2, 1) == older("2"));
    CHECK(connect(3, 1) == older("3"));
    CHECK(node.view().versions == std::vector<std::uint16_t>{0, 1, 1});
    const auto upgrade = [&](std::uint64_t peer) {
        node.lose(peer, SessionEnd::eof);
        node.new_incarnation(peer);
        return connect(peer, version_highest);
    };
    CHECK(upgrade(2).empty());
    CHECK(node.view().versions == std::vector<std::uint16_t>{0, version_highest, 1});
    CHECK(upgrade(3) ==
          std::vector<std::string>{"version " + std::to_string(version_highest) +
                                   " of the wire format is spoken with all peers again"});
    CHECK(upgrade(3).empty());
}

// ---- Two processes with one id.

// S3.3
TEST_CASE("handshake: a second run of an id is refused while the first one is heard") {
    NodeFixture node = voter();
    node.accept(2);
    node.new_incarnation(2);
    CHECK(sent_one<Refused>(node.step(node.hello_from(2))).field == "id");
}

TEST_CASE("handshake: the end of the first run's newest session lets the second one in at once") {
    for (const SessionEnd how :
         {SessionEnd::eof, SessionEnd::reset, SessionEnd::truncated, SessionEnd::timeout}) {
        NodeFixture node = voter();
        node.connect(2);
        node.lose(2, how);
        node.new_incarnation(2);
        CHECK(sent<HelloAck>(node.accept(2)).size() == 1);
    }
}

TEST_CASE("handshake: silence of the first run for T_s lets the second one in") {
    NodeFixture node = voter();
    node.connect(2);
    node.new_incarnation(2);
    node.pass(node.timing().suspect_after - Duration{1});
    CHECK(sent<Refused>(node.step(node.hello_from(2))).size() == 1);
    node.pass(Duration{1});
    CHECK(sent<HelloAck>(node.accept(2)).size() == 1);
}

TEST_CASE(
    "handshake: the end of an older session of the first run does not let the second one in") {
    NodeFixture node = voter();
    node.accept(2);
    const SessionId older = node.accepted(2);
    node.accept(2);
    node.step(SessionEnded{older, SessionEnd::eof});
    node.new_incarnation(2);
    CHECK(sent<Refused>(node.step(node.hello_from(2))).size() == 1);
}

TEST_CASE("handshake: when the second run is silent a first one that talks on says HELLO again") {
    NodeFixture node = voter();
    node.connect(2);
    const Receive talks{node.accepted(2), node.heartbeat_from(2)};
    node.pass(node.timing().suspect_after);
    node.new_incarnation(2);
    node.accept(2);
    CHECK(only<CloseSession>(node.step(talks)).empty());
    SUBCASE("its end was read") { node.lose(2); }
    SUBCASE("no FIN came of it") { node.pass(node.timing().suspect_after); }
    CHECK(only_one<CloseSession>(node.step(talks)).session == talks.session);
}

TEST_CASE("handshake: a late HELLO of a run does not take its newest session's place") {
    NodeFixture node = voter();
    node.accept(2);
    node.connect(2);
    const Receive talks{node.accepted(2), node.heartbeat_from(2)};
    HelloReceived late = node.hello_from(2);
    late.hello.session = {late.hello.session.value - 2};
    node.step(SessionEnded{{talks.session.value - 1}, SessionEnd::timeout});
    SUBCASE("while it is listened to") {}
    SUBCASE("after another run was") {
        node.pass(node.timing().suspect_after);
        node.new_incarnation(2);
        node.accept(2);
        node.lose(2);
    }
    CHECK(sent<HelloAck>(node.step(late)).size() == 1);
    node.step(SessionEnded{late.session, SessionEnd::timeout});
    CHECK(only<CloseSession>(node.step(talks)).empty());
    CHECK(node.view().connected.contains(1));
}

TEST_CASE("handshake: what the first run said of itself is not held to be the second one's") {
    NodeFixture node = voter();
    node.connect(2);
    CHECK(node.view().connected.size() == 1);
    node.lose(2);
    node.new_incarnation(2);
    node.accept(2);
    CHECK(node.view().connected.empty());  // until its own heartbeat
}

// S3.4
TEST_CASE("handshake: the same session twice is refused") {
    NodeFixture node = voter();
    const HelloReceived hello = node.hello_from(2);
    node.accept(hello);
    HelloReceived copy = hello;
    copy.session = {9999};
    CHECK(sent<Refused>(node.step(copy)).size() == 1);
}

TEST_CASE("handshake: of a peer that flaps without end the oldest session is closed") {
    NodeFixture node = voter();
    const HelloReceived first = node.hello_from(2);
    node.accept(first);
    for (std::size_t i = 1; i < SessionTable::per_peer_max; ++i)
        CHECK(only<CloseSession>(node.accept(2)).empty());
    const Actions actions = node.accept(2);
    CHECK(sent<HelloAck>(actions).size() == 1);
    CHECK(only<CloseSession>(actions) == std::vector<CloseSession>{{first.session}});
}

TEST_CASE("handshake: closing the oldest session here releases no promise") {
    NodeFixture node = voter();
    node.accept(2);
    node.dial(2);
    node.hear(2, node.renewal(5001));
    for (std::size_t i = 0; i < SessionTable::per_peer_max; ++i) node.accept(2);
    CHECK(node.view().promised_to == NodeId{2});
}

// ---- The dialler is refused, or has reached somebody else.

TEST_CASE("handshake: a refused dialler says why and closes the session") {
    NodeFixture node = voter();
    node.step(Dialled{{2}, {2500}, {}});
    const Refused refused{"algorithm", "ring", "bully"};
    CHECK(without_heartbeats(node.step(Receive{{2500}, refused})) ==
          Actions{HandshakeRefused{{2}, false, refused, {}}, CloseSession{{2500}}});
}

// ---- Another process with this node's id (R6).

constexpr SessionId to_3{70300};

/// Member 3 answers that it hears another process with the id of this node, 1.
Actions told_of_twin(NodeFixture& node) {
    Actions actions = node.step(Dialled{{3}, to_3, {}});
    test::append(actions, node.step(Receive{
                              to_3, Refused{"id", "another process with id 1 is connected", "1"}}));
    return actions;
}
Actions taken(NodeFixture& node) {
    Actions actions = node.step(Dialled{{3}, to_3, {}});
    test::append(actions, node.step(Receive{to_3, node.ack_from(3)}));
    return actions;
}
/// How long it is silent for the last refusal alone.
Duration after_the_last_refusal(const Timing& timing) {
    return timing.promise(timing.lease_max) + redial_max;
}
/// Node 1 of these, of the highest rank.
Config best_of(std::vector<std::uint64_t> ids) {
    Config config = test::config_for(1, std::move(ids));
    config.priority = {1};
    return config;
}
bool grants(NodeFixture& node, std::uint64_t epoch) {
    node.accept(2);
    const Coordinator request{{epoch}, milliseconds(1), node.now(), false, false};
    const Actions actions = node.hear(2, request);
    REQUIRE(sent<Grant>(actions).size() + sent<Nack>(actions).size() == 1);
    if (!sent<Nack>(actions).empty())
        CHECK(sent<Nack>(actions)[0].reason == NackReason::recovering);
    return !sent<Grant>(actions).empty();
}

// R6.14, R6.15
TEST_CASE("twin: who is told of one grants nothing for P(lease-max) + R, and tells so") {
    NodeFixture node = voter();
    node.dial(2);
    told_of_twin(node);
    const Duration longest = after_the_last_refusal(node.timing());
    CHECK_FALSE(grants(node, 5001));
    CHECK(sent<Heartbeat>(node.after(node.timing().heartbeat)).back().recovering);
    node.pass(longest - node.timing().heartbeat - Duration{1});
    CHECK_FALSE(grants(node, 5002));
    node.pass(Duration{1});
    CHECK(grants(node, 5003));
}

// R6.14, C6.1, R6.24
TEST_CASE("twin: what a member has told counts when it is a member no more") {
    NodeFixture node = voter();
    node.disk_answers(true);
    node.dial(2);
    told_of_twin(node);
    HelloAck ack = node.ack_from(2);
    ack.changed = *with(node.config().members, {MemberChange::What::remove, {3}, {}}, {{6000}, 1});
    node.dial(2, ack);
    REQUIRE(node.node().parts().list() == *ack.changed);
    const Duration longest = after_the_last_refusal(node.timing());
    CHECK(sent<Heartbeat>(node.after(longest - Duration{1})).back().recovering);
    node.pass(Duration{1});
    CHECK_FALSE(sent<Heartbeat>(node.after(node.timing().heartbeat)).back().recovering);
}

TEST_CASE("twin: each time that it is told anew the silence begins anew") {
    NodeFixture node = voter();
    node.dial(2);
    told_of_twin(node);
    const Duration longest = after_the_last_refusal(node.timing());
    node.pass(longest - Duration{1});
    told_of_twin(node);
    node.pass(longest - Duration{1});
    CHECK_FALSE(grants(node, 5001));
    node.pass(Duration{1});
    CHECK(grants(node, 5002));
}

// R6.16
TEST_CASE("twin: once that peer takes it the silence is as long as after a restart") {
    NodeFixture node = voter();
    node.dial(2);
    told_of_twin(node);
    node.pass(milliseconds(100));
    taken(node);
    const Duration silence = node.timing().promise(node.timing().lease);
    node.pass(silence - Duration{1});
    CHECK_FALSE(grants(node, 5001));
    node.pass(Duration{1});
    CHECK(grants(node, 5002));
}

// R6.16
TEST_CASE("twin: taken late, it still waits for what the other one may have promised just now") {
    NodeFixture node = voter();
    node.dial(2);
    told_of_twin(node);
    node.pass(after_the_last_refusal(node.timing()) - Duration{1});
    taken(node);
    const Duration silence = node.timing().promise(node.timing().lease);
    node.pass(silence - Duration{1});
    CHECK_FALSE(grants(node, 5001));
    node.pass(Duration{1});
    CHECK(grants(node, 5002));
}

TEST_CASE("twin: the other one may have promised as long as this node has ever been asked to") {
    NodeFixture node = voter();
    node.disk_answers(true);
    HelloReceived hello = node.hello_from(2);
    hello.hello.lease = seconds(4);
    node.accept(hello);
    node.dial(2);
    told_of_twin(node);
    node.pass(milliseconds(100));
    taken(node);
    node.pass(node.timing().promise(seconds(4)) - Duration{1});
    CHECK_FALSE(grants(node, 5001));
    node.pass(Duration{1});
    CHECK(grants(node, 5002));
}

// R6.24
TEST_CASE("twin: another peer that takes it shortens nothing") {
    NodeFixture node = voter();
    told_of_twin(node);
    node.dial(2);
    node.pass(node.timing().promise(node.timing().lease));
    CHECK_FALSE(grants(node, 5001));
}

TEST_CASE("twin: other refusals silence nobody") {
    for (const Refused& other :
         {Refused{"id", "another process with id 2 is connected", "2"},
          Refused{"id", "3 is this node's own id", "1"}, Refused{"algorithm", "ring", "bully"},
          refusal(protocol::Difference::address, "", "192.0.2.7")}) {
        NodeFixture node = voter();
        node.dial(2);
        node.step(Dialled{{3}, to_3, {}});
        node.step(Receive{to_3, other});
        CHECK(grants(node, 5001));
    }
}

// R6.14
TEST_CASE("twin: a candidate that is told of one gives up, and does not stand") {
    NodeFixture node(best_of({1, 2, 3}));
    node.stand({2});
    node.disk_answers(true);
    const Actions actions = told_of_twin(node);
    CHECK(sent<Resign>(actions).size() == 1);
    CHECK(node.role() == Role::follower);
    CHECK(only<ElectionStarted>(node.run(seconds(5))).empty());
    CHECK(node.view().why.find("another process with id 1") != std::string::npos);
    CHECK_FALSE(only<ElectionStarted>(node.run(after_the_last_refusal(node.timing()))).empty());
}

TEST_CASE(
    "twin: the leader's own vote counts, when it is told of one, no longer than it was given") {
    for (const bool enough_others : {true, false}) {
        NodeFixture node(best_of({1, 2, 3, 4, 5}));
        node.lead({2, 4});
        if (enough_others) {
            node.connect(5);
            node.answer_grant(5);
        }
        told_of_twin(node);
        node.run_granted(node.timing().lease * 3);
        CHECK((node.role() == Role::leader) == enough_others);
    }
}

TEST_CASE("twin: with quorum none there are no votes, and nobody is silent") {
    Config config = test::config_for(3, {1, 2, 3});
    config.quorum = QuorumMode::none;
    NodeFixture node(config);
    node.connect(1);
    node.step(Dialled{{2}, to_3, {}});
    node.step(Receive{to_3, Refused{"id", "another process with id 3 is connected", "3"}});
    CHECK_FALSE(only<ElectionStarted>(node.run(seconds(1))).empty());
}

TEST_CASE("handshake: an answer of another node than the one dialled is not believed") {
    NodeFixture node = voter();
    node.step(Dialled{{2}, {2500}, {}});
    const Actions actions = node.step(Receive{{2500}, node.ack_from(3)});
    CHECK(only<HandshakeRefused>(actions).size() == 1);
    CHECK(only<CloseSession>(actions) == std::vector<CloseSession>{{{2500}}});
    CHECK(sent<Heartbeat>(node.run(milliseconds(200))).empty());
}

TEST_CASE("handshake: on a dialled session nothing but the answer to HELLO counts") {
    NodeFixture node = voter();
    node.dial(2);
    const Coordinator request{{5001}, milliseconds(250), node.now(), false, true};
    CHECK(without_heartbeats(node.step(Receive{node.dialled(2), request})).empty());
    CHECK(without_heartbeats(node.step(Receive{node.dialled(2), node.ack_from(2)})).empty());
    CHECK(node.view().promised_to == nobody);
}

}  // namespace
}  // namespace bullring::protocol::handshake_test
