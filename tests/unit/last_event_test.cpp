// The last line of a leader that has died without a word.
#include "src/report/last_event.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "src/os/clock.hpp"
#include "src/report/background_writer.hpp"
#include "src/report/events_file.hpp"
#include "src/report/json.hpp"
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
        pulse.told.store(41);
        pulse.last_step_ns.store(500);
        pulse.lease_end_ns.store(900);
    }
    /// What has been added.
    std::string told(bool hung = false, std::int64_t acted_ns = 0) {
        tell_last_event(pulse, path.c_str(), node, hung, acted_ns);
        return content(path).substr(std::string("before\n").size());
    }
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

TEST_CASE("last event: a leadership that was not told has no end, and one that is over no second") {
    Dead dead;
    dead.pulse.told.store(0);
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

TEST_CASE("last event: a leadership that was given up ended then, though it was not told yet") {
    Dead dead;
    dead.pulse.last_step_ns.store(600);
    dead.pulse.give_up_lease();
    dead.pulse.last_step_ns.store(800);
    CHECK(Json::parse(dead.told())["held_until_ns"] == 600);
    Dead late;  // its lease was over when it gave it up
    late.pulse.last_step_ns.store(1000);
    late.pulse.give_up_lease();
    CHECK(Json::parse(late.told())["held_until_ns"] == 900);
}

TEST_CASE("background writer: a mark stands when its line is written, or right before") {
    const test::TemporaryDirectory directory;
    const std::string path = directory / "events";
    std::atomic<std::uint64_t> told{0};
    {
        BackgroundWriter writer;
        const auto stream = writer.open(path, "events file");
        REQUIRE(stream);
        writer.write(*stream, "elected\n", {&told, 41, false});
    }
    CHECK(told == 41);
    {
        BackgroundWriter writer;
        const auto stream = writer.open(path, "events file");
        REQUIRE(stream);
        writer.write(*stream, "deposed\n", {&told, 0, true});
    }
    CHECK(told == 0);
    {
        BackgroundWriter writer;
        const auto stream = writer.open("/dev/full", "events file");
        REQUIRE(stream);
        writer.write(*stream, "elected\n", {&told, 42, false});
    }
    CHECK(told == 0);
}

}  // namespace bullring::last_event_test
