// A restarted node asks the others what it has promised (R6), and who has answered counts nothing
// of before (R3).
#include <doctest/doctest.h>

#include "protocol/values/dialling.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::recall_test {
namespace {

using namespace test;

Config three(std::uint64_t self = 3) { return test::config_for(self, {1, 2, 3}); }

NodeFixture restarted(const Config& config = three()) {
    NodeFixture node(config);
    node.disk_answers(true);
    node.wake();
    return node;
}

Duration own_promise(const Config& config) { return config.timing.promise(config.timing.lease); }

HelloAck says(NodeFixture& node, std::uint64_t peer, Recall::Answer answer) {
    HelloAck ack = node.ack_from(peer);
    ack.recall.answer = answer;
    return ack;
}

HelloAck holds(NodeFixture& node, std::uint64_t peer, Epoch epoch, Duration remaining) {
    HelloAck ack = says(node, peer, Recall::Answer::held);
    ack.recall.epoch = epoch;
    ack.recall.remaining = remaining;
    ack.recall.to_leader = true;
    ack.max_seen = epoch;
    return ack;
}

// ---- The one that asks.

// R6.3
TEST_CASE("recall: none of all others ends the silence, and none of some does not") {
    NodeFixture node = restarted();
    node.dial(1, says(node, 1, Recall::Answer::none));
    CHECK(node.view().recovering);
    node.dial(2, says(node, 2, Recall::Answer::none));
    CHECK_FALSE(node.view().recovering);
}

// R6.4
TEST_CASE("recall: it does not end the silence before the reserve is on the disk") {
    NodeFixture node(three());
    REQUIRE(only<Persist>(node.wake()).size() == 1);
    node.dial(1, says(node, 1, Recall::Answer::none));
    node.dial(2, says(node, 2, Recall::Answer::none));
    CHECK(node.view().recovering);
    node.persisted();
    CHECK_FALSE(node.view().recovering);
}

// R6.21
TEST_CASE("recall: hooks of an earlier run: it waits for the time, whatever the others count") {
    Config config = three();
    SUBCASE("and has hooks again") { config.hooks = true; }
    SUBCASE("and has none any more") {}
    Start start = test::start_with_file(config);
    start.file->hooks = true;
    for (const Recall::Answer answer : {Recall::Answer::none, Recall::Answer::held}) {
        NodeFixture node(config, start);
        node.disk_answers(true);
        for (const std::uint64_t peer : {1U, 2U}) {
            HelloAck ack = holds(node, peer, {4000}, milliseconds(300));
            ack.recall.answer = answer;
            node.dial(peer, ack);
        }
        CHECK(node.view().recovering);
    }
}

// R6.11
TEST_CASE("recall: without a file nothing that is held or not shortens the silence") {
    const Config config = three();
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    node.dial(1, holds(node, 1, {4000}, milliseconds(300)));
    node.dial(2, says(node, 2, Recall::Answer::none));
    CHECK(node.view().recovering);
}

// R6.2
TEST_CASE("recall: held by one binds the node to that one, for P of what is left") {
    NodeFixture node = restarted();
    const Duration left = milliseconds(300);
    const Instant told = node.now();
    node.dial(1, holds(node, 1, {4000}, left));
    REQUIRE_FALSE(node.view().recovering);
    node.accept(1);
    node.accept(2);
    node.dial(2);
    const Coordinator other{.epoch = {9000}, .lease = node.timing().lease, .stamp = node.now()};
    const Nack refused = sent_one<Nack>(node.hear(2, other));
    CHECK(refused.reason == NackReason::busy);
    CHECK(refused.promise_holder == NodeId{1});
    CHECK(refused.promised_epoch == Epoch{4000});
    CHECK(refused.remaining == node.timing().promise(left));
    // Its FIN shows the end of this session only; what was promised before was tied to another.
    node.lose(1);
    CHECK(node.view().promised_to == NodeId{1});
    node.set_clock(told + node.timing().promise(left) - Duration{1});
    CHECK(node.view().promised_to == NodeId{1});
    node.pass(Duration{1});
    CHECK(node.view().promised_to == nobody);
}

TEST_CASE("recall: the holder renews below the epochs of the file, and its RESIGN releases") {
    NodeFixture node = restarted();
    node.dial(1, holds(node, 1, {4000}, milliseconds(300)));
    node.accept(1);
    CHECK(sent<Grant>(node.hear(1, node.renewal(4000))).size() == 1);
    node.hear(1, Resign{{4000}, nobody});
    CHECK(node.view().promised_to == nobody);
}

// R6.4
TEST_CASE("recall: what is left is on the disk before it is promised") {
    Config config = three();
    NodeFixture node(config);
    node.wake();
    node.persisted();
    const Duration left = config.timing.lease_max;
    const Actions actions = node.dial(1, holds(node, 1, {4000}, left));
    CHECK(node.view().recovering);
    CHECK(only_one<Persist>(actions).durable.promised_max == node.timing().promise(left));
    node.persisted();
    CHECK_FALSE(node.view().recovering);
}

TEST_CASE("recall: what was resigned while the disk was writing binds nobody") {
    NodeFixture node(three());
    node.wake();
    node.dial(1, holds(node, 1, {4000}, milliseconds(300)));
    node.dial(2, says(node, 2, Recall::Answer::none));
    node.accept(1);
    node.hear(1, Resign{{4000}, nobody});
    node.persisted();
    CHECK_FALSE(node.view().recovering);
    CHECK(node.view().promised_to == nobody);
}

// ---- The one that answers.

Recall answer_to(NodeFixture& node, std::uint64_t peer, bool had_file = true) {
    HelloReceived hello = node.hello_from(peer);
    hello.hello.recovering = true;
    hello.hello.had_file_at_start = had_file;
    return sent<HelloAck>(node.accept(hello)).at(0).recall;
}

// R6.9
TEST_CASE("recall: a follower counts nothing") {
    NodeFixture node = restarted();
    CHECK(answer_to(node, 1).answer == Recall::Answer::none);
    node.recover();
    CHECK(answer_to(node, 2).answer == Recall::Answer::none);
}

// R6.5
TEST_CASE("recall: a leader holds what it counts, by the clock by which more is left") {
    NodeFixture node(three());
    node.lead({1});
    const Epoch epoch = node.view().epoch;
    const Instant now = node.now();
    node.set_clock({now.boottime_ns + milliseconds(100).ns, now.raw_ns + milliseconds(40).ns});
    node.lose(1, SessionEnd::timeout);
    node.new_incarnation(1);
    const Recall recall = answer_to(node, 1);
    CHECK(recall.answer == Recall::Answer::held);
    CHECK(recall.epoch == epoch);
    CHECK(recall.to_leader);
    CHECK(recall.remaining == node.timing().lease - milliseconds(40));
    CHECK(answer_to(node, 2).answer == Recall::Answer::none);
}

// In a suspend one clock stands still: what the other has ended long ago is no grant, and yet not
// certainly none.
// R6.6
TEST_CASE("recall: a grant that has ended by one clock alone is neither held nor none") {
    NodeFixture node(three());
    node.lead({1});
    const Instant now = node.now();
    node.new_incarnation(1);
    node.lose(1);
    HelloReceived hello = node.hello_from(1);
    hello.hello.recovering = true;
    hello.hello.had_file_at_start = true;
    node.set_clock({now.boottime_ns + node.timing().lease.ns, now.raw_ns});
    const Recall recall = sent<HelloAck>(node.accept(hello)).at(0).recall;
    CHECK(recall.answer == Recall::Answer::cannot_tell);
}

// R6.7, N4.3
TEST_CASE(
    "recall: who has lost another run without a FIN cannot tell until all promises are over") {
    Config config = three();
    std::optional<SessionEnd> end;
    SUBCASE("its session has ended otherwise") { end = SessionEnd::reset; }
    SUBCASE("where notices count, a FIN may be anybody's") {
        config.fast_release = FastRelease::notice;
        end = SessionEnd::eof;
    }
    SUBCASE("its session has not ended, but it is not heard any more") {}
    NodeFixture node = restarted(config);
    node.recover();
    node.connect(1);
    if (end)
        node.lose(1, *end);
    else
        node.after(node.timing().suspect_after);
    node.new_incarnation(1);
    CHECK(answer_to(node, 1).answer == Recall::Answer::cannot_tell);
    node.lose(1);
    node.new_incarnation(1);
    node.after(node.timing().promise(node.timing().lease_max));
    CHECK(answer_to(node, 1).answer == Recall::Answer::none);
}

// R6.7
TEST_CASE("recall: who recovers without a file, or with hooks, cannot tell one that has a file") {
    Config config = three();
    NodeFixture lost(config, test::start_without_file(config));
    CHECK(answer_to(lost, 1).answer == Recall::Answer::cannot_tell);
    Start start = test::start_with_file(config);
    start.file->hooks = true;
    NodeFixture hooks(config, start);
    hooks.disk_answers(true);
    CHECK(answer_to(hooks, 1).answer == Recall::Answer::cannot_tell);
    hooks.recover();
    CHECK(answer_to(hooks, 2).answer == Recall::Answer::none);
}

// R6.8
TEST_CASE("recall: who is told of another process with its own id cannot tell") {
    NodeFixture node = restarted();
    node.recover();
    constexpr SessionId to_1{70300};
    node.step(Dialled{{1}, to_1, {}});
    node.step(Receive{to_1, Refused{"id", "another process with id 3 is connected", "3"}});
    SUBCASE("one that had a file") {
        CHECK(answer_to(node, 2).answer == Recall::Answer::cannot_tell);
        node.lose(2);
        node.new_incarnation(2);
        node.after(node.timing().promise(node.timing().lease_max) + redial_max);
        CHECK(answer_to(node, 2).answer == Recall::Answer::none);
    }
    SUBCASE("nor one that had none") {
        CHECK(answer_to(node, 2, false).answer == Recall::Answer::cannot_tell);
    }
}

// R6.7
TEST_CASE("recall: to one without a file, who has met another run of it cannot tell") {
    const Config config = three();
    NodeFixture node(config, test::start_without_file(config));
    CHECK(answer_to(node, 1, false).answer == Recall::Answer::none);
    node.lose(1);
    node.new_incarnation(1);
    CHECK(answer_to(node, 1, false).answer == Recall::Answer::cannot_tell);
    // Also when it has met that run as the one that answers.
    node.dial(2);
    node.new_incarnation(2);
    CHECK(answer_to(node, 2, false).answer == Recall::Answer::cannot_tell);
}

// R3.6, R6.22
TEST_CASE("recall: a grant for a request of before the answer is not counted, a later one is") {
    NodeFixture node(three());
    node.stand({1, 2});
    const Grant early = node.grant_from(1);
    HelloReceived hello = node.hello_from(1);
    hello.hello.recovering = true;
    node.accept(hello);
    node.hear(1, early);
    CHECK(node.role() == Role::candidate);
    Grant by_one_clock = early;
    node.pass(milliseconds(1));
    by_one_clock.stamp = {node.now().boottime_ns, early.stamp.raw_ns};
    node.hear(1, by_one_clock);
    CHECK(node.role() == Role::candidate);
    Grant late = early;
    late.stamp = node.now();
    node.hear(1, late);
    CHECK(node.role() == Role::leader);
}

// R3.6
TEST_CASE("recall: what is asked for after the answer is counted, even at the same instant") {
    NodeFixture node(three());
    node.recover();
    for (const std::uint64_t peer : {1U, 2U}) {
        HelloReceived hello = node.hello_from(peer);
        hello.hello.recovering = true;
        node.accept(hello);
        node.dial(peer);
    }
    REQUIRE_FALSE(sent<Coordinator>(node.hear_heartbeat(1)).empty());
    node.answer_grant(1);
    CHECK(node.role() == Role::leader);
}

// ---- What follows.

TEST_CASE("recall: a candidate asks a voter again that recovers no more, a leader renews with it") {
    NodeFixture node(three());
    node.stand({1, 2});
    Heartbeat silent = node.heartbeat_from(2);
    silent.recovering = true;
    node.hear(2, silent);
    CHECK_FALSE(sent_one<Coordinator>(node.hear_heartbeat(2)).renew);
    node.answer_grant(1);
    REQUIRE(node.role() == Role::leader);
    node.hear(2, silent);
    CHECK(sent_one<Coordinator>(node.hear_heartbeat(2)).renew);
}

TEST_CASE("recall: that the silence is over is told at once") {
    NodeFixture node = restarted();
    node.connect(1);
    node.dial(1, says(node, 1, Recall::Answer::none));
    const std::vector<Heartbeat> told =
        sent<Heartbeat>(node.dial(2, says(node, 2, Recall::Answer::none)));
    CHECK(std::count_if(told.begin(), told.end(),
                        [](const Heartbeat& h) { return !h.recovering; }) > 0);
}

// R6.10
TEST_CASE(
    "first start: with all members there, none of which was met before, it waits for nothing") {
    const Config config = three();
    NodeFixture node(config, test::start_without_file(config));
    node.disk_answers(true);
    Epoch latest;
    for (const std::uint64_t peer : {1U, 2U}) {
        HelloAck ack = says(node, peer, Recall::Answer::none);
        ack.had_file_at_start = false;
        latest = ack.clock_epoch = {1024 * (1'800'000'000'000 + peer)};
        node.dial(peer, ack);
    }
    CHECK_FALSE(node.view().recovering);
    node.connect(1);
    const std::vector<Coordinator> requests = sent<Coordinator>(node.connect(2));
    REQUIRE_FALSE(requests.empty());
    CHECK(requests[0].epoch == latest + 1);
}

/// Node 2 of three has all answers; whether it stands in the next `patience`, if node 3 is heard
/// to recover or not heard at all.
bool stands_within(Duration patience, bool higher_is_heard) {
    NodeFixture node(three(2));
    node.disk_answers(true);
    node.wake();
    Heartbeat silent = node.heartbeat_from(3);
    silent.recovering = true;
    node.accept(1);
    node.dial(1, says(node, 1, Recall::Answer::none));
    if (higher_is_heard) {
        node.accept(3);
        node.says(3, silent);
        node.hear_heartbeat(3);
    }
    node.dial(3, says(node, 3, Recall::Answer::none));
    REQUIRE_FALSE(node.view().recovering);
    Actions actions = node.hear_heartbeat(1);
    test::append(actions, node.run(patience));
    return !only<ElectionStarted>(actions).empty();
}

TEST_CASE(
    "cold start: a better one that has answered, and is not heard, is waited for for a poll") {
    const Duration poll = three().timing.poll_wait;
    CHECK_FALSE(stands_within(poll - Duration{1}, false));
    CHECK(stands_within(poll, false));
}

TEST_CASE("cold start: a better one that is heard to recover is waited for as after any silence") {
    const Duration longest = own_promise(three());
    CHECK_FALSE(stands_within(longest - Duration{1}, true));
    CHECK(stands_within(longest, true));
}

TEST_CASE("recall: one whose HELLO said that it recovers is asked again when it is first heard") {
    NodeFixture node(three());
    node.stand({1});
    HelloReceived hello = node.hello_from(2);
    hello.hello.recovering = true;
    node.accept(hello);
    node.dial(2);
    CHECK(sent<Coordinator>(node.hear_heartbeat(2)).size() == 1);
    CHECK(sent<Coordinator>(node.hear_heartbeat(2)).empty());
}

}  // namespace
}  // namespace bullring::protocol::recall_test
