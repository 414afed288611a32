// Tests the meaning of a trace: which node lived and led when, which messages were lost, and which
// make up an election.
#include <algorithm>

#include <doctest/doctest.h>

#include "protocol/diagram/episodes.hpp"
#include "protocol/diagram/model.hpp"
#include "sim/diagram/trace_reader.hpp"
#include "tests/support/trace_lines.hpp"

namespace bullring::sim::diagram::diagram_model_test {
namespace {

constexpr std::int64_t us = 1'000;

Model model_of(const test::TraceLines& lines) {
    TraceReader reader;
    reader.add_file(lines.text(), "a.trace");
    return make_model(reader.take());
}

std::size_t count(const Model& model, Look look) {
    return static_cast<std::size_t>(
        std::count_if(model.arrows.begin(), model.arrows.end(),
                      [&](const Arrow& arrow) { return arrow.look == look; }));
}

const Arrow& first(const Model& model, Look look) {
    const auto found = std::find_if(model.arrows.begin(), model.arrows.end(),
                                    [&](const Arrow& arrow) { return arrow.look == look; });
    REQUIRE(found != model.arrows.end());
    return *found;
}

}  // namespace

TEST_CASE("diagram model: a failover is told from its cause to the last who learns of it") {
    const Model model = model_of(test::failover());
    REQUIRE(model.lanes.size() == 3);
    const std::vector<Episode> episodes = find_episodes(model);
    REQUIRE(episodes.size() == 2);
    const Episode& first_election = episodes[0];
    CHECK(!first_election.replaces);
    const Episode& episode = episodes[1];
    CHECK(episode.replaces);
    CHECK(episode.why == "node 3 dies");
    CHECK(episode.cause == 100'000 * us);
    CHECK(episode.lost == 100'000 * us);
    CHECK(episode.begin == 100'300 * us);
    CHECK(episode.end == 101'000 * us);
    CHECK(episode.settled == 101'400 * us);
    CHECK(episode.winner == Place{1});
    CHECK(headline(model, episodes, {0, model.end}) ==
          "the first election: node 3 leads (and 1 more)");
    CHECK(headline(model, episodes, choose_window(model, episodes)) ==
          "node 3 dies, node 2 leads 1 ms later");
}

TEST_CASE("diagram model: a lease lasts until its end or its holder's, the rest is a ghost") {
    const Model model = model_of(test::failover());
    REQUIRE(model.lanes[2].leases.size() == 1);
    const LeaseBar& dead = model.lanes[2].leases[0];
    CHECK(dead.from == 1000 * us);
    CHECK(dead.to == 100'000 * us);
    CHECK(dead.until == 500'000 * us);
    REQUIRE(model.lanes[1].leases.size() == 1);
    CHECK(model.lanes[1].leases[0].to == model.end);
    CHECK(model.state(1, 150'000 * us) == "leads");
    CHECK(model.state(0, 50'000 * us) == "follows 3");
    CHECK(model.state(0, 100'500 * us) == "no leader");
    CHECK(model.state(0, 150'000 * us) == "follows 2");
    CHECK(model.state(2, 150'000 * us) == "not running");
}

TEST_CASE("diagram model: a lease that nobody renews ends by itself") {
    test::TraceLines lines;
    lines.publish(1000, 1, 7, 2000);
    lines.event(5000, 2, "peer_up");
    const Model model = model_of(lines);
    CHECK(model.lanes[0].leases.at(0).to == 2000 * us);
    CHECK(model.lanes[0].leases.at(0).until == 2000 * us);
}

TEST_CASE("diagram model: a leader that gives up leaves no ghost") {
    test::TraceLines lines;
    lines.publish(1000, 1, 7, 500'000);
    lines.publish(3000, 1, 0, 0);
    lines.event(5000, 1, "peer_up");
    const Model model = model_of(lines);
    CHECK(model.lanes[0].leases.at(0).to == 3000 * us);
    CHECK(model.lanes[0].leases.at(0).until == 3000 * us);
}

TEST_CASE("diagram model: what an election is made of is told apart from what never stops") {
    const Model model = model_of(test::failover());
    CHECK(count(model, Look::coordinator) == 2);
    CHECK(count(model, Look::grant) == 1);
    CHECK(count(model, Look::announcement) == 1);
    CHECK(count(model, Look::announcement_grant) == 1);
    CHECK(count(model, Look::renewal) == 1);
    CHECK(count(model, Look::renewal_grant) == 1);
    CHECK(count(model, Look::heartbeat) == 1);
}

TEST_CASE("diagram model: the kernel's word about a dead process is drawn from its death on") {
    const Model model = model_of(test::failover());
    CHECK(count(model, Look::fin) == 2);
    const Arrow& fin = first(model, Look::fin);
    CHECK(fin.from == 2);
    CHECK(fin.sent == 100'000 * us);
    CHECK((fin.received == 100'300 * us || fin.received == 100'500 * us));
}

TEST_CASE("diagram model: a message to a dead process is lost, one at the end is on its way") {
    test::TraceLines lines = test::failover();
    lines.send(200'000, 1, 2, protocol::Ok{1});
    const Model model = model_of(lines);
    std::size_t lost = 0;
    for (const Arrow& arrow : model.arrows) {
        if (arrow.look == Look::coordinator && arrow.to == 2) {
            CHECK(arrow.fate == Fate::lost);
            ++lost;
        }
    }
    CHECK(lost == 1);
    CHECK(first(model, Look::ok).fate == Fate::open);
}

TEST_CASE("diagram model: what is sent to a node without a trace is neither lost nor received") {
    test::TraceLines lines;
    lines.send(1, 1, 2, protocol::Ok{1});
    lines.event(9, 1, "peer_up");
    const Model model = model_of(lines);
    REQUIRE(model.lanes.size() == 2);
    CHECK(!model.lanes[1].traced);
    CHECK(first(model, Look::ok).fate == Fate::open);
}

TEST_CASE("diagram model: pauses last until the node goes on, or to the end") {
    test::TraceLines lines;
    lines.start(0, 1);
    lines.event(100, 1, "pause");
    lines.event(300, 1, "resume");
    lines.event(500, 1, "suspend");
    lines.event(900, 2, "peer_up");
    const Model model = model_of(lines);
    const std::vector<Absence>& absences = model.lanes[0].absences;
    REQUIRE(absences.size() == 2);
    CHECK(absences[0].kind == AbsenceKind::paused);
    CHECK(absences[0].from == 100 * us);
    CHECK(absences[0].to == 300 * us);
    CHECK(absences[1].kind == AbsenceKind::suspended);
    CHECK(absences[1].to == 900 * us);
    CHECK(model.state(0, 300 * us) != "paused");
    CHECK(model.state(0, model.end) == "suspended");
}

TEST_CASE("diagram model: what ends with the last line of a trace has ended") {
    test::TraceLines lines;
    lines.start(0, 1);
    lines.event(100, 1, "pause");
    lines.event(300, 1, "resume");
    const Model resumed = model_of(lines);
    CHECK(resumed.state(0, resumed.end) != "paused");

    lines.publish(400, 1, 7, 1'000'000);
    const Model leads = model_of(lines);
    CHECK(leads.state(0, leads.end) == "leads");
    lines.publish(500, 1, 0, 0);
    const Model ended = model_of(lines);
    CHECK(ended.state(0, ended.end) != "leads");
    lines.event(600, 1, "crash");
    const Model died = model_of(lines);
    CHECK(died.state(0, died.end) == "not running");
}

TEST_CASE("diagram model: the death of a real process is what the others read of it") {
    test::TraceLines lines;
    lines.simulated = false;
    for (std::uint64_t node = 1; node <= 3; ++node) lines.start(0, node);
    lines.message(1000, 3, 1100, 1, protocol::Heartbeat{});
    lines.peer_down(2000, 2, 3, "eof");
    lines.peer_down(2100, 1, 3, "eof");
    lines.message(3000, 1, 3100, 2, protocol::Heartbeat{});
    const Model model = model_of(lines);
    REQUIRE(model.deaths.size() == 1);
    CHECK(model.deaths[0].lane == 2);
    CHECK(model.deaths[0].at == 2000 * us);
    CHECK(!model.deaths[0].orderly);
}

TEST_CASE("diagram model: a node that is told to stop lives until its last word") {
    test::TraceLines lines;
    for (std::uint64_t node = 1; node <= 2; ++node) lines.start(0, node);
    lines.event(1000, 1, "stop");
    lines.message(1500, 1, 1600, 2, protocol::Resign{});
    lines.event(1700, 1, "crash");
    lines.event(3000, 2, "peer_up");
    const Model model = model_of(lines);
    REQUIRE(model.deaths.size() == 1);
    CHECK(model.deaths[0].at == 1700 * us);
    CHECK(model.deaths[0].orderly);
    CHECK(model.state(0, 1600 * us) == "no leader");
    CHECK(model.state(0, 2000 * us) == "not running");
}

TEST_CASE("diagram model: a real process that writes nothing for long is silent") {
    test::TraceLines lines;
    lines.simulated = false;
    lines.start(0, 1);  // a heartbeat each 50 ms
    lines.event(50'000, 1, "peer_up");
    lines.event(600'000, 1, "peer_up");
    lines.event(650'000, 1, "peer_up");
    const Model model = model_of(lines);
    REQUIRE(model.lanes[0].absences.size() == 1);
    CHECK(model.lanes[0].absences[0].kind == AbsenceKind::silent);
    CHECK(model.lanes[0].absences[0].from == 50'000 * us);
    CHECK(model.lanes[0].absences[0].to == 600'000 * us);
}

TEST_CASE("diagram model: two processes with one id at the same time have a line each") {
    test::TraceLines lines;
    const auto line = [](const char* at, const char* run) {
        return std::string(R"({"t_ns":)") + at + R"(,"node":1,"incarnation":")" + run +
               R"(","dir":"event","kind":"peer_up","peer":2})"
               "\n";
    };
    lines.lines = {line("1", "a"), line("5", "b"), line("9", "a"), line("12", "b"),
                   line("13", "c")};
    const Model model = model_of(lines);
    REQUIRE(model.lanes.size() == 3);
    CHECK(model.lanes[0].name == "1");
    CHECK(model.lanes[1].name == "1b");
    CHECK(model.lanes[2].name == "2");
    // The third run begins when the first has ended.
    CHECK(model.place_of[4] == 0);
}

TEST_CASE("diagram model: the window is around the change of leader when the trace is long") {
    const Model model = model_of(test::failover());
    const Window window = choose_window(model, find_episodes(model));
    CHECK(window.from < 100'000 * us);
    CHECK(window.from > 90'000 * us);
    CHECK(window.to > 101'200 * us);
    CHECK(window.to < 151'000 * us);
}

TEST_CASE("diagram words: times have three digits and a unit") {
    CHECK(rounded_duration(0) == "0 ns");
    CHECK(rounded_duration(380'000) == "380 µs");
    CHECK(rounded_duration(1'032'000) == "1.03 ms");
    CHECK(rounded_duration(1'000'000) == "1 ms");
    CHECK(rounded_duration(478'000'000) == "478 ms");
    CHECK(rounded_duration(1'250'000'000) == "1.25 s");
    CHECK(rounded_duration(-2'000'000) == "−2 ms");
}

TEST_CASE("diagram words: epochs from a clock are cut to the digits in which they differ") {
    CHECK(EpochNames({1, 2, 17}).name(17) == "17");
    const EpochNames names({1'832'000'000'000'123, 1'832'000'000'004'124});
    CHECK(names.name(1'832'000'000'000'123) == "…0123");
    CHECK(names.name(1'832'000'000'004'124) == "…4124");
}

}  // namespace bullring::sim::diagram::diagram_model_test
