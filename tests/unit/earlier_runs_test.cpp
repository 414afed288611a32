// Tests the reading of a node's event stream for the leaders before its start: nothing in it does
// harm.
#include "src/http/earlier_runs.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "protocol/values/names.hpp"
#include "src/node/report/events_file.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::earlier_runs_test {
namespace {

constexpr std::int64_t ms = 1'000'000;
/// By the wall clock, where CLOCK_BOOTTIME of these runs was 0.
constexpr std::int64_t then = 1'764'633'600'000 * ms;

/// The lines that node 2 of three writes, in a cluster of this name.
struct Stream {
    explicit Stream(const std::string& cluster = "blue", std::uint64_t id = 2) {
        config.self = {id};
        config.cluster = cluster;
        config.members = protocol::Membership(std::vector<protocol::NodeId>{{1}, {2}, {3}});
    }
    Stream& started(std::int64_t at_ms) {
        text += EventLines(config).started(at(at_ms), 42, "boot");
        return *this;
    }
    Stream& event(std::int64_t at_ms, const protocol::Action& action) {
        text += EventLines(config).of(at(at_ms), action);
        return *this;
    }
    /// `gap_ms`: below 0 it is the first.
    Stream& leads(std::int64_t at_ms, std::uint64_t id, std::uint64_t epoch, const char* reason,
                  std::int64_t gap_ms = -1) {
        protocol::LeaderChanged change{{id}, {epoch}, "db" + std::to_string(id)};
        if (gap_ms >= 0) change.unled_since.emplace().boottime_ns = (at_ms - gap_ms) * ms;
        return turn(at_ms, {{}, change, protocol::named<LeaderEnd>(reason)});
    }
    Stream& lost(std::int64_t at_ms) { return turn(at_ms, {}); }
    Stream& turn(std::int64_t at_ms, const LeaderTurn& turn) {
        text += EventLines(config).leader(at(at_ms), turn);
        return *this;
    }

    protocol::Config config;
    std::string text;

private:
    static EventTime at(std::int64_t at_ms) { return {at_ms * ms, then + at_ms * ms}; }
};

const StreamOwner owner{{2}, "blue"};

/// "LEADER/EPOCH REASON GAP", oldest first.
std::string told(std::string_view lines) {
    std::string all;
    for (const History::Leadership& one : leaderships_in(lines, owner)) {
        all += all.empty() ? "" : ", ";
        all += std::to_string(one.what.leader.value) + "/" + std::to_string(one.what.epoch.value) +
               " " + (one.before ? name(*one.before) : "-") + " " +
               (one.gap ? std::to_string(one.gap->ns / ms) : "-");
    }
    return all;
}

NodeOptions options_for(const std::string& events_file) {
    NodeOptions options;
    options.config.self = {2};
    options.config.cluster = "blue";
    options.events_file = events_file;
    return options;
}

std::deque<History::Leadership> read(const std::string& events_file) {
    return EarlierRuns(options_for(events_file)).read();
}

}  // namespace

TEST_CASE("earlier runs: each change is told with its time, reason and gap") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first").lost(100);
    stream.event(101, protocol::PeerDown{{3}, protocol::PeerDownReason::eof});
    stream.leads(104, 2, 8, "died", 4).leads(200, 1, 9, "replaced", 0);
    CHECK(told(stream.text) == "3/7 first -, 2/8 died 4, 1/9 replaced 0");
    const auto past = leaderships_in(stream.text, owner);
    REQUIRE(past.size() == 3);
    CHECK(past[1].wall_ns == then + 104 * ms);
    CHECK(past[1].what.advertised == "db2");
}

TEST_CASE("earlier runs: of a run's first leader nobody knows how the one before went") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first").lost(20);
    stream.started(500).leads(510, 1, 8, "first");
    CHECK(told(stream.text) == "3/7 first -, 1/8 first -");
}

TEST_CASE("earlier runs: a leader that stayed, in one run or from one to the next, is told once") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first").started(500).leads(510, 3, 7, "first");
    stream.started(900).leads(910, 3, 7, "first").lost(920).leads(930, 3, 7, "lease_expired", 10);
    CHECK(told(stream.text) == "3/7 first -");
    stream.lost(940).leads(950, 3, 8, "lease_expired", 10);
    CHECK(told(stream.text) == "3/7 first -, 3/8 lease_expired 10");
}

TEST_CASE("earlier runs: a stream of a version that told neither reasons nor gaps is understood") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "none").lost(20).leads(25, 2, 8, "none");
    std::string older = stream.text;
    for (const std::string_view key : {",\"before\":null", ",\"gap_ms\":null"})
        for (std::size_t at; (at = older.find(key)) != std::string::npos;)
            older.erase(at, key.size());
    CHECK(told(older) == "3/7 - -, 2/8 - -");
}

TEST_CASE("earlier runs: a gap that is none is not told") {
    for (const std::string_view gap : {"-1", "1e300", "\"5\"", "[]"}) {
        CAPTURE(gap);
        Stream stream;
        stream.started(0).leads(10, 3, 7, "died");
        const std::string_view null = "\"gap_ms\":null";
        stream.text.replace(stream.text.find(null), null.size(), "\"gap_ms\":" + std::string(gap));
        CHECK(told(stream.text) == "3/7 died -");
    }
}

TEST_CASE("earlier runs: lines of other nodes and of other clusters are passed over") {
    Stream stream;
    Stream other("blue", 3);
    other.started(1).leads(2, 1, 5, "first");
    Stream foreign("green");
    foreign.started(100).leads(110, 1, 6, "first");
    stream.started(0).leads(10, 3, 7, "first");
    Stream later;
    later.started(200).leads(210, 1, 8, "first");
    CHECK(told(stream.text + other.text + foreign.text + later.text) == "3/7 first -, 1/8 first -");
}

