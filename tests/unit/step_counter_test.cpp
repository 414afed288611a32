#include "src/node/metrics/step_counter.hpp"

#include <map>

#include <doctest/doctest.h>

namespace bullring::step_counter_test {
namespace {

using protocol::Action;
using protocol::Event;
using protocol::Instant;
using protocol::LeaderChanged;
using protocol::milliseconds;

constexpr Instant start{1'000'000'000, 2'000'000'000};

struct Counted {
    NodeCounts counts;
    LeaderLog log{start};
    StepCounter counter{{3}, start, counts};

    void at(std::int64_t ms, std::vector<Action> actions, const Event& event = protocol::Wake{}) {
        counter.add(event, actions, log.add(start + milliseconds(ms), event, actions));
    }
    static std::map<std::string, std::uint64_t> all(const NamedCounts& counts) {
        std::map<std::string, std::uint64_t> result;
        counts.each([&](const char* name, std::uint64_t count) {
            if (count != 0) result[name] = count;
        });
        return result;
    }
    std::map<std::string, std::uint64_t> changes() const { return all(counts.leader_changes); }
    std::map<std::string, std::uint64_t> elections() const { return all(counts.elections); }
    std::uint64_t failovers() const {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i <= counts.failovers.bounds().size(); ++i)
            sum += counts.failovers.count(i);
        return sum;
    }
};

Action follows(std::uint64_t id) { return LeaderChanged{{id}, {7}, ""}; }
const Action lost = LeaderChanged{{}, {7}, ""};
LeaderChanged change(std::uint64_t id, std::int64_t unled_since_ms, std::uint64_t epoch = 7) {
    return {{id}, {epoch}, "", false, start + milliseconds(unled_since_ms)};
}

TEST_CASE("metrics: the first leader is no failover, the next one after a loss is") {
    Counted one;
    one.at(40, {follows(2)});
    CHECK(one.failovers() == 0);
    CHECK(one.counts.leaderless_ns.value() == 40'000'000);
    CHECK(one.counts.leaderless_since_ns.load() == 0);
    one.at(100, {protocol::PeerDown{{2}, protocol::PeerDownReason::eof}, change(0, 100)});
    CHECK(one.counts.leaderless_since_ns.load() == (start + milliseconds(100)).boottime_ns);
    one.at(103, {change(1, 100)});
    CHECK(one.failovers() == 1);
    CHECK(one.counts.failovers.sum_ns() == 3'000'000);
    CHECK(one.counts.leaderless_ns.value() == 43'000'000);
    CHECK(one.changes() == std::map<std::string, std::uint64_t>{{"first", 1}, {"died", 1}});
}

TEST_CASE("metrics: a failover lasts from the last sign of life") {
    Counted one;
    one.at(0, {follows(2)});
    SUBCASE("the loss was seen") {
        one.at(2'000, {protocol::PeerDown{{2}, protocol::PeerDownReason::timeout}, change(0, 100)});
        CHECK(one.counts.leaderless_since_ns.load() == (start + milliseconds(100)).boottime_ns);
    }
    SUBCASE("the next leader was there first") {}
    one.at(2'001, {change(1, 100)});
    CHECK(one.failovers() == 1);
    CHECK(one.counts.failovers.sum_ns() == 1'901'000'000);
    CHECK(one.counts.leaderless_ns.value() == 1'901'000'000);
    one.at(3'000, {change(3, 3'000, 8)});  // with no time between
    CHECK(one.failovers() == 1);
}

TEST_CASE("metrics: time without a leader counts once, whoever was found meanwhile") {
    Counted one;
    one.at(0, {follows(2)});
    one.at(10, {change(0, 10)});
    one.at(12, {change(2, 10)});  // somebody had not heard of its end
    one.at(15, {change(1, 10, 8)});
    CHECK(one.counts.leaderless_ns.value() == 5'000'000);
    CHECK(one.failovers() == 1);
    CHECK(one.counts.failovers.sum_ns() == 5'000'000);
}

TEST_CASE("metrics: a leader that comes into sight again has led on, and nothing has changed") {
    Counted one;
    one.at(0, {follows(2)});
    one.at(10, {protocol::PeerDown{{2}, protocol::PeerDownReason::timeout}, change(0, 8)});
    one.at(20, {change(2, 8)});
    CHECK(one.changes() == std::map<std::string, std::uint64_t>{{"first", 1}});
    CHECK(one.failovers() == 0);
    CHECK(one.counts.leaderless_ns.value() == 12'000'000);
    one.at(30, {change(2, 30, 8)});  // it was elected again
    CHECK(one.changes() == std::map<std::string, std::uint64_t>{{"first", 1}, {"replaced", 1}});
}

TEST_CASE("metrics: whatever can be counted is there from the start, at 0") {
    NodeCounts counts;
    const auto names = [](const NamedCounts& some) {
        std::size_t count = 0;
        some.each([&](const char*, std::uint64_t value) {
            CHECK(value == 0);
            ++count;
        });
        return count;
    };
    CHECK(names(counts.sent) == protocol::message_names().size());
    CHECK(names(counts.received) == protocol::message_names().size());
    CHECK(names(counts.leader_changes) == 5);
    CHECK(names(counts.elections) == 3);
}

TEST_CASE("metrics: an election is won, lost to another, or failed") {
    Counted one;
    const Action begins = protocol::ElectionStarted{{7}, ""};
    one.at(0, {begins});
    one.at(1, {begins});
    one.at(2, {protocol::Elected{{7}, {}}, follows(3)});
    CHECK(one.elections() == std::map<std::string, std::uint64_t>{{"failed", 1}, {"won", 1}});
    one.at(3, {lost, begins});
    one.at(4, {follows(2)});
    CHECK(one.elections() ==
          std::map<std::string, std::uint64_t>{{"failed", 1}, {"won", 1}, {"lost", 1}});
}

TEST_CASE("metrics: messages are counted by their names, refusals by what differs") {
    Counted one;
    one.at(0,
           {protocol::Send{{1}, protocol::Heartbeat{}}, protocol::Send{{2}, protocol::Heartbeat{}}},
           protocol::Receive{{1}, protocol::Grant{}});
    one.at(1, {protocol::HandshakeRefused{{2}, true, {"cluster", "a", "b"}, ""},
               protocol::HandshakeRefused{{2}, true, {"made up", "a", "b"}, ""},
               protocol::HandshakeRefused{{2}, false, {"cluster", "a", "b"}, ""}});
    CHECK(Counted::all(one.counts.sent) == std::map<std::string, std::uint64_t>{{"HB", 2}});
    CHECK(Counted::all(one.counts.received) == std::map<std::string, std::uint64_t>{{"GRANT", 1}});
    CHECK(Counted::all(one.counts.refused) ==
          std::map<std::string, std::uint64_t>{{"cluster", 1}, {"other", 1}});
}

TEST_CASE("metrics: a duration is counted in the range that ends with the next bound") {
    DurationCounts counts(delay_bounds);
    counts.add({0});
    counts.add(protocol::microseconds(50));
    counts.add(protocol::microseconds(51));
    counts.add(protocol::seconds(6));
    counts.add({-1});  // a clock that was read earlier
    CHECK(counts.count(0) == 3);
    CHECK(counts.count(1) == 1);
    CHECK(counts.count(delay_bounds.size()) == 1);
    CHECK(counts.sum_ns() == 6'000'101'000);
}

TEST_CASE("metrics: names beyond the last place are not counted, and harm none") {
    static const char* const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                        "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                        "s", "t", "u", "v", "w", "x", "y", "z"};
    NamedCounts counts;
    for (const char* name : names) counts.add(name);
    CHECK(Counted::all(counts).size() == NamedCounts::names_max);
}

}  // namespace
}  // namespace bullring::step_counter_test
