// R2 at a whole node: every combination of its conditions against the rule as PROTOCOL §5 words it.
#include <doctest/doctest.h>

#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::voter_table_test {
namespace {

using namespace test;

enum class Reserved { no, for_asker, for_other };
enum class Asked { usual, longer_than_the_disk_knows, too_long };
enum class Answer { grant, busy, reserved, stale, too_long, after_disk };

// The voter 1 has promised epoch 5010 to 3, and 5020 to 2 before; 6024 is durable.
constexpr std::uint64_t rec_epoch = 5010;
constexpr std::uint64_t vmax = 5020;
constexpr std::uint64_t beyond_disk = 7000;

struct Row {
    bool same_key = false;
    bool live = false;
    std::uint64_t epoch = 0;
    bool dead = false;
    bool renew = false;
    Reserved reserved = Reserved::no;
    Asked asked = Asked::usual;
};

Answer rule(const Row& row) {
    if (row.asked == Asked::too_long) return Answer::too_long;                       // R2.2
    if (row.same_key && row.dead && row.epoch <= rec_epoch) return Answer::stale;    // R2.2c
    if (row.live && !row.same_key) return Answer::busy;                              // R2.3
    if (row.reserved == Reserved::for_other && !row.renew) return Answer::reserved;  // R2.4
    const bool same = row.same_key && row.epoch == rec_epoch;
    const bool regresses = row.same_key && (row.epoch < rec_epoch || (same && row.dead));
    const bool acceptable = (same && !row.dead) || row.epoch > vmax || (row.renew && !regresses);
    if (!acceptable) return Answer::stale;  // R2.5
    if (row.epoch == beyond_disk || row.asked == Asked::longer_than_the_disk_knows)
        return Answer::after_disk;  // R2.6
    return Answer::grant;           // R2.7
}

Config voter_config() {
    Config config = test::config_for(1, {1, 2, 3, 4});
    config.priority = Priority::never();  // it only votes
    return config;
}

Coordinator request(const NodeFixture& node, std::uint64_t epoch, bool renew, Duration lease) {
    return {{epoch}, lease, node.now(), renew, true};
}

NodeFixture node_of(const Row& row) {
    NodeFixture node(voter_config());
    node.recover();
    node.connect(2);
    node.connect(3);
    node.connect(4);
    const std::uint64_t asker = row.same_key ? 3 : 2;
    const NodeId successor = row.reserved == Reserved::no          ? nobody
                             : row.reserved == Reserved::for_asker ? NodeId{asker}
                                                                   : NodeId{5 - asker};
    node.hear(4, request(node, vmax, false, milliseconds(20)));
    node.hear(4, Resign{{vmax}, successor});
    const Actions given = node.hear(3, request(node, rec_epoch, true, milliseconds(20)));
    REQUIRE(sent<Grant>(given).size() == 1);
    if (row.dead) node.hear(3, Resign{{rec_epoch}, nobody});
    node.after(milliseconds(row.live ? 10 : 30));
    return node;
}

Duration length_of(const Row& row, const Timing& timing) {
    if (row.asked == Asked::too_long) return timing.lease_max + Duration{1};
    if (row.asked == Asked::longer_than_the_disk_knows) return seconds(2);
    return row.renew ? timing.lease : timing.campaign_lease;
}

Nack nack_of(Answer answer, const Row& row, NodeFixture& node) {
    Nack nack;
    nack.holder_incarnation = node.incarnation_of(row.same_key ? 3 : 2);
    nack.epoch = {row.epoch};
    switch (answer) {
        case Answer::busy:
            nack.reason = NackReason::busy;
            nack.promise_holder = {3};
            nack.promised_epoch = {rec_epoch};
            nack.remaining = node.timing().promise(milliseconds(20)) - milliseconds(10);
            nack.parked = true;
            break;
        case Answer::reserved:
            nack.reason = NackReason::reserved;
            nack.remaining = node.timing().reservation() - milliseconds(row.live ? 10 : 30);
            break;
        case Answer::stale:
            nack.reason = NackReason::stale;
            nack.promised_epoch = {vmax};
            break;
        default: nack.reason = NackReason::lease_too_long; nack.remaining = node.timing().lease_max;
    }
    return nack;
}

void check_row(const Row& row) {
    NodeFixture node = node_of(row);
    const std::uint64_t asker = row.same_key ? 3 : 2;
    const Coordinator asked = request(node, row.epoch, row.renew, length_of(row, node.timing()));
    const Answer expected = rule(row);
    const Actions actions = test::without_heartbeats(node.hear(asker, asked));
    CAPTURE(static_cast<int>(expected));
    Actions messages;
    for (const Send& send : only<Send>(actions)) messages.emplace_back(send);
    if (expected == Answer::after_disk) {
        CHECK(messages == Actions{});
        CHECK(only_one<Persist>(actions).durable.hw.value >= row.epoch);
        CHECK(only_one<Persist>(actions).durable.promised_max >=
              node.timing().promise(asked.lease));
        return;
    }
    if (expected == Answer::grant) {
        CHECK(messages ==
              Actions{Send{node.dialled(asker),
                           Grant{node.incarnation_of(asker), asked.epoch, asked.lease, asked.stamp,
                                 SessionId{7000}, node.own_incarnation()}}});
        CHECK(node.view().promised_to == NodeId{asker});
        return;
    }
    CHECK(messages == Actions{Send{node.dialled(asker), nack_of(expected, row, node)}});
}

TEST_CASE("voter: every row of R2's conditions is answered as the rule says") {
    int rows = 0;
    for (const bool same_key : {false, true})
        for (const bool live : {false, true})
            for (const std::uint64_t epoch : {5009U, 5010U, 5015U, 5020U, 5021U, 7000U})
                for (const bool dead : {false, true})
                    for (const bool renew : {false, true})
                        for (const Reserved reserved :
                             {Reserved::no, Reserved::for_asker, Reserved::for_other})
                            for (const Asked asked :
                                 {Asked::usual, Asked::longer_than_the_disk_knows,
                                  Asked::too_long}) {
                                if (dead && live) continue;  // resigned is over: cannot be
                                CAPTURE(same_key);
                                CAPTURE(live);
                                CAPTURE(epoch);
                                CAPTURE(dead);
                                CAPTURE(renew);
                                CAPTURE(static_cast<int>(reserved));
                                CAPTURE(static_cast<int>(asked));
                                check_row({same_key, live, epoch, dead, renew, reserved, asked});
                                ++rows;
                            }
    CHECK(rows == 648);
}

// R2.1
TEST_CASE("voter: while it is recovering every request is refused as such, whatever it asks") {
    for (const std::uint64_t epoch : {1U, 5000U, 5001U, 7000U})
        for (const bool renew : {false, true})
            for (const Duration lease : {milliseconds(250), seconds(2), seconds(11)}) {
                NodeFixture node(voter_config());
                node.disk_answers(true);
                node.connect(3);
                node.pass(milliseconds(100));
                const Actions actions = node.hear(3, request(node, epoch, renew, lease));
                const Nack nacks = sent_one<Nack>(actions);
                CHECK(nacks.reason == NackReason::recovering);
                CHECK(nacks.remaining ==
                      node.timing().promise(node.timing().lease) - milliseconds(100));
                CHECK(sent<Grant>(actions).empty());
                CHECK(node.view().promised_to == nobody);
            }
}

// R2.2
TEST_CASE("voter: a holder whose HELLO names too long a lease is refused for short requests too") {
    for (const bool renew : {false, true}) {
        NodeFixture node(voter_config());
        node.recover();
        HelloReceived hello = node.hello_from(3);
        hello.hello.lease = node.timing().lease_max + Duration{1};
        node.accept(hello);
        node.dial(3);
        const Actions actions = node.hear(3, request(node, 5001, renew, milliseconds(20)));
        CHECK(sent_one<Nack>(actions).reason == NackReason::lease_too_long);
    }
}

}  // namespace
}  // namespace bullring::protocol::voter_table_test
