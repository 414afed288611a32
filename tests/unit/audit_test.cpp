// The judge of event streams: what it proves, what it refutes, and what it says it can't know.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "src/base/text/json.hpp"
#include "src/base/text/rfc3339.hpp"
#include "src/verify/audit/report.hpp"
#include "src/verify/audit/stream_reader.hpp"
#include "src/verify/audit/verdict.hpp"

namespace bullring::audit_test {

using namespace audit;
using protocol::milliseconds;

namespace {

constexpr std::int64_t ms_ns = 1'000'000;

/// The event streams of one host: ts_ns is milliseconds here, and its wall clock is `ahead_ms`
/// ahead of the others'.
struct Host {
    std::string boot;
    std::int64_t booted_ms = 0;  // by a right wall clock
    std::int64_t ahead_ms = 0;

    /// At `at_ms` of a right wall clock.
    std::string line(std::int64_t at_ms, int node, const std::string& rest) const {
        const std::int64_t wall_ms = 1'700'000'000'000 + at_ms + ahead_ms;
        return fmt::format(R"({{"ts_ns":{},"time":"{}","node":{},{}}})"
                           "\n",
                           ts(at_ms), Rfc3339(wall_ms * ms_ns).text(), node, rest);
    }
    std::int64_t ts(std::int64_t at_ms) const { return (at_ms - booted_ms) * ms_ns; }

    std::string started(std::int64_t at, int node, const char* quorum = "majority") const {
        return line(at, node,
                    fmt::format(R"("event":"started","algorithm":"bully","quorum":"{}",)"
                                R"("peers":[1,2],"version":"0.1.0","pid":7{})",
                                quorum, boot.empty() ? "" : fmt::format(R"(,"boot":"{}")", boot)));
    }
    std::string elected(std::int64_t at, int node, int epoch) const {
        return line(at, node, fmt::format(R"("event":"elected","epoch":{},"grants":[1,2])", epoch));
    }
    std::string deposed(std::int64_t at, int node, int epoch, std::int64_t until) const {
        return line(
            at, node,
            fmt::format(R"("event":"deposed","epoch":{},"reason":"died","held_until_ns":{})", epoch,
                        ts(until)));
    }
    /// A list of these members holds from now on.
    std::string members(std::int64_t at, int node, std::vector<int> ids) const {
        std::string list;
        for (const int id : ids)
            list += fmt::format(R"({}{{"id":{},"address":"","vote":true}})",
                                list.empty() ? "" : ",", id);
        return line(at, node, fmt::format(R"("event":"members","tag":"5.1","members":[{}])", list));
    }
    std::string follows(std::int64_t at, int node, int leader, int epoch) const {
        return line(at, node,
                    fmt::format(R"("event":"leader","leader":{},"epoch":{},"advertised":"")",
                                leader, epoch));
    }
};

const Host here{"boot-a", -1'000'000};
const Host there{"boot-b", -5'000'000};

struct Judged {
    History history;
    Verdict verdict;

