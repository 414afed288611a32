// The durable reserve (R7) and promised_max (§2): what is written, when, and never on a failover
// path.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::disk_reserve_test {
namespace {

using namespace test;

Config voter_config() {
    Config config = test::config_for(1, {1, 2, 3});
    config.priority = Priority::never();
    return config;
}
NodeFixture voter(const Config& config = voter_config()) {
    NodeFixture node(config);
    node.recover();  // hw 6024 is durable
    node.connect(2);
    node.connect(3);
    return node;
}
Heartbeat seen(const NodeFixture& node, std::uint64_t epoch) {
    Heartbeat heartbeat = node.heartbeat_from(2);
    heartbeat.max_seen = {epoch};
    return heartbeat;
}
Coordinator renewal(const NodeFixture& node, std::uint64_t epoch, Duration lease) {
    return {{epoch}, lease, node.now(), true, true};
}

// R7.2
TEST_CASE("reserve: it is renewed in the background when less than 512 epochs are left") {
    NodeFixture node = voter();
    CHECK(only<Persist>(node.hear(2, seen(node, 6024 - 512))).empty());
    CHECK(only_one<Persist>(node.hear(2, seen(node, 6024 - 511))).durable.hw ==
          Epoch{6024 - 511 + 1024});
}

// R7.2
TEST_CASE("reserve: any message that carries an epoch renews it") {
    const std::uint64_t high = 8000;
    NodeFixture node = voter();
    Actions actions;
    SUBCASE("HB") { actions = node.hear(2, seen(node, high)); }
    SUBCASE("NACK") {
        actions = node.hear(2, Nack{{}, {}, NackReason::stale, nobody, {high}, {}, false});
    }
    SUBCASE("COORDINATOR") { actions = node.hear(2, renewal(node, high, milliseconds(500))); }
    SUBCASE("HELLO_ACK") {
        HelloAck ack = node.ack_from(2);
        ack.max_seen = {high};
        actions = node.dial(2, ack);
    }
    CHECK(only_one<Persist>(actions).durable.hw >= Epoch{high + 1024});
}

TEST_CASE(
    "reserve: an election with a warm reserve writes nothing, at the voter and at the winner") {
    NodeFixture voting = voter();
    Actions actions = voting.hear(3, renewal(voting, 5001, milliseconds(500)));
    test::append(actions, voting.lose(3));
    test::append(actions, voting.hear(2, voting.candidacy(5002)));
    test::append(actions, voting.hear(2, renewal(voting, 5002, milliseconds(500))));
    CHECK(sent<Grant>(actions).size() == 3);
    CHECK(only<Persist>(actions).empty());

    NodeFixture winner(test::config_for(3, {1, 2, 3}));
    winner.recover();
    actions = winner.connect(1);
    test::append(actions, winner.connect(2));
    test::append(actions, winner.answer_grant(1));
    test::append(actions, winner.answer_grant(1));
    CHECK(only<StartTask>(actions).size() == 1);
    CHECK(only<Persist>(actions).empty());
}

TEST_CASE("hooks: they are on the disk before anything is promised") {
    Config config = test::config_for(1, {1, 2, 3});
    Start start = test::start_with_file(config);
    start.file->hw = {100'000};  // the epochs need no write
    config.hooks = true;
    NodeFixture node(config, start);
    CHECK(only_one<Persist>(node.after(seconds(60))).durable.hooks);
    CHECK(node.view().recovering);
    node.persisted();
    CHECK_FALSE(node.view().recovering);
}

TEST_CASE("hooks: those of an earlier run are on the disk until the silence is over") {
    const Config config = test::config_for(1, {1, 2, 3});
    Start start = test::start_with_file(config);
    start.file->hooks = true;
    NodeFixture node(config, start);
    CHECK(only_one<Persist>(node.wake()).durable.hooks);
    node.after(config.timing.promise(config.timing.lease) * 2);
    const std::vector<Persist> then = only<Persist>(node.persisted());
    CHECK_FALSE(node.view().recovering);
    REQUIRE(then.size() == 1);
    CHECK_FALSE(then[0].durable.hooks);
}

// R9.3
TEST_CASE("promised_max: a stranger's HELLO in a member's name raises nothing") {
    NodeFixture node(voter_config());
    node.recover();
    HelloReceived hello = node.hello_from(3);
    hello.hello.lease = node.timing().lease_max;
    CHECK(only<Persist>(node.accept(hello)).empty());
    // The member itself, which answers at its address, raises it.
    CHECK(only_one<Persist>(node.dial(3)).durable.promised_max ==
          node.timing().promise(node.timing().lease_max));
}

// R9.3
TEST_CASE("promised_max: a lease beyond lease-max does not raise it") {
    NodeFixture node = voter();
    HelloReceived hello = node.hello_from(3);
    hello.hello.lease = node.timing().lease_max + Duration{1};
    CHECK(only<Persist>(node.accept(hello)).empty());
}

Start with_long_promises(const Config& config, Duration promised_max) {
    Start start = test::start_with_file(config);
    start.file->promised_max = promised_max;
    return start;
}

// R7.4
TEST_CASE(
    "stop: the last write says exactly which epochs were used, and nothing is granted after it") {
    NodeFixture node = voter();
    node.hear(3, renewal(node, 5007, milliseconds(500)));
    const Actions asked = node.step(StopRequested{});
    CHECK(only_one<Persist>(asked).durable.hw == Epoch{5007});
    CHECK(only<Stopped>(asked).empty());
    CHECK(sent<Grant>(node.hear(3, renewal(node, 5007, milliseconds(500)))).empty());
    CHECK(sent<Grant>(node.hear(2, node.candidacy(5008))).empty());
    const Actions written = node.persisted();
    CHECK(only<Stopped>(written).size() == 1);
    CHECK(only<Persist>(written).empty());
}

TEST_CASE("stop: a write under way is waited for, and the exact one follows it") {
    NodeFixture node = voter();
    REQUIRE(only<Persist>(node.hear(2, seen(node, 9000))).size() == 1);
    CHECK(only<Stopped>(node.step(StopRequested{})).empty());
    const Actions first = node.persisted();
    CHECK(only<Stopped>(first).empty());
    CHECK(only_one<Persist>(first).durable.hw == Epoch{5000});
    CHECK(only<Stopped>(node.persisted()).size() == 1);
}

TEST_CASE("stop: a node that never knew its epochs writes no file") {
    const Config config = voter_config();
    NodeFixture node(config, test::start_without_file(config));
    node.wake();
    const Actions actions = node.step(StopRequested{});
    CHECK(only<Persist>(actions).empty());
    CHECK(only<Stopped>(actions).size() == 1);
}

TEST_CASE(
    "restart: after a stop a node's epochs make nobody else write, nor do others' reserves it") {
    const Config config = voter_config();
    Start start = test::start_with_file(config);
    start.file->hw = {5007};  // exact
    NodeFixture node(config, start);
    node.disk_answers(true);
    Actions actions = node.wake();
    test::append(actions, node.connect(2));
    test::append(actions, node.after(node.timing().promise(node.timing().lease)));
    test::append(actions, node.run(seconds(1)));
    REQUIRE_FALSE(node.view().recovering);
    CHECK(only<Persist>(actions).size() == 1);  // its own reserve
    for (const Heartbeat& heartbeat : sent<Heartbeat>(actions))
        CHECK(heartbeat.max_seen == Epoch{5007});
    for (const HelloAck& ack : sent<HelloAck>(actions)) CHECK(ack.max_seen == Epoch{5007});
}

TEST_CASE("promised_max: it is lowered once the node has run for as long as it says") {
    const Config config = voter_config();
    NodeFixture node(config, with_long_promises(config, seconds(3)));
    node.disk_answers(true);
    node.wake();
    node.connect(2);
    std::vector<Persist> writes = only<Persist>(node.run(milliseconds(2950)));
    for (const Persist& write : writes) CHECK(write.durable.promised_max >= seconds(3));
    writes = only<Persist>(node.run(milliseconds(200)));
    REQUIRE_FALSE(writes.empty());
    CHECK(writes.back().durable.promised_max == config.timing.promise(config.timing.lease));
}

TEST_CASE("promised_max: it is not lowered below what was given or what a peer may ask for") {
    const Config config = voter_config();
    NodeFixture node(config, with_long_promises(config, seconds(3)));
    node.disk_answers(true);
    node.wake();
    node.run(milliseconds(3000));
    SUBCASE("a peer's HELLO names a longer lease") {
        HelloReceived hello = node.hello_from(3);
        hello.hello.lease = seconds(1);
        node.accept(hello);
    }
    SUBCASE("a longer promise was given") {
        node.accept(3);
        node.dial(3);
        node.hear(3, renewal(node, 5001, seconds(1)));
    }
    const Durable file = [&] {
        Durable last{{}, seconds(3)};
        for (const Persist& write : only<Persist>(node.run(seconds(4)))) last = write.durable;
        return last;
    }();
    // Either it was never lowered, or no further than to that promise.
    CHECK(file.promised_max >= config.timing.promise(seconds(1)));
}

TEST_CASE("promised_max: while it is being lowered, nothing longer is promised") {
    const Config config = voter_config();
    NodeFixture node(config, with_long_promises(config, seconds(3)));
    node.disk_answers(true);
    node.wake();
    node.run(milliseconds(2950));
    node.disk_answers(false);
    REQUIRE(only_one<Persist>(node.run(milliseconds(100))).durable.promised_max < seconds(2));
    // In flight: a crash after it would be followed by a silence of half a second only.
    HelloReceived hello = node.hello_from(3);
    hello.hello.lease = seconds(2);
    node.accept(hello);
    node.dial(3);
    CHECK(sent<Grant>(node.hear(3, renewal(node, 5001, seconds(2)))).empty());
    CHECK(sent<Grant>(node.persisted()).empty());
    CHECK(sent<Grant>(node.persisted()).size() == 1);
}

}  // namespace
}  // namespace bullring::protocol::disk_reserve_test