TEST_CASE("earlier runs: what is cut short or no event at all takes nothing else with it") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first");
    Stream more;
    more.lost(20).leads(25, 2, 8, "died", 5);
    Stream cut;
    cut.leads(26, 1, 9, "replaced");
    const std::string whole = stream.text + more.text;
    const std::string expected = "3/7 first -, 2/8 died 5";
    CHECK(told(whole) == expected);
    // A line that ends anywhere, whether the next one begins on a line of its own or not.
    for (std::size_t length = 0; length + 1 < cut.text.size(); ++length) {
        CAPTURE(length);
        const std::string torn = cut.text.substr(0, length);
        CHECK(told(stream.text + torn + "\n" + more.text) == expected);
        CHECK(told(stream.text + torn + more.text) == expected);
        CHECK(told(whole + torn) == expected);
    }
    for (
        const std::string_view rubbish :
        {R"({"event":"leader"})", R"({"node":2,"event":"leader"})", R"(["leader"])",
         R"({"ts_ns":1,"time":"2025-12-02T00:00:00Z","node":2,"event":"leader","leader":-1,"epoch":1,"advertised":""})",
         R"({"ts_ns":1,"time":"yesterday","node":2,"event":"leader","leader":1,"epoch":1,"advertised":""})",
         R"({"ts_ns":1,"time":3,"node":2,"event":"leader","leader":1,"epoch":1,"advertised":""})",
         R"({"ts_ns":1e99,"time":"","node":2,"event":"leader","leader":1,"epoch":1,"advertised":""})",
         R"({"node":2,"event":"started","cluster":7})", "\"leader\" \xFF\xFE", "\"started\""}) {
        CAPTURE(rubbish);
        CHECK(told(stream.text + std::string(rubbish) + "\n" + more.text) == expected);
    }
    std::string nul = whole;
    nul.insert(stream.text.size(), std::string(3, '\0') + "\"leader\"\n");
    CHECK(told(nul) == expected);
}

TEST_CASE("earlier runs: a line that names another reason than the known ones tells none") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "bored");
    CHECK(told(stream.text) == "3/7 - -");
}

TEST_CASE("earlier runs: the last leaderships are kept") {
    Stream stream;
    stream.started(0);
    for (std::uint64_t epoch = 1; epoch <= 100; ++epoch)
        stream.leads(static_cast<std::int64_t>(epoch), 1 + epoch % 3, epoch, "replaced");
    const auto past = leaderships_in(stream.text, owner);
    REQUIRE(past.size() == History::leaderships_max);
    CHECK(past.back().what.epoch == protocol::Epoch{100});
}

TEST_CASE("earlier runs: however many leaders there were, the last ones are found") {
    Stream stream;
    for (std::uint64_t epoch = 1; epoch <= 5'000; ++epoch) {
        const auto begun = static_cast<std::int64_t>(10 * epoch);
        stream.started(begun).leads(begun + 1, 1, epoch, "first").lost(begun + 2);
    }
    const auto past = leaderships_in(stream.text, owner);
    REQUIRE(past.size() == History::leaderships_max);
    CHECK(past.front().what.epoch == protocol::Epoch{4'969});
    CHECK(past.back().what.epoch == protocol::Epoch{5'000});
}

TEST_CASE("earlier runs: a file's times are told as they stand in it") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first");
    const test::TemporaryFile file(stream.text);
    const auto past = read(file.path());
    REQUIRE(past.size() == 1);
    CHECK(past[0].wall_ns == then + 10 * ms);
}

TEST_CASE("earlier runs: of a long file the end is read, and of the line it begins in nothing") {
    Stream stream;
    stream.started(0).leads(5, 1, 6, "first");
    const std::string beginning = stream.text;
    stream.text.clear();
    while (stream.text.size() < 3 * EarlierRuns::bytes_max) stream.event(7, protocol::PeerUp{{3}});
    stream.leads(10, 3, 7, "died");
    const test::TemporaryFile file(beginning + stream.text);
    const auto past = read(file.path());
    REQUIRE(past.size() == 1);
    CHECK(past[0].what.epoch == protocol::Epoch{7});
}

TEST_CASE("earlier runs: a file of one endless line tells nothing") {
    const test::TemporaryFile file("\"leader\"" + std::string(2 * EarlierRuns::bytes_max, '{'));
    CHECK(read(file.path()).empty());
}

TEST_CASE("earlier runs: what this run has written is not of an earlier one") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first");
    const test::TemporaryFile file(stream.text);
    const EarlierRuns runs(options_for(file.path()));
    std::ofstream(file.path(), std::ios::app) << Stream().started(50).leads(60, 1, 8, "first").text;
    CHECK(runs.read().size() == 1);
}

TEST_CASE("earlier runs: a file that is gone, rotated, cut or no file at all tells less") {
    Stream stream;
    stream.started(0).leads(10, 3, 7, "first");
    const test::TemporaryDirectory place;
    const std::string path = place / "events";
    CHECK(read(path).empty());
    CHECK(read("").empty());
    CHECK(read("-").empty());
    CHECK(read(place.path()).empty());
    CHECK(read("/dev/null").empty());

    std::ofstream(path) << stream.text;
    CHECK(read(path).size() == 1);
    const EarlierRuns runs(options_for(path));
    SUBCASE("removed") { std::filesystem::remove(path); }
    SUBCASE("rotated") {
        std::filesystem::rename(path, path + ".1");
        std::ofstream(path) << Stream().started(50).leads(60, 1, 8, "first").text;
    }
    SUBCASE("cut") { std::filesystem::resize_file(path, 0); }
    CHECK(runs.read().empty());
}

}  // namespace bullring::earlier_runs_test