    std::size_t gap(Gap gap) const { return verdict.gaps[static_cast<std::size_t>(gap)].count; }
    /// Of the only contradiction: "FILE:LINE FILE:LINE".
    std::string where() const {
        if (verdict.contradictions.size() != 1)
            return fmt::format("{} contradictions", verdict.contradictions.size());
        const Contradiction& one = verdict.contradictions.front();
        return history.text(one.first.place) + " " + history.text(one.second.place);
    }
};

using Files = std::vector<std::string>;

/// They are named a, b, …
Judged judged(const Files& files, protocol::Duration clock_error = milliseconds(10)) {
    Judged result;
    for (std::size_t i = 0; i < files.size(); ++i) {
        result.history.open_file(std::string(1, static_cast<char>('a' + i)));
        StreamReader reader(result.history);
        const auto wrong = reader.read(files[i]);
        CAPTURE((wrong ? wrong->what : ""));
        REQUIRE_FALSE(wrong);
        REQUIRE_FALSE(reader.end());
    }
    result.history.close();
    result.verdict = judge(result.history, clock_error);
    return result;
}

std::optional<WrongStream> wrong_in(std::string_view bytes) {
    History history;
    history.open_file("a");
    StreamReader reader(history);
    if (auto wrong = reader.read(bytes)) return wrong;
    return reader.end();
}

/// Two nodes on one host, of which the first leads from 0 to 100.
Files two(const std::string& first, const std::string& second) {
    return {here.started(-10, 1) + here.elected(0, 1, 5) + first, here.started(-10, 2) + second};
}

}  // namespace

TEST_CASE("audit: leaderships one after the other with rising epochs are proved") {
    const auto good = judged(two(here.deposed(100, 1, 5, 99), here.elected(100, 2, 6)));
    CHECK(good.verdict.proved());
    CHECK(good.verdict.leaderships.size() == 2);
    CHECK(good.verdict.open_ends == 1);
    CHECK(good.verdict.clocks == 1);
    // One that begins at the very instant at which another ends does not overlap it.
    CHECK(judged(two(here.deposed(100, 1, 5, 99), here.elected(99, 2, 6))).verdict.proved());
}

TEST_CASE("audit: on one host an overlap of a nanosecond is found, by the two lines") {
    auto files = two(here.deposed(100, 1, 5, 99), "");
    std::string late = here.elected(98, 2, 6);
    const std::string ts = std::to_string(here.ts(98));
    late.replace(late.find(ts), ts.size(), std::to_string(here.ts(99) - 1));
    files[1] += late;
    CHECK(judged(files).where() == "a:3 b:2");
    CHECK(judged(files).verdict.contradictions.front().what ==
          "epoch 5 of node 1 and epoch 6 of node 2 overlapped for 1 ns");
    // Also if the longer one spans many others.
    CHECK(judged({here.started(-10, 1) + here.elected(0, 1, 5) + here.deposed(100, 1, 5, 99) +
                      here.elected(200, 1, 8) + here.deposed(201, 1, 8, 201),
                  here.started(-10, 2) + here.elected(20, 2, 6) + here.deposed(30, 2, 6, 30)})
              .where() == "a:3 b:2");
}

TEST_CASE("audit: an epoch that falls, or is led twice, is found") {
    CHECK(judged(two(here.deposed(100, 1, 5, 99), here.elected(100, 2, 4))).where() == "a:2 b:2");
    CHECK(judged(two(here.deposed(100, 1, 5, 99), here.elected(100, 2, 5))).where() == "a:2 b:2");
    CHECK(judged(two(here.deposed(100, 1, 5, 99) + here.elected(200, 1, 5), "")).where() ==
          "a:2 a:4");
}

TEST_CASE("audit: what single lines contradict is found without any clock") {
    CHECK(judged(two(here.deposed(100, 1, 5, 99) + here.deposed(101, 1, 5, 100), "")).where() ==
          "a:3 a:4");
    CHECK(judged(two(here.deposed(100, 1, 5, -1), "")).where() == "a:2 a:3");
    CHECK(judged(two(here.follows(50, 1, 1, 5), here.follows(50, 2, 2, 5))).where() == "a:3 b:2");
    CHECK(judged(two("", here.follows(50, 2, 2, 5))).where() == "a:2 b:2");
    // A file that is read twice says nothing new.
    auto twice = two(here.deposed(100, 1, 5, 99), "");
    twice.push_back(twice[0]);
    CHECK(judged(twice).verdict.proved());
}

TEST_CASE("audit: an end that is not told is unknown, unless its process had an heir in time") {
    const auto open = judged(two("", here.elected(100, 2, 6)));
    CHECK(open.verdict.contradictions.empty());
    CHECK_FALSE(open.verdict.proved());
    CHECK(open.gap(Gap::end_unknown) == 1);
    const auto heir = judged(two(here.started(90, 1), here.elected(100, 2, 6)));
    CHECK(heir.verdict.proved());
    const auto late_heir = judged(two(here.started(110, 1), here.elected(100, 2, 6)));
    CHECK(late_heir.gap(Gap::end_unknown) == 1);
    // Its election is an instant at which it led for certain.
    CHECK(judged({here.started(-10, 1) + here.elected(0, 1, 5),
                  here.started(-10, 2) + here.elected(-5, 2, 4) + here.deposed(5, 2, 4, 5)})
              .where() == "b:3 a:2");
}

TEST_CASE("audit: the last word on a dead process may come after the start of the next one") {
    const auto late =
        judged(two(here.started(90, 1) + here.deposed(91, 1, 5, 80), here.elected(85, 2, 6)));
    CHECK(late.verdict.proved());
    CHECK(judged(two(here.started(90, 1) + here.deposed(91, 1, 5, 86), here.elected(85, 2, 6)))
              .where() == "a:4 b:2");
}

TEST_CASE("audit: what is seen of a leadership in parts is told as such") {
    const auto end_alone =
        judged({here.started(-10, 1) + here.deposed(3, 1, 5, 2), here.started(-10, 2)});
    CHECK(end_alone.gap(Gap::begin_unknown) == 1);
    const auto followed = judged(two(here.deposed(100, 1, 5, 99), here.follows(200, 2, 1, 7)));
    CHECK(followed.gap(Gap::not_elected) == 1);
    CHECK_FALSE(followed.verdict.proved());
}

TEST_CASE("audit: a member without a stream, and a cluster without a quorum, are told") {
    CHECK(judged({here.started(-10, 1)}).gap(Gap::no_stream) == 1);
    const auto none = judged({here.started(-10, 1, "none"), here.started(-10, 2)});
    CHECK(none.gap(Gap::without_quorum) == 1);
    CHECK_FALSE(none.verdict.proved());
}

TEST_CASE("audit: who becomes a member while it runs has to have a stream, too") {
    const auto grown = judged(two(here.members(10, 1, {1, 2, 3}), here.deposed(100, 1, 5, 99)));
    CHECK(grown.history.missing() == std::vector<std::uint64_t>{3});
    CHECK(grown.gap(Gap::no_stream) == 1);
}

TEST_CASE("audit: without a quorum a leader leads until it says otherwise") {
    const auto split = [&](const char* quorum) {
        return judged({here.started(-10, 1, quorum) + here.elected(0, 1, 5) +
                           here.follows(50, 1, 1, 5) + here.follows(90, 1, 1, 5),
                       here.started(-10, 2, quorum) + here.elected(70, 2, 6)});
    };
    CHECK(split("none").where() == "a:4 b:2");
    // Where there is a lease it may have run out before.
    CHECK(split("majority").where() == "0 contradictions");
    CHECK(split("majority").gap(Gap::end_unknown) == 1);
}

TEST_CASE("audit: a rotated stream goes on in the next file") {
    const auto rotated =
        judged({here.started(-10, 1) + here.elected(0, 1, 5),
                here.deposed(100, 1, 5, 99) + here.elected(300, 1, 7),
                here.started(-10, 2) + here.elected(200, 2, 6) + here.deposed(300, 2, 6, 300)});
    CHECK(rotated.verdict.proved());
    CHECK(rotated.verdict.clocks == 1);
}

TEST_CASE("audit: hosts are compared by the time of day and its error") {
    const auto on_two = [&](std::int64_t begin, protocol::Duration error, const Host& other) {
        return judged({here.started(-10, 1) + here.elected(0, 1, 5) + here.deposed(100, 1, 5, 100),
                       other.started(-10, 2) + other.elected(begin, 2, 6) +
                           other.deposed(begin + 50, 2, 6, begin + 50)},
                      error);
    };
    CHECK(on_two(111, milliseconds(10), there).verdict.proved());
    CHECK(on_two(111, milliseconds(10), there).verdict.clocks == 2);
    CHECK(on_two(89, milliseconds(10), there).where() == "a:3 b:2");
    for (const std::int64_t begin : {91, 100, 109}) {
        const auto close = on_two(begin, milliseconds(10), there);
        CHECK(close.verdict.contradictions.empty());
        CHECK(close.gap(Gap::too_close) == 1);
    }
    CHECK(on_two(101, milliseconds(0), there).verdict.proved());
    // A clock that is further off than is said contradicts, and within what is said it does not.
    const Host ahead{"boot-b", -5'000'000, -30};
    CHECK(on_two(111, milliseconds(10), ahead).where() == "a:3 b:2");
    CHECK(on_two(111, milliseconds(30), ahead).gap(Gap::too_close) == 1);
}

TEST_CASE("audit: between hosts an instant within a leadership is found, near its edge it is not") {
    const auto with_instant = [&](std::int64_t at) {
        return judged(
            {here.started(-10, 1) + here.elected(0, 1, 5) + here.deposed(100, 1, 5, 100),
             there.started(-10, 2) + there.elected(at, 2, 6) + there.deposed(at, 2, 6, at)});
    };
    CHECK(with_instant(50).where() == "a:3 b:2");
    CHECK(with_instant(5).verdict.contradictions.empty());
    CHECK(with_instant(95).gap(Gap::too_close) == 1);
}

TEST_CASE("audit: between hosts an epoch that falls is found if its time is certain") {
    const auto falling = [&](std::int64_t at) {
        return judged({here.started(-10, 1) + here.elected(0, 1, 5) + here.deposed(2, 1, 5, 2),
                       there.started(-10, 2) + there.elected(at, 2, 4)});
    };
    CHECK(falling(50).where() == "a:2 b:2");
    CHECK(falling(8).verdict.contradictions.empty());
}

TEST_CASE("audit: without a boot in the stream each process has a clock of its own") {
    const Host old{"", 0};
    const auto judgement =
        judged({old.started(-10 + 100, 1) + old.elected(100, 1, 5) + old.deposed(200, 1, 5, 199),
                old.started(100, 2) + old.elected(200, 2, 6)});
    CHECK(judgement.verdict.clocks == 2);
    CHECK(judgement.gap(Gap::no_boot) == 2);
    CHECK(judgement.gap(Gap::too_close) == 1);
}

TEST_CASE("audit: streams of two clusters are not judged as one") {
    const auto started = [](const char* peers, const char* cluster) {
        return here.line(
            -10, 1,
            fmt::format(R"("event":"started","quorum":"majority","peers":[{}]{})", peers, cluster));
    };
    const auto mixture = [](const Files& files) {
        return judged(files).history.mixture().value_or("none");
    };
    const char* const blue = R"(,"cluster":"blue")";
    const char* const red = R"(,"cluster":"red")";
    CHECK(mixture({started("1,2", blue), started("1,2", red)}) ==
          R"(a:1 is of cluster "blue", and b:1 of cluster "red")");
    CHECK(mixture({started("1,2", blue) + started("1,2", red)}) ==
          R"(a:1 is of cluster "blue", and a:2 of cluster "red")");
    CHECK(mixture({started("1,2", blue), started("2,1", blue), started("1,2", "")}) == "none");
    // Two of one name bear different ids, which may be known from the start or later.
    const auto with_id = [&](const char* id) {
        return started("1,2", fmt::format(R"({},"cluster_id":{})", blue, id).c_str());
    };
    const auto learns = [](const char* id) {
        return here.line(0, 1, fmt::format(R"("event":"cluster","cluster_id":"{}")", id));
    };
    const std::string unknown = with_id("null");
    CHECK(mixture({with_id(R"("03d1")"), unknown + learns("5f0c")}) ==
          R"(a:1 is of the cluster with the id "03d1", and b:2 of the cluster with the id "5f0c")");
    CHECK(mixture({with_id(R"("5f0c")"), unknown + learns("5f0c"), unknown}) == "none");
    // Where the names do not tell them apart, the members may.
    for (const char* name : {"", blue})
        CHECK(mixture({started("1,2", name), started("4,3", name)}) ==
              "a:1 names the members 1,2, and b:1 the members 3,4");
    // Members can be replaced, between two runs of the cluster.
    CHECK(mixture({started("1,2", ""), started("3,4", ""), started("2,3", "")}) == "none");
    CHECK(mixture({here.elected(0, 1, 5)}) == "none");
    // Or while it runs.
    CHECK(mixture({started("1,2", "") + here.members(0, 1, {2, 3}), started("3,4", "")}) == "none");
}

TEST_CASE("audit: a line that its writer did not finish is told, and hides no other") {
    const std::string torn = here.elected(300, 1, 7).substr(0, 60);
    for (const std::string& rest : {torn, torn + "\n", torn + "\n" + here.started(400, 1),
                                    torn + here.started(400, 1), std::string("{\"ts_n\n")}) {
        CAPTURE(rest);
        const auto judgement =
            judged(two(here.deposed(100, 1, 5, 99) + rest, here.elected(100, 2, 6)));
        CHECK(judgement.gap(Gap::torn_line) == 1);
        CHECK(judgement.verdict.leaderships.size() == 2);
        CHECK(judgement.history.runs().size() ==
              (rest.find("started") == std::string::npos ? 2U : 3U));
    }
    CHECK(judged(two("\n\n" + here.deposed(100, 1, 5, 99), "")).verdict.proved());
}

TEST_CASE("audit: events that a stream says to have lost are a gap, with their count") {
    const std::string lost = here.line(200, 1, R"("event":"lost","count":12)");
    const auto judgement = judged(two(here.deposed(100, 1, 5, 99) + lost, ""));
    CHECK(judgement.verdict.contradictions.empty());
    CHECK(judgement.gap(Gap::lost_events) == 1);
    CHECK_FALSE(judgement.verdict.proved());
}

TEST_CASE("audit: what was asked is told in the order of time, and how much has no line") {
    const auto asked = [](std::int64_t at, int node, const char* answer, const char* why,
                          int left) {
        return here.line(at, node,
                         fmt::format(R"("event":"asked","what":"resign","by":"node 3",)"
                                     R"("credential":"key 7f","from":"10.0.0.3:9","answer":"{}",)"
                                     R"("why":"{}","left_out":{})",
                                     answer, why, left));
    };
    const auto judgement =
        judged(two(asked(300, 1, "refused", "not for it", 4),
                   asked(200, 2, "done", "", 0) +
                       here.line(250, 2, R"("event":"stopped","reason":"SIGTERM")")));
    std::string text = judgement.history.actions().text();
    for (const char* line :
         {"node 2  resign: done, asked for by node 3, by key 7f, at 10.0.0.3:9\n",
          "node 2  stopped: SIGTERM\n",
          "node 1  resign: refused, asked for by node 3, by key 7f, at "
          "10.0.0.3:9: not for it (4 like it before have no line)\n"}) {
        const std::size_t found = text.find(line);
        REQUIRE(found != std::string::npos);
        text.erase(0, text.find('\n', found) + 1);
    }
    CHECK(text.empty());
}

TEST_CASE("audit: the pieces in which a file is read make no difference") {
    const std::string text = here.started(-10, 1) + here.elected(0, 1, 5);
    for (std::size_t size = 1; size < text.size(); size += 7) {
        History history;
        history.open_file("a");
        StreamReader reader(history);
        for (std::size_t i = 0; i < text.size(); i += size)
            REQUIRE_FALSE(reader.read(std::string_view(text).substr(i, size)));
        REQUIRE_FALSE(reader.end());
        CHECK(history.lines() == 2);
    }
}

TEST_CASE("audit: what is not an event stream is refused, by the line") {
    const std::string good = here.started(-10, 1);
    const auto line_of = [&](const std::string& bad) {
        const auto wrong = wrong_in(good + bad + "\n" + good);
        return wrong ? fmt::format("{}: {}", wrong->line, wrong->what) : std::string("none");
    };
    CHECK(line_of("hello") == "2: it is no JSON object");
    CHECK(line_of("[1]") == "2: it is no JSON object");
    CHECK(line_of("{}") == "2: it has no ts_ns");
    CHECK(line_of(R"({"ts_ns":"1"})") == "2: its ts_ns is no whole number");
    CHECK(line_of(R"({"ts_ns":-1})") == "2: its ts_ns is no whole number");
    CHECK(line_of(R"({"ts_ns":9999999999999999999})") == "2: its ts_ns is too large");
    CHECK(line_of(R"({"ts_ns":1,"time":"yesterday"})") == "2: its time is not RFC 3339");
    const std::string head = R"({"ts_ns":1,"time":"2026-01-01T00:00:00Z","node":1,"event":)";
    CHECK(line_of(head + R"("elected"})") == "2: it has no epoch");
    CHECK(line_of(head + R"("deposed","epoch":1,"reason":"died"})") ==
          "2: it has no held_until_ns");
    CHECK(line_of(head + R"("started","quorum":"some","peers":[]})") ==
          "2: its quorum is neither majority nor none");
    CHECK(line_of(head + R"("started","quorum":"none","peers":["a"]})") ==
          "2: its peers are no list of IDs");
    CHECK(line_of(head + R"("members","tag":"1.1","members":{}})") == "2: its members are no list");
    CHECK(line_of(head + R"("members","tag":"1.1","members":[{"address":""}]})") ==
          "2: it has no id");
    CHECK(line_of(head + R"("something of a later version"})") == "none");
    CHECK(wrong_in(std::string(100'000, 'x'))->line == 1);
}

TEST_CASE("audit: a time is read as RFC 3339 has it") {
    CHECK(parse_time("1970-01-01T00:00:01.000001Z") == 1'000'001'000);
    CHECK(parse_time("1970-01-01T01:00:00+01:00") == 0);
    CHECK(parse_time("1970-01-02t00:00:00z") == 86'400'000'000'000);
    for (const char* wrong :
         {"", "1970-01-01", "1970-02-30T00:00:00Z", "1970-01-01T00:00:00", "1970-01-01T24:00:00Z",
          "1970-01-01T00:00:00+1", "x970-01-01T00:00:00Z", "1970-01-01T00:00:00Zx"})
        CHECK_FALSE(parse_time(wrong));
    const std::int64_t ns = 1'793'491'200'123'456'000;
    CHECK(parse_time(Rfc3339(ns).text()) == ns);
}

TEST_CASE("audit: the report quotes both lines, and says what was not seen") {
    const auto bad = judged(two(here.deposed(100, 1, 5, 99), here.elected(98, 2, 6)));
    const std::string text = to_text(bad.history, bad.verdict);
    CHECK(text.find("CONTRADICTION: epoch 5 of node 1 and epoch 6 of node 2 overlapped") !=
          std::string::npos);
    CHECK(text.find("\n  a:3: {\"ts_ns\"") != std::string::npos);
    CHECK(text.find("\n  b:2: {\"ts_ns\"") != std::string::npos);
    CHECK(text.find("No two") == std::string::npos);
    const auto unsure = judged(two("", here.elected(100, 2, 6)));
    CHECK(to_text(unsure.history, unsure.verdict).find("do not prove it:\n  a:2: the end of") !=
          std::string::npos);
    const auto idle = judged({here.started(-10, 1), here.started(-10, 2)});
    CHECK(to_text(idle.history, idle.verdict).find("Nobody led") != std::string::npos);
}

TEST_CASE("audit: a line is quoted without what a terminal would obey") {
    const auto follows = [](int node, int leader) {
        return here.line(50, node,
                         fmt::format(R"("event":"leader","leader":{},"epoch":5,)"
                                     "\"advertised\":\"\xC2\x9B\x32J\"",
                                     leader));
    };
    const auto bad = judged(two(follows(1, 1), follows(2, 2)));
    const std::string text = to_text(bad.history, bad.verdict);
    CHECK(text.find("\xC2\x9B") == std::string::npos);
    CHECK(text.find("\\xc2") != std::string::npos);
}

TEST_CASE("audit: clocks are counted alike in both forms, also where nobody led on one") {
    const auto told = [](const Files& files) {
        const auto seen = judged(files);
        const std::string text = to_text(seen.history, seen.verdict);
        const std::size_t comma = text.rfind(", ", text.find('\n'));
        return fmt::format("{} {}",
                           Json::parse(to_json(seen.history, seen.verdict))["clocks"].dump(),
                           text.substr(comma + 2, text.find('\n') - comma - 2));
    };
    CHECK(told({here.started(-10, 1), here.started(-10, 2)}) == "1 1 clock.");
    CHECK(told({here.started(-10, 1), there.started(-10, 2)}) == "2 2 clocks.");
    CHECK(told({here.follows(0, 1, 2, 5)}) == "1 1 clock.");
    CHECK(told({here.started(-10, 1) + here.elected(0, 1, 5), there.started(-10, 2)}) ==
          "2 2 clocks.");
    // The time that is covered is then that of day: the two count from different boots.
    const auto apart =
        judged({here.started(-10, 1) + here.elected(0, 1, 5), there.started(1990, 2)});
    CHECK(Json::parse(to_json(apart.history, apart.verdict))["seconds"] == 2.0);
}

TEST_CASE("audit: the JSON has all leaderships, with what is not known as null") {
    const auto open = judged(two("", here.elected(100, 2, 6)));
    const Json json = Json::parse(to_json(open.history, open.verdict));
    CHECK(json["proved"] == false);
    CHECK(json["leaderships"].size() == 2);
    CHECK(json["leaderships"][0]["epoch"] == 5);
    CHECK(json["leaderships"][0]["held_until_ns"].is_null());
    CHECK(json["gaps"][0]["kind"] == "end_unknown");
    CHECK(json["contradictions"].empty());
    const auto bad = judged(two(here.deposed(100, 1, 5, 99), here.elected(98, 2, 6)));
    const Json told = Json::parse(to_json(bad.history, bad.verdict));
    CHECK(told["contradictions"][0]["lines"][0]["at"] == "a:3");
}

}  // namespace bullring::audit_test
