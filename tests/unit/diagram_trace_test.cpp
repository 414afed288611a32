// Tests which lines belong to a trace, and the complaints about those that do not.
#include <doctest/doctest.h>

#include "sim/diagram/trace_reader.hpp"
#include "tests/support/trace_lines.hpp"

namespace bullring::sim::diagram::diagram_trace_test {
namespace {

Trace read(std::string_view text) {
    TraceReader reader;
    reader.add_file(text, "a.trace");
    return reader.take();
}

std::string complaint(std::string_view text) {
    try {
        read(text);
    } catch (const DiagramError& error) {
        return error.what();
    }
    return "";
}

constexpr std::string_view good =
    R"({"ts_ns":1000,"raw_ns":2,"node":3,"incarnation":"ab","dir":"event","kind":"peer_up","peer":2})"
    "\n";

}  // namespace

TEST_CASE("diagram reader: what the nodes write is read again") {
    test::TraceLines lines;
    lines.start(0, 2);
    lines.message(10, 2, 15, 1, test::coordinator(9, true));
    lines.publish(20, 2, 9, 520);
    const Trace trace = read(lines.text());
    CHECK(trace.true_time);
    CHECK(trace.algorithm == "bully");
    CHECK(trace.members == std::vector<std::uint64_t>{1, 2, 3});
    REQUIRE(trace.records.size() == 4);
    const TraceRecord& sent = trace.records[1];
    const TraceRecord& received = trace.records[2];
    CHECK(sent.what == RecordKind::send);
    CHECK(sent.t_ns == 10'000);
    CHECK(sent.node == 2);
    CHECK(sent.peer == 1);
    CHECK(sent.incarnation == 102);
    CHECK(sent.epoch == 9);
    CHECK(sent.renew);
    CHECK(received.what == RecordKind::recv);
    CHECK(received.node == 1);
    CHECK(received.body == sent.body);
    CHECK(trace.records[3].lease_left_ns == 500'000);
}

TEST_CASE("diagram reader: the lease's end is that of the clock that comes first to it") {
    const Trace trace =
        read(R"({"t_ns":5,"ts_ns":1000,"raw_ns":500,"node":3,"incarnation":"ab","dir":"event",)"
             R"("kind":"publish","epoch":4,"until_ns":1900,"until_raw_ns":1300})"
             "\n");
    CHECK(trace.records[0].lease_left_ns == 800);
}

TEST_CASE("diagram reader: a line that can't be used is named with its file and number") {
    const std::string text(good);
    CHECK(complaint(text + "rubbish\n") == "a.trace:2: not JSON");
    CHECK(complaint(text + text + "[1]\n") == "a.trace:3: not an object");
    CHECK(complaint("{\"node\":3}\n") == "a.trace:1: \"ts_ns\" is missing");
    CHECK(complaint(R"({"ts_ns":1,"dir":"up","kind":"x"})"
                    "\n") == "a.trace:1: \"dir\" is neither send, recv nor event: up");
    CHECK(complaint(R"({"ts_ns":"1","dir":"send","kind":"x"})"
                    "\n") == "a.trace:1: \"ts_ns\" is not a whole number: \"1\"");
    CHECK(complaint(R"({"ts_ns":1,"node":3,"dir":"send","kind":"OK"})"
                    "\n") == "a.trace:1: \"session\" is missing");
    CHECK(complaint(R"({"ts_ns":1,"node":-3,"dir":"event","kind":"x"})"
                    "\n") == "a.trace:1: \"node\" is not a number from 0: -3");
    CHECK(complaint(R"({"ts_ns":1,"node":3,"incarnation":"xy","dir":"event","kind":"x"})"
                    "\n") == "a.trace:1: \"incarnation\" is not a hexadecimal number: xy");
    CHECK(complaint(R"({"ts_ns":18446744073709551615,"dir":"event","kind":"x"})"
                    "\n") == "a.trace:1: \"ts_ns\" is out of range: 18446744073709551615");
    CHECK(complaint("") == "the trace is empty");
    CHECK(complaint("\n\n") == "the trace is empty");
}

TEST_CASE("diagram reader: traces of a simulator and of real nodes are not mixed") {
    const std::string simulated = R"({"t_ns":1,"node":3,"dir":"event","kind":"crash"})"
                                  "\n";
    CHECK(complaint(std::string(good) + simulated).find("can't be drawn together") !=
          std::string::npos);
}

TEST_CASE("diagram reader: what a killed node could not finish is left out with a note") {
    const std::string text(good);
    SUBCASE("at the end of the file") {
        const Trace trace = read(text + text.substr(0, 30));
        CHECK(trace.records.size() == 1);
        REQUIRE(trace.notes.size() == 1);
        CHECK(trace.notes[0].find("a.trace:2") == 0);
    }
    SUBCASE("in front of what its next run wrote") {
        const Trace trace = read(text + text.substr(0, 30) + text + text);
        CHECK(trace.records.size() == 3);
        CHECK(trace.notes.size() == 1);
    }
    SUBCASE("a whole last line needs no line break") {
        const Trace trace = read(text.substr(0, text.size() - 1));
        CHECK(trace.records.size() == 1);
        CHECK(trace.notes.empty());
    }
}

}  // namespace bullring::sim::diagram::diagram_trace_test
