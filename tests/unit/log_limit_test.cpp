#include "src/base/log/log_limit.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::log_limit_test {

namespace {

const LogLimit::Time start{std::chrono::hours(1)};

LogSource stranger(int number) { return {"10.0.0." + std::to_string(number), false}; }
LogSource member(int number) { return {std::to_string(number), true}; }

}  // namespace

TEST_CASE("log limit: one line in ten seconds for each kind and source, and a count of the rest") {
    LogLimit limit;
    CHECK(limit.admit("a", member(1), start) == 0);
    CHECK_FALSE(limit.admit("a", member(1), start + LogLimit::every / 2).has_value());
    CHECK_FALSE(limit.admit("a", member(1), start + LogLimit::every / 2).has_value());
    CHECK(limit.admit("b", member(1), start) == 0);
    CHECK(limit.admit("a", member(2), start) == 0);
    CHECK(limit.admit("a", stranger(1), start) == 0);
    CHECK(limit.admit("a", member(1), start + LogLimit::every) == 2);
    CHECK_FALSE(limit.admit("a", member(1), start + 2 * LogLimit::every).has_value());
}

TEST_CASE("log limit: what goes on is said at a falling rate, and at once again after a rest") {
    LogLimit limit;
    std::vector<long> said;
    const auto at = [](int seconds) { return start + std::chrono::seconds(seconds); };
    for (int second = 0; second <= 600; ++second)
        if (limit.admit("a", member(1), at(second))) said.push_back(second);
    CHECK(said == std::vector<long>{0, 10, 30, 70, 150, 270, 390, 510});
    CHECK(limit.admit("a", member(1), at(510 + 240)) == 90);
    CHECK(limit.admit("a", member(1), at(510 + 250)) == 0);
}

TEST_CASE("log limit: strangers from any number of addresses get a bounded number of lines") {
    LogLimit limit;
    std::size_t lines = 0;
    for (int i = 0; i < 100'000; ++i) lines += limit.admit("a", stranger(i), start).has_value();
    CHECK(lines == LogLimit::strangers_max + 1);
    // Those that have fallen silent make room for others.
    CHECK(limit.admit("a", stranger(-1), start + LogLimit::every) == 0);
}

TEST_CASE("log limit: strangers take no room of members, nor one kind that of another") {
    LogLimit limit;
    for (int i = 0; i < 1000; ++i) limit.admit("a", stranger(i), start);
    for (int i = 1; i < static_cast<int>(LogLimit::members_max); ++i) {
        CHECK(limit.admit("a", member(i), start) == 0);
    }
    CHECK(limit.admit("b", stranger(999), start) == 0);
}

TEST_CASE("log limit: kinds without end share one line") {
    LogLimit limit;
    std::size_t lines = 0;
    for (int i = 0; i < 10'000; ++i) {
        lines += limit.admit("kind " + std::to_string(i), {}, start).has_value();
    }
    CHECK(lines == LogLimit::kinds_max + 1);
}

}  // namespace bullring::log_limit_test
