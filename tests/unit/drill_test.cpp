// The pure parts of a drill: the figures, the verdict, and what proves two leaders at once.
#include <doctest/doctest.h>

#include "src/base/text/json.hpp"
#include "src/node/drill_faults.hpp"
#include "src/verify/drill/absence.hpp"
#include "src/verify/drill/claims.hpp"
#include "src/verify/drill/tally.hpp"

namespace bullring::drill_test {

namespace {

using namespace bullring::drill;
using protocol::Duration;
using protocol::milliseconds;

constexpr Duration lease = milliseconds(1000);

Round round(DrillRequest fault, int ms) { return {fault, lease, milliseconds(ms), false}; }

Claim answer(std::uint64_t node, std::uint64_t epoch, int asked_ms, int heard_ms) {
    return {{node}, {epoch}, milliseconds(asked_ms), milliseconds(heard_ms)};
}

Claim word(std::uint64_t node, std::uint64_t epoch, int heard_ms) {
    return {{node}, {epoch}, std::nullopt, milliseconds(heard_ms)};
}

}  // namespace

TEST_CASE("drill: a percentile is a value that occurred, by its nearest rank") {
    std::vector<Duration> times;
    for (int i = 1; i <= 200; ++i) times.push_back(milliseconds(i));
    CHECK(percentile(times, 0.5) == milliseconds(100));
    CHECK(percentile(times, 0.99) == milliseconds(198));
    CHECK(percentile(times, 1) == milliseconds(200));
    CHECK(percentile({milliseconds(7)}, 0.5) == milliseconds(7));
    CHECK(percentile({milliseconds(7)}, 0.99) == milliseconds(7));
}

TEST_CASE("drill: a table has a line for each fault that has happened") {
    Tally tally;
    for (const int ms : {4, 2, 9}) tally.add(round(DrillRequest::crash, ms));
    tally.add(round(DrillRequest::cut, 800));
    CHECK(tally.sound());
    CHECK(tally.rounds() == 4);
    CHECK(tally.table() ==
          "fault   rounds       median          p99      longest  two leaders at once\n"
          "crash        3       4.0 ms       9.0 ms       9.0 ms  no\n"
          "cut          1     800.0 ms     800.0 ms     800.0 ms  no\n");
}

TEST_CASE("drill: a round without a leader within three leases is not sound") {
    Tally tally;
    tally.add(round(DrillRequest::cut, 3000));
    CHECK(tally.sound());
    tally.add(round(DrillRequest::cut, 3001));
    CHECK_FALSE(tally.sound());
    tally.add({DrillRequest::hang, lease, std::nullopt, false});
    CHECK(tally.complaints() ==
          std::vector<std::string>{"hang: 1 of 1 rounds had no leader within 3 leases",
                                   "cut: 1 of 2 rounds had no leader within 3 leases"});
    const Json json = Json::parse(tally.json("blue", {}));
    CHECK(json.at("sound") == false);
    CHECK(json.at("faults").at(0).at("median_ms").is_null());
    CHECK(json.at("faults").at(1).at("longest_ms") == 3001.0);
    CHECK(json.at("faults").at(1).at("no_leader_in_time") == 1);
}

TEST_CASE("drill: two leaders are not sound, however quick the rounds are") {
    Tally tally;
    tally.add(round(DrillRequest::crash, 1));
    tally.add({DrillRequest::crash, lease, milliseconds(1), true});
    CHECK_FALSE(tally.sound());
    CHECK(Json::parse(tally.json("blue", {})).at("faults").at(0).at("two_leaders") == true);
}

TEST_CASE("drill: who did not return is told, and is not sound") {
    const Json json = Json::parse(Tally().json("blue", {3}));
    CHECK(json.at("not_back") == 3);
    CHECK(json.at("sound") == false);
}

TEST_CASE("drill: who is not there is told, and nobody else") {
    NodeAnswer votes;
    NodeAnswer silent;
    silent.votes = false;
    const MemberAnswer fine{{1}, "10.0.0.1:1", votes, "", false};
    const MemberAnswer gone{{2}, "10.0.0.2:1", std::nullopt, "Connection refused", false};
    const MemberAnswer mute{{3}, "10.0.0.3:1", silent, "", false};
    CHECK(absences({fine}).empty());
    const auto found = absences({fine, gone, mute});
    REQUIRE(found.size() == 2);
    CHECK(found[0].member.value == 2);
    CHECK(found[0].why == "node 2 can't be reached: Connection refused");
    CHECK(found[1].member.value == 3);
    CHECK(found[1].why == "node 3 does not vote yet");
}

TEST_CASE("drill: a claim of a lower epoch counts when it was asked for after a higher one") {
    Claims claims;
    CHECK_FALSE(claims.add(answer(1, 5, 0, 1)));
    CHECK_FALSE(claims.add(answer(2, 6, 10, 20)));
    // It may have led before the other did.
    CHECK_FALSE(claims.add(answer(1, 5, 15, 25)));
    CHECK(claims.add(answer(1, 5, 21, 25)));
}

TEST_CASE("drill: a claim that was told unasked proves a higher epoch, never a lower one") {
    Claims claims;
    CHECK_FALSE(claims.add(word(2, 6, 20)));
    CHECK_FALSE(claims.add(word(1, 5, 30)));
    CHECK(claims.add(answer(1, 5, 31, 32)));
}

TEST_CASE("drill: leaders in turn, and one that leads again, are no contradiction") {
    Claims claims;
    for (std::uint64_t epoch = 1; epoch <= 1000; ++epoch) {
        const int at = static_cast<int>(epoch) * 10;
        CHECK_FALSE(claims.add(answer(epoch % 3 + 1, epoch, at, at + 1)));
        CHECK_FALSE(claims.add(answer(epoch % 3 + 1, epoch, at + 2, at + 3)));
    }
}

TEST_CASE("drill: two nodes that claim one epoch contradict each other at any time") {
    Claims claims;
    CHECK_FALSE(claims.add(word(1, 5, 0)));
    CHECK(claims.add(word(2, 5, 9000)));
}

TEST_CASE("drill: a node lets a fault happen to no leadership but the one that is named") {
    asio::io_context io{1};
    struct Nobody final : TransportHandler {
        void on_event(const protocol::Event& /*event*/) override {}
        void on_request(protocol::SessionId /*observer*/,
                        const ObserverMessage& /*what*/) override {}
        void on_observer_gone(protocol::SessionId /*observer*/) override {}
        void on_fatal(const std::string& /*what*/) override {}
    } handler;
    Transport transport(io, {}, handler);
    NodeOptions options;
    protocol::View view;
    view.role = protocol::Role::leader;
    view.epoch = {7};
    view.lease_left = lease;
    const auto ask = [&](DrillRequest what, std::uint64_t epoch) {
        const auto answered = answer_drill({"blue", what, {epoch}}, options, view, transport);
        CHECK(answered.result.done == answered.result.why.empty());
        return answered;
    };
    CHECK(ask(DrillRequest::permission, 0).result.why == "it was not started with --allow-drill");
    CHECK_FALSE(ask(DrillRequest::crash, 7).act);
    options.allow_drill = true;
    CHECK(ask(DrillRequest::permission, 0).result.done);
    CHECK_FALSE(ask(DrillRequest::permission, 0).act);
    CHECK(ask(DrillRequest::crash, 7).act);
    CHECK(ask(DrillRequest::cut, 7).act);
    CHECK_FALSE(ask(DrillRequest::crash, 6).act);
    view.lease_left = {};
    CHECK_FALSE(ask(DrillRequest::cut, 7).act);
    view.lease_left = lease;
    view.role = protocol::Role::follower;
    CHECK(ask(DrillRequest::crash, 7).result.why == "it does not lead with epoch 7");
    options.config.quorum = protocol::QuorumMode::none;
    CHECK_FALSE(ask(DrillRequest::permission, 0).result.done);
}

}  // namespace bullring::drill_test
