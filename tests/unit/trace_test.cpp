// The lines of a trace.
#include "protocol/trace/trace.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "protocol/trace/trace_json.hpp"
#include "tests/support/message_generators.hpp"

namespace bullring::protocol::trace_test {
namespace {

using Json = nlohmann::ordered_json;

const TraceEntry entry{
    {Instant{1000, 2000}}, {3}, {0xAB}, TraceDirection::send, {2}, {0xCD}, {7}, 4};

TraceMark mark_of(std::string_view kind) {
    TraceMark mark;
    mark.time = {Instant{1000, 2000}};
    mark.node = {3};
    mark.incarnation = {0xAB};
    mark.kind = kind;
    return mark;
}

std::vector<std::string> keys(const Json& line) {
    std::vector<std::string> found;
    for (const auto& [key, value] : line.items()) found.push_back(key);
    return found;
}

}  // namespace

TEST_CASE("trace: a line begins with who, when and where, and ends with the message's own fields") {
    Coordinator message;
    message.epoch = {9};
    message.lease = {500};
    message.renew = true;
    CHECK(trace_line(entry, message) ==
          R"({"ts_ns":1000,"raw_ns":2000,"node":3,"incarnation":"00000000000000ab","dir":"send",)"
          R"("peer":2,"peer_incarnation":"00000000000000cd","session":7,"index":4,)"
          R"("kind":"COORDINATOR","epoch":9,"renew":true,"lease_ns":500,"tie":false})"
          "\n");
}

TEST_CASE("trace: the true time stands in front, with the node's clocks or without them") {
    TraceEntry simulated = entry;
    simulated.time = {Instant{1000, -2000}, 77};
    const Json both = Json::parse(trace_line(simulated, Ok{1}));
    CHECK(keys(both)[0] == "t_ns");
    CHECK(both["t_ns"] == 77);
    CHECK(both["raw_ns"] == -2000);
    simulated.time = {std::nullopt, 78};
    const Json alone = Json::parse(trace_line(simulated, Ok{1}));
    CHECK(alone["t_ns"] == 78);
    CHECK(!alone.contains("ts_ns"));
}

TEST_CASE("trace: a peer that is not known yet is null") {
    TraceEntry unknown = entry;
    unknown.direction = TraceDirection::recv;
    unknown.peer = {};
    unknown.peer_incarnation = {};
    const Json line = Json::parse(trace_line(unknown, Ok{5}));
    CHECK(line["dir"] == "recv");
    CHECK(line["peer"].is_null());
    CHECK(line["peer_incarnation"].is_null());
    CHECK(line["kind"] == "OK");
    CHECK(line["attempt"] == 5);
    CHECK(!line.contains("epoch"));
}

TEST_CASE("trace: a refusal says why, a resignation who comes next") {
    Nack nack;
    nack.epoch = {4};
    nack.reason = NackReason::lease_too_long;
    const Json refused = Json::parse(trace_line(entry, nack));
    CHECK(refused["epoch"] == 4);
    CHECK(refused["reason"] == "lease_too_long");

    const Json resigned = Json::parse(trace_line(entry, Resign{{4}, {5}}));
    CHECK(resigned["epoch"] == 4);
    CHECK(resigned["successor"] == 5);
}

TEST_CASE("trace: a coordinator token shows its walk and who has answered") {
    CoordinatorToken token;
    token.walk.owner = {5};
    token.walk.round = 2;
    token.walk.step = 3;
    token.request.epoch = {8};
    token.grants = {{{1}, {}, {}}, {{2}, {}, {}}};
    token.nacks = {{{4}, NackReason::busy, {}, {}, {}}};
    const Json line = Json::parse(trace_line(entry, token));
    CHECK(line["epoch"] == 8);
    CHECK(line["owner"] == 5);
    CHECK(line["round"] == 2);
    CHECK(line["step"] == 3);
    CHECK(line["grants"] == Json::array({1, 2}));
    CHECK(line["nacks"] == Json::array({4}));
    CHECK(Json::parse(trace_line(entry, CoordinatorToken{}))["grants"] == Json::array());
}

TEST_CASE("trace: every message makes one line of JSON, whatever bytes its texts hold") {
    CHECK(rc::check("one line", [] {
        const auto kind = *rc::gen::inRange<std::size_t>(0, test::message_kinds);
        const std::string line = trace_line(entry, test::draw_message(kind));
        RC_ASSERT(line.find('\n') == line.size() - 1);
        RC_ASSERT(!Json::parse(line, nullptr, false).is_discarded());
        RC_ASSERT(Json::parse(line).dump(-1) + "\n" == line);
    }));
}

TEST_CASE("trace: texts are escaped as a JSON library would") {
    CHECK(rc::check("any bytes", [] {
        const std::string text = test::draw_text(64);
        std::string escaped;
        append_escaped(escaped, text);
        RC_ASSERT('"' + escaped + '"' ==
                  Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
    }));
    for (const char* text :
         {"", "\"\\/\b\f\n\r\t\x01\x1f\x7f", "ä€😀", "\xE2\x82", "\xE2\x82x", "\xF0\x9F\x98",
          "\xED\xA0\x80", "\xC0\xAF", "\xF4\x90\x80\x80", "\xE0\x80\x80", "\xFF\xFE", "a\xC3"}) {
        CAPTURE(text);
        std::string escaped;
        append_escaped(escaped, text);
        CHECK('"' + escaped + '"' ==
              Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
    }
}

TEST_CASE("trace: an event has what its mark says, and nothing else") {
    TraceMark publish = mark_of("publish");
    publish.epoch = Epoch{9};
    publish.until = Instant{5000, 6000};
    CHECK(trace_event_line(publish) ==
          R"({"ts_ns":1000,"raw_ns":2000,"node":3,"incarnation":"00000000000000ab","dir":"event",)"
          R"("kind":"publish","epoch":9,"until_ns":5000,"until_raw_ns":6000})"
          "\n");

    TraceMark down = mark_of("peer_down");
    down.peer = {5};
    down.reason = "eof";
    const Json line = Json::parse(trace_event_line(down));
    CHECK(line["peer"] == 5);
    CHECK(line["reason"] == "eof");
    CHECK(!line.contains("epoch"));

    TraceMark lost = mark_of("leader");
    lost.leader = nobody;
    lost.epoch = Epoch{0};
    const Json nobody_leads = Json::parse(trace_event_line(lost));
    CHECK(nobody_leads["leader"].is_null());
    CHECK(nobody_leads["epoch"] == 0);
}

TEST_CASE("trace: what happens to the world may belong to no node and to no clock") {
    TraceMark cut;
    cut.time = {std::nullopt, 12};
    cut.kind = "cut";
    CHECK(trace_event_line(cut) ==
          R"({"t_ns":12,"node":null,"incarnation":null,"dir":"event","kind":"cut"})"
          "\n");
}

TEST_CASE("trace: the first line of a run says which election it takes part in") {
    Config config;
    config.self = {2};
    config.members = Membership(std::vector<NodeId>{{1}, {2}, {3}});
    config.algorithm = Algorithm::ring;
    config.priority = Priority::never();
    std::string out;
    append_trace_start(out, {Instant{1, 2}}, {0xAB}, config);
    const Json line = Json::parse(out);
    CHECK(line["kind"] == "start");
    CHECK(line["node"] == 2);
    CHECK(line["algorithm"] == "ring");
    CHECK(line["quorum"] == "majority");
    CHECK(line["members"] == Json::array({1, 2, 3}));
    CHECK(line["priority"] == "never");
    CHECK(line["heartbeat_ns"] == config.timing.heartbeat.ns);
}

}  // namespace bullring::protocol::trace_test
