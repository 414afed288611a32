#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "src/http/history.hpp"

namespace bullring::http_history_test {
namespace {

using nlohmann::json;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t hour = 3600 * 1000 * ms;

RecentChanges::Change leads(std::uint64_t id, std::int64_t at_ns) {
    return {at_ns, {{id}, {static_cast<std::uint64_t>(at_ns / ms)}, "db" + std::to_string(id)}};
}
RecentChanges::Change lost(std::int64_t at_ns) { return {at_ns, {{}, {}, ""}}; }

TEST_CASE("history: the times without a leader are summed, the present one included") {
    History history(0);
    CHECK(history.leaderless_ns(5 * ms) == 5 * ms);
    history.add(leads(3, 10 * ms));
    CHECK(history.leaderless_ns(100 * ms) == 10 * ms);
    history.add(lost(100 * ms));
    history.add(lost(101 * ms));
    CHECK(history.leaderless_ns(102 * ms) == 12 * ms);
    history.add(leads(2, 104 * ms));
    CHECK(history.leaderless_ns(200 * ms) == 14 * ms);
    CHECK(history.watched_ns(200 * ms) == 200 * ms);
}

TEST_CASE("history: what is more than a day ago counts no more") {
    History history(0);
    history.add(leads(3, 10 * hour));
    CHECK(history.leaderless_ns(12 * hour) == 10 * hour);
    CHECK(history.leaderless_ns(30 * hour) == 4 * hour);
    CHECK(history.leaderless_ns(34 * hour) == 0);
    CHECK(history.watched_ns(30 * hour) == 24 * hour);
    history.add(lost(40 * hour));
    CHECK(history.leaderless_ns(70 * hour) == 24 * hour);
}

TEST_CASE("history: the newest change is told first, with the gap before it") {
    History history(0);
    history.add(leads(3, 10 * ms));
    history.add(lost(100 * ms));
    history.add(leads(2, 104 * ms));
    history.add(leads(1, 150 * ms));
    const json told = json::parse(history.json(200 * ms, 1'000'000'000'200 * ms));
    CHECK(told["watched_ms"] == 200);
    CHECK(told["leaderless_ms"] == 14);
    REQUIRE(told["changes"].size() == 3);
    CHECK(told["changes"][0]["leader"] == 1);
    CHECK(told["changes"][0]["gap_ms"] == 0);
    CHECK(told["changes"][1]["gap_ms"] == 4);
    CHECK(told["changes"][1]["advertised"] == "db2");
    CHECK(told["changes"][2]["gap_ms"] == nullptr);
    CHECK(history.last_ns() == 150 * ms);
}

TEST_CASE("history: it stays small however often the leader changes") {
    History history(0);
    for (int i = 1; i <= 10'000; ++i) {
        history.add(lost((2 * i) * ms));
        history.add(leads(1, (2 * i + 1) * ms));
    }
    const json told = json::parse(history.json(30'000 * ms, 30'000 * ms));
    CHECK(told["changes"].size() == History::leaderships_max);
    CHECK(history.leaderless_ns(30'000 * ms) ==
          static_cast<std::int64_t>(History::outages_max) * ms);
}

}  // namespace
}  // namespace bullring::http_history_test
