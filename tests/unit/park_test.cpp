// The park slot (R2) and the session-tied release (R4): what ends a promise, and who gets it then.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::park_test {
namespace {

using namespace test;

Config voter_config() {
    Config config = test::config_for(1, {1, 2, 3, 4, 5});
    config.priority = Priority::never();  // it only votes
    return config;
}

Action grant_to(NodeFixture& node, std::uint64_t peer, const Coordinator& asked) {
    return Send{node.dialled(peer), Grant{node.incarnation_of(peer), asked.epoch, asked.lease,
                                          asked.stamp, SessionId{7000}, node.own_incarnation()}};
}

/// A voter of five that has just granted a renewal of epoch 5001 to node 5.
NodeFixture promised(const Config& config = voter_config()) {
    NodeFixture node(config);
    node.recover();
    for (const std::uint64_t peer : {2U, 3U, 4U, 5U}) node.connect(peer);
    REQUIRE(sent<Grant>(node.hear(5, node.renewal(5001))).size() == 1);
    return node;
}

bool parked(const Actions& actions) {
    const Nack nacks = sent_one<Nack>(actions);
    REQUIRE(nacks.reason == NackReason::busy);
    return nacks.parked;
}

// R4.1
TEST_CASE("park: the holder's FIN hands the parked candidate its grant in the same step") {
    NodeFixture node = promised();
    const Coordinator asked = node.candidacy(5002);
    CHECK(parked(node.hear(4, asked)));
    CHECK(without_heartbeats(node.lose(5)) ==
          Actions{grant_to(node, 4, asked), PeerDown{{5}, PeerDownReason::eof},
                  LeaderChanged{nobody, {5001}, "", false, node.now()}});
}

TEST_CASE("park: the holder's RESIGN hands the parked candidate its grant in the same step") {
    NodeFixture node = promised();
    const Coordinator asked = node.candidacy(5002);
    node.hear(4, asked);
    CHECK(without_heartbeats(node.hear(5, Resign{{5001}, nobody})) ==
          Actions{grant_to(node, 4, asked), LeaderChanged{nobody, {5001}, "", false, node.now()}});
}

// R2.8
TEST_CASE("park: when the promise runs out the parked candidate is granted, without any message") {
    NodeFixture node = promised();
    node.pass(node.timing().lease - milliseconds(40));
    node.connect(4);
    const Coordinator asked = node.candidacy(5002);
    CHECK(parked(node.hear(4, asked)));
    for (int wakes = 0; wakes < 100 && node.view().promised_to == NodeId{5}; ++wakes) {
        const Duration sleep = node.node().until_wake(node.now());
        REQUIRE(sleep < milliseconds(60));
        const Actions actions = node.after(sleep);
        if (!sent<Grant>(actions).empty())
            CHECK(sent<Grant>(actions) == std::vector<Grant>{{node.incarnation_of(4),
                                                              {5002},
                                                              asked.lease,
                                                              asked.stamp,
                                                              SessionId{7001},
                                                              node.own_incarnation()}});
    }
    CHECK(node.view().promised_to == NodeId{4});
}

// R2.8
TEST_CASE("park: its RESIGN, the end of its session and T_camp take a candidate out of the slot") {
    NodeFixture node = promised();
    node.hear(4, node.candidacy(5003));
    NodeId next = nobody;
    SUBCASE("RESIGN") { node.hear(4, Resign{{5003}, nobody}); }
    SUBCASE("RESIGN of another epoch does not") {
        node.hear(4, Resign{{5002}, nobody});
        next = {4};
    }
    SUBCASE("a FIN") { node.lose(4); }
    SUBCASE("a reset") { node.lose(4, SessionEnd::reset); }
    SUBCASE("T_camp") { node.run(node.timing().campaign_wait); }
    node.lose(5);
    CHECK(node.view().promised_to == next);
}

TEST_CASE("park: a parked request that has become stale is refused, not granted") {
    NodeFixture node = promised();
    node.hear(4, node.candidacy(5002));
    node.hear(5, node.renewal(5003));  // the holder again, with a later epoch of its own
    const Actions actions = node.hear(5, Resign{{5003}, nobody});
    CHECK(sent_one<Nack>(actions).reason == NackReason::stale);
    CHECK(sent_one<Nack>(actions).promised_epoch == Epoch{5003});
}

// ---- What releases a promise and what does not (I8).

// R4.2
TEST_CASE("release: reset, truncation, timeout, protocol error and overflow release nothing") {
    for (const SessionEnd how : {SessionEnd::reset, SessionEnd::truncated, SessionEnd::timeout,
                                 SessionEnd::protocol, SessionEnd::overflow}) {
        NodeFixture node = promised();
        node.lose(5, how);
        CHECK(node.view().promised_to == NodeId{5});
    }
}

// R4.1
TEST_CASE("release: a FIN releases only what is tied to its own session") {
    NodeFixture node = promised();
    const SessionId older = node.accepted(5);
    node.accept(5);
    node.hear(5, node.renewal(5001));
    SUBCASE("of the older session: nothing") {
        const Actions actions = without_heartbeats(node.step(SessionEnded{older, SessionEnd::eof}));
        CHECK(actions == Actions{});
        CHECK(node.view().promised_to == NodeId{5});
        CHECK(node.view().leader == NodeId{5});
    }
    SUBCASE("of the newer session: what the older one had until its own end is kept") {
        node.lose(5);
        CHECK(node.view().promised_to == NodeId{5});
        node.after(node.timing().promise(node.timing().lease));
        CHECK(node.view().promised_to == nobody);
    }
}

// R4.3
TEST_CASE("release: a FIN on a session whose addresses do not agree releases nothing") {
    NodeFixture node(voter_config());
    node.recover();
    HelloReceived hello = node.hello_from(5);
    SUBCASE("the dialler's own address was rewritten on the way") {
        hello.addresses.remote = "192.0.2.1:1234";
    }
    SUBCASE("the acceptor's address was rewritten on the way") {
        hello.addresses.local = "192.0.2.1:1234";
    }
    node.accept(hello);
    node.dial(5);
    const Actions actions = node.hear(5, node.renewal(5001));
    CHECK(sent_one<Grant>(actions).tied_session == no_session);
    node.lose(5);
    CHECK(node.view().promised_to == NodeId{5});
}

// R4.3
TEST_CASE("release: a FIN releases nothing when either side or the request does not want it") {
    Config config = voter_config();
    bool dialler_allows = true;
    bool tie = true;
    SUBCASE("the voter has it off") { config.fast_release = FastRelease::off; }
    SUBCASE("the dialler has it off") { dialler_allows = false; }
    SUBCASE("the request is not to be tied") { tie = false; }
    NodeFixture node(config);
    node.recover();
    HelloReceived hello = node.hello_from(5);
    hello.hello.fast_release = dialler_allows ? FastRelease::fin : FastRelease::off;
    node.accept(hello);
    node.dial(5);
    Coordinator asked = node.renewal(5001);
    asked.tie = tie;
    const Actions actions = node.hear(5, asked);
    CHECK(sent_one<Grant>(actions).tied_session == no_session);
    node.lose(5);
    CHECK(node.view().promised_to == NodeId{5});
}

// R4.2
TEST_CASE("release: a new session and a new run of the holder release nothing") {
    NodeFixture node = promised();
    node.accept(5);
    node.hear_heartbeat(5);
    CHECK(node.view().promised_to == NodeId{5});
    node.lose(5, SessionEnd::reset);
    node.new_incarnation(5);
    node.connect(5);
    CHECK(node.view().promised_to == NodeId{5});
    const Actions actions = node.hear(5, node.candidacy(5002));
    CHECK(sent_one<Nack>(actions).reason == NackReason::busy);
}

// R4.2
TEST_CASE("release: silence of the holder releases nothing before the promise's end") {
    NodeFixture node = promised();
    node.after(node.timing().suspect_after * 2);
    CHECK_FALSE(node.view().connected.contains(4));
    CHECK(node.view().promised_to == NodeId{5});
}

}  // namespace
}  // namespace bullring::protocol::park_test
