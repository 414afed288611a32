#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "src/http/history.hpp"

namespace bullring::http_history_test {
namespace {

using nlohmann::json;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t hour = 3600 * 1000 * ms;

protocol::Instant at(std::int64_t ns) { return {ns, ns}; }
/// The first of a run, of which only LeaderLog knows since when nobody has led.
LeaderTurn first(std::uint64_t id, std::int64_t at_ns, std::int64_t unled_since_ns = 0) {
    const auto epoch = static_cast<std::uint64_t>(at_ns / ms);
    return {at(at_ns),
            {{id}, {epoch}, "db" + std::to_string(id)},
            LeaderEnd::first,
            "",
            at(unled_since_ns)};
}
LeaderTurn next(std::uint64_t id, std::int64_t at_ns, std::int64_t unled_since_ns,
                LeaderEnd before = LeaderEnd::died) {
    LeaderTurn turn = first(id, at_ns, unled_since_ns);
    turn.what.unled_since = turn.unled_since;
    turn.before = before;
    return turn;
}
LeaderTurn lost(std::int64_t at_ns, std::int64_t unled_since_ns) {
    return {at(at_ns), {{}, {}, "", false, at(unled_since_ns)}, {}, "", at(unled_since_ns)};
}
/// As an earlier run recorded it.
History::Leadership past(std::uint64_t id, std::int64_t ts_ns,
                         std::optional<protocol::Duration> gap, std::int64_t wall_ns) {
    const LeaderTurn turn = first(id, ts_ns);
    return {turn.at, turn.what, LeaderEnd::died, gap, wall_ns};
}

TEST_CASE("history: the times without a leader are summed, the present one included") {
    History history(0);
    CHECK(history.leaderless_ns(5 * ms) == 5 * ms);
    history.add(first(3, 10 * ms));
    CHECK(history.leaderless_ns(100 * ms) == 10 * ms);
    history.add(lost(101 * ms, 100 * ms));
    CHECK(history.leaderless_ns(102 * ms) == 12 * ms);
    history.add(next(2, 104 * ms, 100 * ms));
    CHECK(history.leaderless_ns(200 * ms) == 14 * ms);
    // The next one was there before the loss was known.
    history.add(next(1, 180 * ms, 170 * ms));
    CHECK(history.leaderless_ns(200 * ms) == 24 * ms);
    CHECK(history.watched_ns(200 * ms) == 200 * ms);
}

TEST_CASE("history: what is more than a day ago counts no more") {
    History history(0);
    history.add(first(3, 10 * hour));
    CHECK(history.leaderless_ns(12 * hour) == 10 * hour);
    CHECK(history.leaderless_ns(30 * hour) == 4 * hour);
    CHECK(history.leaderless_ns(34 * hour) == 0);
    CHECK(history.watched_ns(30 * hour) == 24 * hour);
    history.add(lost(40 * hour, 40 * hour));
    CHECK(history.leaderless_ns(70 * hour) == 24 * hour);
}

TEST_CASE("history: the newest change is told first, with the gap before it") {
    History history(0);
    history.add(first(3, 10 * ms));
    history.add(lost(103 * ms, 100 * ms));
    history.add(next(2, 104 * ms, 100 * ms));
    history.add(next(1, 150 * ms, 150 * ms, LeaderEnd::replaced));
    const json told = json::parse(history.json(200 * ms, 1'000'000'000'200 * ms));
    CHECK(told["watched_ms"] == 200);
    CHECK(told["leaderless_ms"] == 14);
    REQUIRE(told["changes"].size() == 3);
    CHECK(told["changes"][0]["leader"] == 1);
    CHECK(told["changes"][0]["gap_ms"] == 0);
    CHECK(told["changes"][1]["gap_ms"] == 4);
    CHECK(told["changes"][1]["advertised"] == "db2");
    CHECK(told["changes"][2]["gap_ms"] == nullptr);
    CHECK(told["changes"][0]["reason"] == "replaced");
    CHECK(told["changes"][1]["reason"] == "died");
    CHECK(told["changes"][2]["reason"] == "first");
    CHECK(history.last_ns() == 150 * ms);
}

TEST_CASE("history: while nobody leads it tells since when, and else nothing of the kind") {
    const auto told_since = [](const History& history) {
        return json::parse(history.json(200 * ms, 1'764'633'600'200 * ms))["leaderless_since"];
    };
    History history(50 * ms);
    CHECK(told_since(history) == "2025-12-02T00:00:00.050000Z");
    history.add(first(3, 60 * ms));
    CHECK(told_since(history) == nullptr);
    history.add(lost(101 * ms, 100 * ms));
    CHECK(told_since(history) == "2025-12-02T00:00:00.100000Z");
}

TEST_CASE("history: what is told of earlier runs comes before what this one sees") {
    // Their CLOCK_BOOTTIME was another one.
    History history(1'000 * ms);
    history.add_earlier({past(3, 7'010 * ms, {}, 10 * ms),
                         past(2, 7'020 * ms, protocol::milliseconds(5), 20 * ms)});
    CHECK(history.leaderless_ns(1'001 * ms) == ms);
    history.add(first(1, 1'010 * ms, 1'000 * ms));
    history.add(next(3, 1'020 * ms, 1'020 * ms, LeaderEnd::replaced));
    const json told = json::parse(history.json(1'100 * ms, 1'100 * ms));
    REQUIRE(told["changes"].size() == 4);
    CHECK(told["changes"][0]["gap_ms"] == 0);
    CHECK(told["changes"][1]["leader"] == 1);
    CHECK(told["changes"][1]["gap_ms"] == nullptr);  // the node was not there to see it
    CHECK(told["changes"][2]["gap_ms"] == 5);
    CHECK(told["changes"][3]["time"] == "1970-01-01T00:00:00.010000Z");
    CHECK(told["watched_ms"] == 100);
    CHECK(told["leaderless_ms"] == 10);
}

TEST_CASE("history: a leader that stayed while this node was started anew has led all along") {
    LeaderTurn again = first(2, 20 * ms, 1'000 * ms);
    again.at = at(1'010 * ms);
    History history(1'000 * ms);
    SUBCASE("told before") {
        history.add_earlier({past(2, 20 * ms, {}, 20 * ms)});
        history.add(again);
    }
    SUBCASE("told when this run has seen it already") {
        history.add(again);
        history.add_earlier({past(2, 20 * ms, {}, 20 * ms)});
    }
    json told = json::parse(history.json(1'100 * ms, 1'100 * ms));
    REQUIRE(told["changes"].size() == 1);
    CHECK(told["changes"][0]["time"] == "1970-01-01T00:00:00.020000Z");
    CHECK(told["leaderless_since"] == nullptr);
    history.add(lost(1'055 * ms, 1'050 * ms));
    again.at = at(1'060 * ms);
    again.what.unled_since = again.unled_since = at(1'050 * ms);
    history.add(again);  // it was lost from sight, and led on
    told = json::parse(history.json(1'100 * ms, 1'100 * ms));
    CHECK(told["changes"].size() == 1);
    CHECK(told["leaderless_since"] == nullptr);
    CHECK(told["leaderless_ms"] == 20);
}

TEST_CASE("history: it stays small however often the leader changes") {
    History history(0);
    for (int i = 1; i <= 10'000; ++i) {
        history.add(lost((2 * i) * ms, (2 * i) * ms));
        history.add(next(1, (2 * i + 1) * ms, (2 * i) * ms));
    }
    const json told = json::parse(history.json(30'000 * ms, 30'000 * ms));
    CHECK(told["changes"].size() == History::leaderships_max);
    CHECK(history.leaderless_ns(30'000 * ms) ==
          static_cast<std::int64_t>(History::outages_max) * ms);
}

}  // namespace
}  // namespace bullring::http_history_test
