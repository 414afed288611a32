// `watch`: which states become lines.
#include "src/node/observers/watch_sequence.hpp"

#include <optional>

#include <doctest/doctest.h>

namespace bullring::watch_sequence_test {
namespace {

using protocol::seconds;

ObserverChange state(std::int64_t ts_ns, std::uint64_t leader, std::uint64_t epoch,
                     const char* advertised = "") {
    return {ts_ns, {leader}, {epoch}, advertised};
}

constexpr std::optional<ObserverChange> nothing;

}  // namespace

TEST_CASE("watch: the first state is a line, the same again is none") {
    WatchSequence sequence;
    CHECK(sequence.on_state(state(10, 3, 7, "db"), seconds(0)) == state(10, 3, 7, "db"));
    CHECK(sequence.on_state(state(20, 3, 7, "db"), seconds(1)) == nothing);
    sequence.on_switch();
    CHECK(sequence.on_state(state(30, 3, 7, "db"), seconds(2)) == nothing);
}

TEST_CASE("watch: the loss of a leader is a line with that leader's epoch") {
    WatchSequence sequence;
    sequence.on_state(state(10, 3, 7, "db"), seconds(0));
    // The node has seen epoch 9, which nobody has won; the next leader may have 8.
    CHECK(sequence.on_state(state(20, 0, 9, "stale"), seconds(1)) == state(20, 0, 7));
    CHECK(sequence.on_state(state(25, 0, 10), seconds(1)) == nothing);
    CHECK(sequence.on_state(state(30, 2, 8), seconds(2)) == state(30, 2, 8));
}

TEST_CASE("watch: no leader at the start is a line without an epoch") {
    WatchSequence sequence;
    CHECK(sequence.on_state(state(10, 0, 5), seconds(0)) == state(10, 0, 0));
    CHECK(sequence.on_state(state(20, 1, 1), seconds(1)) == state(20, 1, 1));
}

TEST_CASE("watch: the same leader found again is a line, and so is another advertised string") {
    WatchSequence sequence;
    sequence.on_state(state(10, 3, 7, "a"), seconds(0));
    sequence.on_state(state(20, 0, 7), seconds(1));
    CHECK(sequence.on_state(state(30, 3, 7, "a"), seconds(2)) == state(30, 3, 7, "a"));
    CHECK(sequence.on_state(state(40, 3, 7, "b"), seconds(3)) == state(40, 3, 7, "b"));
}

TEST_CASE("watch: a member that lags behind the one before is waited for") {
    WatchSequence sequence;
    sequence.on_state(state(10, 3, 7), seconds(0));
    sequence.on_switch();
    CHECK(sequence.on_state(state(20, 2, 6), seconds(1)) == nothing);
    CHECK(sequence.on_state(state(30, 0, 6), seconds(2)) == nothing);
    CHECK(sequence.on_state(state(40, 3, 7), seconds(3)) == nothing);
    CHECK(sequence.on_state(state(50, 1, 8), seconds(4)) == state(50, 1, 8));
}

TEST_CASE("watch: what is older for longer than any lease lasts is the truth") {
    WatchSequence sequence;
    sequence.on_state(state(10, 3, 7), seconds(0));
    sequence.on_switch();
    CHECK(sequence.on_state(state(20, 2, 1), seconds(1)) == nothing);
    CHECK(sequence.on_state(state(30, 2, 1), seconds(12)) == nothing);
    CHECK(sequence.on_state(state(40, 2, 1), seconds(13)) == state(40, 2, 1));
    CHECK(sequence.on_state(state(50, 1, 2), seconds(14)) == state(50, 1, 2));
}

TEST_CASE("watch: the patience with a member that lags begins anew with each member") {
    WatchSequence sequence;
    sequence.on_state(state(10, 3, 7), seconds(0));
    sequence.on_switch();
    CHECK(sequence.on_state(state(20, 2, 6), seconds(1)) == nothing);
    sequence.on_switch();
    CHECK(sequence.on_state(state(30, 2, 6), seconds(13)) == nothing);
}

TEST_CASE("watch: that nobody can be reached is said once, with the epoch known last") {
    WatchSequence sequence;
    sequence.on_state(state(10, 3, 7), seconds(0));
    CHECK(sequence.on_nobody_reachable(20) == state(20, 0, 7));
    CHECK(sequence.on_nobody_reachable(30) == nothing);
    CHECK(sequence.on_state(state(40, 3, 7), seconds(5)) == state(40, 3, 7));
}

TEST_CASE(
    "watch: how long nobody led is told of a change that was seen, and not of the first line") {
    WatchSequence sequence;
    ObserverChange led = state(10, 3, 7);
    led.gap = protocol::seconds(2);
    CHECK(sequence.on_state(led, seconds(1)) == state(10, 3, 7));
    led.epoch = {8};
    CHECK(sequence.on_state(led, seconds(2)) == led);
}

TEST_CASE("watch: a line is JSON with null for no leader") {
    CHECK(watch_line(state(10, 3, 7, "a\"b")) ==
          R"({"ts_ns":10,"leader":3,"epoch":7,"advertised":"a\"b"})");
    CHECK(watch_line(state(10, 0, 7)) == R"({"ts_ns":10,"leader":null,"epoch":7,"advertised":""})");
}

TEST_CASE("watch: on a terminal a line has the time of day, and how long there was no leader") {
    const auto now = WallClockTime(std::chrono::milliseconds(5));
    const auto text = [&](const ObserverChange& change, std::int64_t gap_us = 0) {
        ObserverChange told = change;
        told.gap = protocol::microseconds(gap_us);
        const std::string line = watch_text(told, now);
        // The date is that of the place.
        CHECK(line.find(":00:00.005 ") != std::string::npos);
        return line.substr(line.find("  ") + 2);
    };
    CHECK(text(state(10, 3, 7)) == "node 3 leads in epoch 7");
    CHECK(text(state(10, 3, 7, "a\nb")) == "node 3 leads in epoch 7, \"a\\x0ab\"");
    CHECK(text(state(10, 3, 7), 466) == "node 3 leads in epoch 7, after 466us without a leader");
    CHECK(text(state(10, 0, 7)) == "no leader; the last epoch is 7");
    CHECK(text(state(10, 0, 0)) == "no leader");
}

}  // namespace bullring::watch_sequence_test
