// The silence after a restart and the start without a state file (R6).
#include <map>

#include <doctest/doctest.h>

#include "protocol/recovery/reserve.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::recovery_test {
namespace {

using namespace test;

constexpr std::uint64_t wall_ms = 1'800'000'000'000;  // the fixture's wall clock

Duration own_promise(const Config& config) { return config.timing.promise(config.timing.lease); }

using Acks = std::map<std::uint64_t, HelloAck>;

/// Sessions that the node has closed are dialled again, and these peers answer them.
void dial_again(NodeFixture& node, const Actions& actions, const Acks& acks) {
    for (const CloseSession& closed : only<CloseSession>(actions))
        for (const auto& [peer, ack] : acks)
            if (closed.session == node.dialled(peer)) node.dial(peer, ack);
}

/// How long after its start the node may vote, by asking until_wake; nullopt: not in `patience`.
std::optional<Duration> silence_of(NodeFixture& node, const Acks& acks = {},
                                   Duration patience = seconds(30)) {
    const Instant start = node.now();
    node.disk_answers(true);
    for (const auto& [peer, ack] : acks) node.dial(peer, ack);
    node.wake();
    while (node.view().recovering) {
        const Duration sleep = std::min(node.node().until_wake(node.now()), milliseconds(500));
        if (elapsed(start, node.now()) > patience) return std::nullopt;
        dial_again(node, node.after(std::max(sleep, Duration{1})), acks);
    }
    return elapsed(start, node.now());
}

// R6.1
TEST_CASE("recovery: with a file the silence lasts as long as the longest promise in it") {
    const Config config = test::config_for(1, {1, 2, 3});
    Start start = test::start_with_file(config);
    SUBCASE("longer than its own lease asks for") { start.file->promised_max = seconds(3); }
    SUBCASE("shorter: then the promise of its own lease") {
        start.file->promised_max = Duration{1};
    }
    NodeFixture node(config, start);
    CHECK(silence_of(node) == std::max(start.file->promised_max, own_promise(config)));
}

TEST_CASE("recovery: the silence ends when both clocks are past it") {
    const Config config = test::config_for(1, {1, 2, 3});
    NodeFixture node(config);
    node.disk_answers(true);
    node.wake();
    const Instant start = node.now();
    node.set_clock({start.boottime_ns + seconds(60).ns, start.raw_ns + 1});
    node.wake();
    CHECK(node.view().recovering);
    node.set_clock(start + own_promise(config));
    node.wake();
    CHECK_FALSE(node.view().recovering);
}

TEST_CASE("recovery: a single node with a file is not silent at all") {
    NodeFixture node(test::config_for(1, {1}));
    CHECK(silence_of(node) == Duration{0});
    CHECK(node.view().epoch == Epoch{5001});
}

// R6.21
TEST_CASE("recovery: a single node waits for the hooks of before, which act under its lease") {
    const Config config = test::config_for(1, {1});
    Start start = test::start_with_file(config);
    start.file->hooks = true;
    start.file->promised_max = seconds(3);
    NodeFixture node(config, start);
    CHECK(silence_of(node) == seconds(3));
}

// R7.1, R6.17
TEST_CASE("recovery: it does not end before its reserve is on the disk") {
    const Config config = test::config_for(1, {1, 2, 3});
    NodeFixture node(config);
    const Actions first = node.wake();
    CHECK(only_one<Persist>(first).durable.hw == Epoch{6024});
    node.after(own_promise(config) * 2);
    CHECK(node.view().recovering);
    node.persisted();
    CHECK_FALSE(node.view().recovering);
}

TEST_CASE("recovery: the first epoch afterwards is above all that peers have seen") {
    const Config config = test::config_for(3, {1, 2, 3});
    NodeFixture node(config);
    node.disk_answers(true);
    HelloAck ack = node.ack_from(1);
    ack.max_seen = {9000};
    node.accept(1);
    node.dial(1, ack);
    node.after(own_promise(config));
    const std::vector<Coordinator> requests = sent<Coordinator>(node.hear_heartbeat(1));
    REQUIRE_FALSE(requests.empty());
    CHECK(requests[0].epoch == Epoch{9001});
}

// R6.18
TEST_CASE("recovery: meanwhile it answers DECLINE, tells heartbeats so, and does not stand") {
    const Config config = test::config_for(3, {1, 2, 3});
    NodeFixture node(config);
    node.disk_answers(true);
    Actions actions = node.connect(1);
    test::append(actions, node.connect(2));
    CHECK(sent<Decline>(node.hear(1, Election{9})) == std::vector<Decline>{{9}});
    test::append(actions, node.run(milliseconds(300)));
    for (const Heartbeat& heartbeat : sent<Heartbeat>(actions)) CHECK(heartbeat.recovering);
    for (const HelloAck& ack : sent<HelloAck>(actions)) CHECK(ack.recovering);
    CHECK_FALSE(node.view().votes);
    CHECK(only<ElectionStarted>(actions).empty());
    node.hear(1, Resign{{4000}, {3}});
    CHECK(node.role() == Role::follower);
}

// ---- Without a file.

Config five() { return test::config_for(5, {1, 2, 3, 4, 5}); }

NodeFixture fresh(const Config& config) {
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    return node;
}

HelloAck ack_of(NodeFixture& node, std::uint64_t peer, bool had_file,
                Duration promised_max = milliseconds(700)) {
    HelloAck ack = node.ack_from(peer);
    ack.had_file_at_start = had_file;
    ack.recovering = !ack.had_file_at_start;
    ack.promised_max = promised_max;
    return ack;
}

TEST_CASE(
    "no file: N−q+1 others with a file are enough, and their longest promise is the silence") {
    NodeFixture node = fresh(five());
    Acks acks{{1, ack_of(node, 1, true)}, {2, ack_of(node, 2, true, milliseconds(900))}};
    for (const auto& [peer, ack] : acks) node.dial(peer, ack);
    node.after(seconds(2));
    CHECK(node.view().recovering);  // two are not enough of five
    acks[3] = ack_of(node, 3, true);
    dial_again(node, node.dial(3, acks[3]), acks);
    CHECK_FALSE(node.view().recovering);
    NodeFixture early = fresh(five());
    CHECK(silence_of(early, acks) == milliseconds(900));
}

// A vote of the lost run may be counted until the silence ends, and elect somebody whose epoch
// nobody could tell before that.
// R6.12
TEST_CASE("no file: the epochs go on from what the others say after the silence, not before it") {
    NodeFixture node = fresh(five());
    Acks acks;
    for (const std::uint64_t peer : {1U, 2U, 3U}) {
        acks[peer] = ack_of(node, peer, true);
        acks[peer].max_seen = {7000};
        node.dial(peer, acks[peer]);
    }
    const Actions over = node.after(milliseconds(700));
    CHECK(only<DialNow>(over).size() == 3);
    CHECK(only<Persist>(over).empty());
    CHECK(node.view().recovering);
    acks[2].max_seen = {9'000'000};
    Acks two = acks;
    two.erase(1);
    dial_again(node, over, two);
    CHECK(node.view().recovering);  // two are not enough of five
    node.dial(1, acks[1]);
    CHECK_FALSE(node.view().recovering);
    node.connect(1);
    node.accept(2);
    const std::vector<Coordinator> requests = sent<Coordinator>(node.hear_heartbeat(2));
    REQUIRE_FALSE(requests.empty());
    CHECK(requests[0].epoch == Epoch{9'000'001});
}

// R6.12
TEST_CASE("no file: an answer to a HELLO of before the end of the silence is none") {
    NodeFixture node = fresh(five());
    Acks acks;
    for (const std::uint64_t peer : {1U, 2U, 3U}) acks[peer] = ack_of(node, peer, true);
    for (const auto& [peer, ack] : acks) node.dial(peer, ack);
    const SessionId asked{4999};
    node.step(Dialled{{4}, asked, {}});
    dial_again(node, node.after(milliseconds(700)), {{1, acks[1]}, {2, acks[2]}});
    node.step(Receive{asked, ack_of(node, 4, true)});
    CHECK(node.view().recovering);
}

// C8.1, R6.23
TEST_CASE(
    "no file: when too few answer after the silence, it waits to be told who the members are") {
    NodeFixture node = fresh(five());
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.dial(peer, ack_of(node, peer, true));
    node.after(milliseconds(700));
    const Actions actions = node.after(node.config().bootstrap_wait + seconds(60));
    CHECK(only<Persist>(actions).empty());
    CHECK(node.view().recovering);
    CHECK(node.view().why ==
          "has no state file and waits for a leader that has it in its list of members");
}

// C8.1, R6.23
TEST_CASE("no file: when most have none, the epochs go on from the wall clock after the wait") {
    NodeFixture node = fresh(five());
    for (const std::uint64_t peer : {1U, 2U}) node.dial(peer, ack_of(node, peer, false));
    node.dial(3, ack_of(node, 3, true));
    const Duration wait = node.timing().promise(node.timing().lease_max);
    REQUIRE(wait > node.config().bootstrap_wait);
    node.after(wait - Duration{1});
    CHECK(node.view().recovering);
    const std::vector<Persist> writes = only<Persist>(node.after(Duration{1}));
    REQUIRE_FALSE(writes.empty());
    CHECK(writes[0].durable.hw == Epoch{1024 * wall_ms + 1024});
    CHECK_FALSE(node.view().recovering);
}

TEST_CASE("no file: then the epochs go on from what those have, not from the clock") {
    NodeFixture node = fresh(five());
    Acks acks;
    for (const std::uint64_t peer : {1U, 2U, 3U}) {
        acks[peer] = ack_of(node, peer, true);
        acks[peer].max_seen = {7000 + peer};
    }
    SUBCASE("who vote") {}
    SUBCASE("one of whom was still silent when it answered") { acks[1].recovering = true; }
    REQUIRE(silence_of(node, acks));
    node.connect(1);
    const std::vector<Coordinator> requests = sent<Coordinator>(node.connect(2));
    REQUIRE_FALSE(requests.empty());
    CHECK(requests[0].epoch == Epoch{7004});
}

TEST_CASE("no file: a shorter T_boot does not shorten the silence that lost promises need") {
    Config config = five();
    config.bootstrap_wait = seconds(1);
    NodeFixture node = fresh(config);
    for (const std::uint64_t peer : {1U, 2U}) node.dial(peer, ack_of(node, peer, false));
    CHECK(silence_of(node) == node.timing().promise(node.timing().lease_max));
}

TEST_CASE("no file: who is waited for is said once, and not before it takes a while") {
    NodeFixture node = fresh(five());
    node.dial(2, ack_of(node, 2, false));
    CHECK(only<Note>(node.after(milliseconds(900))).empty());
    const Note said = only_one<Note>(node.after(milliseconds(200)));
    CHECK(
        said.text ==
        "no state file here, and no answer yet from node 1, 3, 4; without it this node votes only "
        "after the longer of 10s (--bootstrap-wait) and 10s (--lease-max), and only if most have "
        "no file either, or a leader tells it who the members are");
    CHECK(only<Note>(node.after(seconds(2))).empty());
}

TEST_CASE("recovery: who is silent says for how long, and who could make it shorter") {
    const Config config = test::config_for(1, {1, 2, 3});
    Start start = test::start_with_file(config);
    start.file->promised_max = seconds(3);
    const std::string whole = "silent after a restart, 3 s left";
    SUBCASE("of the others") {
        NodeFixture node(config, start);
        node.wake();
        CHECK(node.view().why == whole + ", or until 2, 3 can tell its promises");
        HelloAck ack = node.ack_from(2);
        ack.recall.answer = Recall::Answer::none;
        node.dial(2, ack);
        node.after(milliseconds(2500));
        CHECK(node.view().why ==
              "silent after a restart, 500 ms left, or until 3 can tell its promises");
        node.after(milliseconds(500));
        CHECK(node.view().why == "silent after a restart, until its state is on the disk");
    }
    SUBCASE("nobody, where hooks may still run") {
        start.file->hooks = true;
        NodeFixture node(config, start);
        node.wake();
        CHECK(node.view().why == whole + ": hooks or attached processes of before may still act");
    }
}

TEST_CASE("no file: it says whom it waits for, and for how long at most") {
    NodeFixture node = fresh(five());
    CHECK(node.view().why ==
          "has no state file and waits to hear from 1, 2, 3, 4, for at most 10 s");
    for (const std::uint64_t peer : {1U, 2U}) node.dial(peer, ack_of(node, peer, true));
    node.after(milliseconds(100));
    CHECK(node.view().why == "has no state file and waits to hear from 3, 4, for at most 10 s");
    node.dial(3, ack_of(node, 3, true));
    CHECK(node.view().why == "silent after a restart, 600 ms left; it has no state file");
    node.after(milliseconds(600));
    CHECK(node.view().why ==
          "has no state file and asks 1, 2, 3, 4 again for their epochs, for at most 10 s");
}

TEST_CASE("no file: where the members were changed it counts down to when a leader may tell them") {
    NodeFixture node = fresh(five());
    for (const std::uint64_t peer : {1U, 2U, 3U, 4U}) {
        HelloAck ack = ack_of(node, peer, true);
        ack.version = version_highest;
        ack.changed = Membership({{7}, 1}, node.config().members.entries(),
                                 ids_of(node.config().members.entries()));
        node.dial(peer, ack);
    }
    node.after(seconds(2));
    const std::string begin = "has no state file, and the members were changed: silent, ";
    const std::string end = " left, and then waits for a leader that has it in its list of members";
    CHECK(node.view().why == begin + "9 s" + end);
    node.after(seconds(8));
    CHECK(node.view().why == begin + "21 ms" + end);
    CHECK(only_one<Note>(node.after(milliseconds(100)))
              .text.find("its silence is over: it begins its connections anew") !=
          std::string::npos);
    CHECK(node.view().why ==
          "has no state file and waits for a leader that has it in its list of members");
}

TEST_CASE("no file: where nobody is waited for nothing is said") {
    NodeFixture node = fresh(five());
    for (const std::uint64_t peer : {1U, 2U, 3U}) node.dial(peer, ack_of(node, peer, true));
    CHECK(only<Note>(node.after(milliseconds(1100))).empty());
}

// C8.5
TEST_CASE("no file: nothing is written before it is known how to go on") {
    NodeFixture node(five(), test::start_without_file(five()));
    Actions actions = node.wake();
    test::append(actions, node.dial(1, ack_of(node, 1, true)));
    test::append(actions, node.after(seconds(5)));
    CHECK(only<Persist>(actions).empty());
}

/// The first epoch that a node of three, without a file, stands for.
Epoch first_epoch_of(Config config, std::vector<bool> others_had_file) {
    NodeFixture node = fresh(config);
    Acks acks;
    for (const bool had_file : others_had_file) {
        const std::uint64_t peer = acks.size() + 1;
        acks[peer] = ack_of(node, peer, had_file);
    }
    if (others_had_file.empty()) node.dial(1, ack_of(node, 1, false));
    REQUIRE(silence_of(node, acks));
    node.accept(1);
    const std::vector<Coordinator> requests = sent<Coordinator>(node.hear_heartbeat(1));
    REQUIRE_FALSE(requests.empty());
    return requests[0].epoch;
}

// R6.23
TEST_CASE("no file: with too few files among the others the epochs go on from the wall clock") {
    const Config config = test::config_for(3, {1, 2, 3});
    CHECK(first_epoch_of(config, {false, false}) == Epoch{1024 * wall_ms + 1});
    CHECK(first_epoch_of(config, {true, false}) == Epoch{1024 * wall_ms + 1});
    CHECK(first_epoch_of(config, {}) == Epoch{1024 * wall_ms + 1});
    CHECK(first_epoch_of(config, {true, true}) == Epoch{1});
}

/// The epoch in the answer to this HELLO of a node of three without a file.
Epoch told_by_a_fresh_node(const Config& config, bool recovering, bool had_file) {
    NodeFixture node = fresh(config);
    HelloReceived hello = node.hello_from(1);
    hello.hello.recovering = recovering;
    hello.hello.had_file_at_start = had_file;
    return sent<HelloAck>(node.accept(hello)).at(0).clock_epoch;
}

// R6.13
TEST_CASE("first start: a node tells its wall clock, but only to another that has nothing either") {
    Config config = test::config_for(3, {1, 2, 3});
    CHECK(told_by_a_fresh_node(config, true, false) == Epoch{1024 * wall_ms});
    CHECK(told_by_a_fresh_node(config, true, true) == Epoch{});
    CHECK(told_by_a_fresh_node(config, false, false) == Epoch{});
    config.first_epoch = FirstEpoch::zero;
    CHECK(told_by_a_fresh_node(config, true, false) == Epoch{});
}

// R6.13
TEST_CASE("first start: all go on from the latest clock, and the disk covers it before they vote") {
    NodeFixture node = fresh(test::config_for(3, {1, 2, 3}));
    const Epoch latest{1024 * (wall_ms + 40)};
    for (const std::uint64_t peer : {1U, 2U}) {
        HelloAck ack = ack_of(node, peer, false);
        if (peer == 1) ack.clock_epoch = latest;
        node.dial(peer, ack);
    }
    const std::vector<Persist> writes = only<Persist>(node.after(own_promise(node.config())));
    REQUIRE_FALSE(writes.empty());
    CHECK(writes[0].durable.hw == latest + Reserve::ahead);
    CHECK_FALSE(node.view().recovering);
    node.connect(1);
    const std::vector<Coordinator> requests = sent<Coordinator>(node.connect(2));
    REQUIRE_FALSE(requests.empty());
    CHECK(requests[0].epoch == latest + 1);
}

// C8.6
TEST_CASE(
    "no file: a single node starts after a second from the wall clock, or at 1 when told so") {
    Config config = test::config_for(1, {1});
    NodeFixture clock = fresh(config);
    CHECK(silence_of(clock) == seconds(1));
    CHECK(clock.view().epoch == Epoch{1024 * wall_ms + 1});
    config.first_epoch = FirstEpoch::zero;
    NodeFixture zero = fresh(config);
    CHECK(silence_of(zero) == seconds(1));
    CHECK(zero.view().epoch == Epoch{1});
}

TEST_CASE("no file: of two nodes, the other's file is enough") {
    NodeFixture node = fresh(test::config_for(2, {1, 2}));
    HelloAck ack = ack_of(node, 1, true);
    ack.max_seen = {7000};
    CHECK(silence_of(node, {{1, ack}}) == milliseconds(700));
    const std::vector<Coordinator> requests = sent<Coordinator>(node.connect(1));
    REQUIRE_FALSE(requests.empty());
    CHECK(requests[0].epoch == Epoch{7001});
}

}  // namespace
}  // namespace bullring::protocol::recovery_test
