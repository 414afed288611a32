// The last line of a leader that has died without a word.
#include "src/watch/last_event.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "src/base/os/clock.hpp"
#include "src/base/text/json.hpp"
#include "src/node/report/background_writer.hpp"
#include "src/node/report/events_file.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::last_event_test {

namespace {

constexpr std::uint64_t node = 7;

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A node that has died as the leader, and its event stream.
struct Dead {
    test::TemporaryDirectory directory;
    std::string path = directory / "events";
    LoopPulse pulse;

    Dead() {
        std::ofstream(path) << "before\n";
        pulse.recorded.store(41);
        pulse.last_step_ns.store(500);
        pulse.lease_end_ns.store(900);
    }
    /// The bytes that have been added.
    std::string told(bool hung = false, std::int64_t acted_ns = 0) {
        const std::size_t before = content(path).size();
        tell_last_event(pulse, path.c_str(), node, hung, acted_ns);
        return content(path).substr(before);
    }
    /// As the node itself writes.
    void add(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
};

}  // namespace

TEST_CASE("last event: its line is the one that the node would have written") {
    protocol::Config config;
    config.self = {node};
    const protocol::Deposed deposed{{41}, protocol::DeposedReason::resigned, {500, 0}};
    const EventTime at{1'000'000'000'123, 1'709'210'096'789'012'345};
    std::string own = EventLines(config).of(at, deposed);
    const LastEventLine line({at.ts_ns, at.wall_clock_ns, node, 41, false, 500});
    const std::string reason = "resigned";
    own.replace(own.find(reason), reason.size(), "died");
    CHECK(line.text() == own);
    CHECK(LastEventLine({1, 0, node, 41, true, 2}).text().find(R"("reason":"hung")") !=
          std::string_view::npos);
    // The longest numbers have room.
    const LastEventLine longest(
        {INT64_MAX, 4'102'444'799'999'999'999, UINT64_MAX, UINT64_MAX, true, INT64_MAX});
    CHECK(longest.text().ends_with("\"held_until_ns\":9223372036854775807}\n"));
}

TEST_CASE("last event: it is told once, with the time at which it is told") {
    Dead dead;
    const std::int64_t before = read_clock().boottime_ns;
    const Json told = Json::parse(dead.told());
    CHECK(told["ts_ns"].get<std::int64_t>() >= before);
    CHECK(told["ts_ns"].get<std::int64_t>() <= read_clock().boottime_ns);
    CHECK(told["epoch"] == 41);
    CHECK(told["node"] == node);
    CHECK(told["held_until_ns"] == 500);
    const std::string once = content(dead.path);
    dead.told();
    CHECK(content(dead.path) == once);
}

TEST_CASE("last event: it was held as long as somebody was told so, and no longer than its lease") {
    Dead dead;
    dead.pulse.say(650);
    CHECK(Json::parse(dead.told())["held_until_ns"] == 650);
    Dead late;
    late.pulse.say(901);
    CHECK(Json::parse(late.told())["held_until_ns"] == 900);
    Dead early;
    early.pulse.say(40);  // of an earlier one
    CHECK(Json::parse(early.told())["held_until_ns"] == 500);
}

TEST_CASE("last event: a leadership that was not told has no end, and one that is over no second") {
    Dead dead;
    dead.pulse.recorded.store(0);
    CHECK(dead.told().empty());
}

TEST_CASE("last event: a process that has nowhere to tell it leaves it to another") {
    Dead dead;
    tell_last_event(dead.pulse, "", node, false);
    CHECK_FALSE(dead.told().empty());
    Dead gone;
    gone.path = gone.directory / "no/such/file";
    tell_last_event(gone.pulse, gone.path.c_str(), node, false);
}

TEST_CASE("last event: a file that has been moved away is made anew") {
    Dead dead;
    std::filesystem::rename(dead.path, dead.directory / "events.1");
    tell_last_event(dead.pulse, dead.path.c_str(), node, false);
    CHECK(Json::parse(content(dead.path))["event"] == "deposed");
}

TEST_CASE("last event: a line that the node did not finish does not swallow it") {
    Dead dead;
    dead.add(R"({"ts_ns":17,"ti)");
    const std::string told = dead.told();
    REQUIRE(told.front() == '\n');
    CHECK(Json::parse(told)["epoch"] == 41);
}

TEST_CASE("last event: an end that the node was about to write is told if it was not written") {
    const std::string own =
        R"({"ts_ns":1,"time":"x","node":7,"event":"deposed","epoch":41,"reason":"resigned",)"
        R"("held_until_ns":1})";
    for (const std::string& before : {std::string(), std::string("{\"node\":7}\n")}) {
        Dead dead;
        dead.pulse.recording_end.store(41);
        dead.add(before + own + "\n");
        CHECK(dead.told().empty());
    }
    for (const std::size_t written : {std::size_t{0}, std::size_t{40}, own.size() - 1}) {
        Dead dead;
        dead.pulse.recording_end.store(41);
        dead.add(own.substr(0, written));
        CHECK(Json::parse(dead.told())["reason"] == "died");
    }
    // That of an earlier leadership is another one.
    Dead dead;
    dead.pulse.recording_end.store(40);
    dead.add("{\"node\":7,\"event\":\"deposed\",\"epoch\":40,}\n");
    CHECK_FALSE(dead.told().empty());
}

TEST_CASE("last event: a leadership that had ended was held until then, whatever came later") {
    Dead dead;
    dead.pulse.end(41, 450);
    dead.pulse.others_work.store(1);
    CHECK(Json::parse(dead.told(false, 700))["held_until_ns"] == 450);
    Dead next;
    next.pulse.end(40, 450);
    CHECK(Json::parse(next.told())["held_until_ns"] == 500);
}

TEST_CASE("last event: it held until the last that acted, and never after its lease") {
    const auto held = [](std::int64_t acted_ns, bool others) {
        Dead dead;
        dead.pulse.others_work.store(others ? 1 : 0);
        return Json::parse(dead.told(true, acted_ns))["held_until_ns"].get<std::int64_t>();
    };
    CHECK(held(0, false) == 500);
    CHECK(held(499, false) == 500);
    CHECK(held(700, false) == 700);
    CHECK(held(901, false) == 900);
    CHECK(held(0, true) == 900);
}

// N2.4
TEST_CASE("last event: it waits for the end of a process that ends with the node") {
    Dead dead;
    const std::int64_t now = read_clock().boottime_ns;
    dead.pulse.lease_end_ns = now + 20'000'000'000;
    dead.pulse.client_until_ns = now + 10'000'000'000;
    std::thread undertaker([&] {
        dead.pulse.client_ended_ns = now;
        dead.pulse.client_until_ns = 0;
    });
    CHECK(Json::parse(dead.told())["held_until_ns"] == now);
    undertaker.join();
    // Its lease is over, and nobody has seen its end.
    Dead unseen;
    unseen.pulse.client_until_ns = 600;
    CHECK(Json::parse(unseen.told())["held_until_ns"] == 900);
}

TEST_CASE("background writer: marks are set right before a line, and after it if it is written") {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "events";
    std::atomic<std::uint64_t> told{0};
    std::atomic<std::uint64_t> telling{0};
    {
        BackgroundWriter writer;
        const auto stream = writer.open(path, "events file");
        REQUIRE(stream);
        writer.write(*stream, "elected\n", {{}, {&told, 41}});
    }
    CHECK(told == 41);
    {
        BackgroundWriter writer;
        const auto stream = writer.open(path, "events file");
        REQUIRE(stream);
        writer.write(*stream, "deposed\n", {{&telling, 41}, {&told, 0}});
    }
    CHECK(told == 0);
    CHECK(telling == 41);
    {
        BackgroundWriter writer;
        const auto stream = writer.open("/dev/full", "events file");
        REQUIRE(stream);
        writer.write(*stream, "elected\n", {{&telling, 42}, {&told, 42}});
    }
    CHECK(told == 0);
    CHECK(telling == 42);
}

TEST_CASE("background writer: what a process left of a line is ended before the next one") {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "events";
    std::ofstream(path) << "torn";
    for (int times = 0; times < 2; ++times) {
        BackgroundWriter writer;
        const auto stream = writer.open(path, "events file");
        REQUIRE(stream);
        writer.write(*stream, "whole\n");
    }
    CHECK(content(path) == "torn\nwhole\nwhole\n");
}

}  // namespace bullring::last_event_test
