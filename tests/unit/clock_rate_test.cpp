// Tests what is measured of the rate of the machine's clocks, and what is said of it.
#include "src/base/os/clock_rate.hpp"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>
#include <doctest/doctest.h>

#include "src/base/log/logging.hpp"
#include "src/node/clock_watch.hpp"

namespace bullring::clock_rate_test {

TEST_SUITE_BEGIN("realtime");

TEST_CASE("clock rate: it is by how much the corrected clock gains on the raw one") {
    const ClockPair begin{7'000'000, 5'000'000, 100};
    CHECK(correction_ppm(begin, {1'007'000'000, 1'005'000'000, 100}) == doctest::Approx(0));
    CHECK(correction_ppm(begin, {1'007'500'000, 1'005'000'000, 100}) == doctest::Approx(500));
    CHECK(correction_ppm(begin, {924'000'000, 1'005'000'000, 100}) == doctest::Approx(-83'000));
}

TEST_CASE("clock rate: readings between which the process stood still tell nothing") {
    const ClockPair begin{0, 0, 100};
    CHECK_FALSE(correction_ppm(begin, {1'000'000'000, 1'000'000'000, 1'000'000}));
    CHECK_FALSE(correction_ppm(begin, begin));
}

TEST_CASE("clock rate: this machine's own clocks are read close to each other") {
    const ClockPair first = read_clock_pair();
    const ClockPair second = read_clock_pair();
    CHECK(first.corrected_ns < second.corrected_ns);
    CHECK(first.raw_ns < second.raw_ns);
    CHECK(first.apart_ns >= 0);
}

TEST_CASE("clock watch: beyond the bound there is one warning, and a line at the return") {
    std::vector<std::pair<LogLevel, std::string>> lines;
    start_logging_to(LogLevel::info, [&](LogLevel level, std::string_view line) {
        lines.emplace_back(level, line);
    });
    asio::io_context io;
    std::atomic<double> shown{0};
    ClockWatch watch(io, 1000, &shown);
    for (const double ppm : {12.0, -999.0, 1001.0, 83'333.0, -83'333.0, 10.0, 11.0}) {
        watch.note(ppm);
        CHECK(shown.load() == ppm);
    }
    stop_logging();
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].first == LogLevel::warn);
    CHECK(lines[0].second.find("by 1001.0 ppm, more than the 1000 ppm") != std::string::npos);
    CHECK(lines[1].first == LogLevel::info);
    CHECK(lines[1].second.find("by 10.0 ppm now") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace bullring::clock_rate_test
