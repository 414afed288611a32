// Which receipt belongs to which sending, and what that says about before and after.
#include <doctest/doctest.h>

#include "protocol/diagram/causality.hpp"
#include "sim/diagram/trace_reader.hpp"
#include "tests/support/trace_lines.hpp"

namespace bullring::sim::diagram::diagram_causality_test {
namespace {

Trace read(const test::TraceLines& lines) {
    TraceReader reader;
    reader.add_file(lines.text(), "a.trace");
    return reader.take();
}

protocol::Heartbeat heartbeat(std::uint64_t max_seen) {
    protocol::Heartbeat message;
    message.max_seen = {max_seen};
    return message;
}

/// The clocks of all records, each record at its node's place (node 1 at 0, …).
std::vector<ClockedEvent> clocks_of(const Trace& trace, std::size_t places) {
    std::vector<std::size_t> chosen;
    std::vector<Place> place_of;
    for (std::size_t i = 0; i < trace.records.size(); ++i) {
        chosen.push_back(i);
        place_of.push_back(trace.records[i].node - 1);
    }
    return vector_clocks(trace.records, match(trace.records), chosen, place_of, places);
}

}  // namespace

TEST_CASE("diagram matching: index by index, each session and direction for itself") {
    test::TraceLines lines;
    lines.send(1, 1, 2, protocol::Ok{1});     // 0
    lines.send(2, 1, 2, protocol::Ok{1});     // 1
    lines.send(3, 2, 1, protocol::Ok{1});     // 2
    lines.receive(4, 1, 2, protocol::Ok{1});  // 3
    lines.receive(5, 1, 2, protocol::Ok{1});  // 4
    const Matching found = match(read(lines).records);
    CHECK(found.partner == std::vector<std::size_t>{3, 4, no_record, 0, 1});
}

TEST_CASE("diagram matching: the answer to a HELLO is told on the dialler's session") {
    test::TraceLines lines;
    lines.message(1, 1, 2, 2, protocol::Hello{});
    // The acceptor's line bears the dialler's number of the session, which here is 12.
    std::string ack =
        R"({"t_ns":3,"node":2,"incarnation":"0000000000000066","dir":"send","peer":1,)"
        R"("peer_incarnation":"0000000000000065","session":12,"index":0,)"
        R"("kind":"HELLO_ACK","id":2})"
        "\n";
    lines.lines.push_back(ack);
    ack = R"({"t_ns":4,"node":1,"incarnation":"0000000000000065","dir":"recv","peer":2,)"
          R"("peer_incarnation":"0000000000000066","session":12,"index":0,)"
          R"("kind":"HELLO_ACK","id":2})"
          "\n";
    lines.lines.push_back(ack);
    const Matching found = match(read(lines).records);
    CHECK(found.partner == std::vector<std::size_t>{1, 0, 3, 2});
}

TEST_CASE("diagram matching: a heartbeat that a newer one replaced was never on its way") {
    test::TraceLines lines;
    lines.send(1, 1, 2, heartbeat(1));     // 0
    lines.send(2, 1, 2, heartbeat(2));     // 1: replaced
    lines.send(3, 1, 2, heartbeat(3));     // 2
    lines.send(4, 1, 2, protocol::Ok{9});  // 3
    lines.receive(5, 1, 2, heartbeat(1));  // 4
    lines.receive(6, 1, 2, heartbeat(3));  // 5
    lines.receive(7, 1, 2, protocol::Ok{9});
    const Matching found = match(read(lines).records);
    CHECK(found.partner == std::vector<std::size_t>{4, no_record, 5, 6, 0, 2, 3});
    CHECK(found.superseded == std::vector<bool>{false, true, false, false, false, false, false});
}

TEST_CASE("diagram matching: a receipt without its sending has no partner") {
    test::TraceLines lines;
    lines.receive(1, 1, 2, protocol::Ok{1});
    CHECK(match(read(lines).records).partner == std::vector<std::size_t>{no_record});
}

TEST_CASE("vector clocks: a receipt knows all that its sender knew") {
    test::TraceLines lines;
    lines.send(1, 1, 2, protocol::Ok{1});     // 0: (1,0,0)
    lines.send(2, 3, 2, protocol::Ok{1});     // 1: (0,0,1)
    lines.receive(3, 1, 2, protocol::Ok{1});  // 2: (1,1,0)
    lines.send(4, 2, 3, protocol::Ok{2});     // 3: (1,2,0)
    lines.receive(5, 2, 3, protocol::Ok{2});  // 4: (1,2,2)
    const std::vector<ClockedEvent> events = clocks_of(read(lines), 3);
    REQUIRE(events.size() == 5);
    const auto clock = [&](std::size_t record) {
        for (const ClockedEvent& event : events) {
            if (event.record == record) return event.clock;
        }
        return std::vector<std::uint32_t>{};
    };
    using Clock = std::vector<std::uint32_t>;
    CHECK(clock(0) == Clock{1, 0, 0});
    CHECK(clock(1) == Clock{0, 0, 1});
    CHECK(clock(2) == Clock{1, 1, 0});
    CHECK(clock(3) == Clock{1, 2, 0});
    CHECK(clock(4) == Clock{1, 2, 2});
    CHECK(clock_text(clock(4), {"1", "2", "3"}) == "1:1 2:2 3:2");
}

TEST_CASE("vector clocks: every event stands behind what happened before it") {
    test::TraceLines lines;
    // The clocks of the two hosts differ: the receipt seems to come first.
    lines.receive(1, 2, 1, protocol::Ok{1});
    lines.send(9, 2, 1, protocol::Ok{1});
    const std::vector<ClockedEvent> events = clocks_of(read(lines), 2);
    REQUIRE(events.size() == 2);
    CHECK(events[0].record == 1);
    CHECK(events[1].record == 0);
    CHECK(events[1].clock == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("vector clocks: receipts in a circle do not stop the counting") {
    test::TraceLines lines;
    lines.receive(1, 2, 1, protocol::Ok{1});
    lines.receive(1, 1, 2, protocol::Ok{2});
    lines.send(2, 1, 2, protocol::Ok{2});
    lines.send(2, 2, 1, protocol::Ok{1});
    CHECK(clocks_of(read(lines), 2).size() == 4);
}

TEST_CASE("diagram alignment: hosts that count from different beginnings are brought together") {
    test::TraceLines lines;
    lines.simulated = false;
    lines.skew = {0, 0, 5'000'000};  // node 2's host runs five seconds longer
    lines.message(1000, 1, 1200, 2, protocol::Ok{1});
    lines.message(2000, 2, 2200, 1, protocol::Ok{2});
    Trace trace = read(lines);
    CHECK(trace.records[3].t_ns < trace.records[2].t_ns);
    align_clocks(trace, match(trace.records));
    CHECK(trace.records[1].t_ns == 1'200'000);
    CHECK(trace.records[2].t_ns == 2'000'000);
    CHECK(trace.notes.size() == 1);
}

TEST_CASE("diagram alignment: clocks that agree are left alone") {
    test::TraceLines lines;
    lines.simulated = false;
    lines.message(1000, 1, 5000, 2, protocol::Ok{1});
    lines.message(6000, 2, 6001, 1, protocol::Ok{2});
    Trace trace = read(lines);
    align_clocks(trace, match(trace.records));
    CHECK(trace.records[1].t_ns == 5'000'000);
    CHECK(trace.notes.empty());
}

}  // namespace bullring::sim::diagram::diagram_causality_test
