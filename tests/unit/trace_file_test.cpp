// The lines of `--trace`.
#include "src/report/trace_file.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "tests/support/message_generators.hpp"

namespace bullring {
namespace {

const TraceEntry entry{{1000, 2000}, {3}, {0xAB}, TraceDirection::send, {2}, {0xCD}, {7}, 4};

}  // namespace

TEST_CASE("trace: a line begins with who, when and where, and ends with the message's own fields") {
    protocol::Coordinator message;
    message.epoch = {9};
    message.lease = {500};
    message.renew = true;
    CHECK(trace_line(entry, message) ==
          R"({"ts_ns":1000,"raw_ns":2000,"node":3,"incarnation":"00000000000000ab","dir":"send",)"
          R"("peer":2,"peer_incarnation":"00000000000000cd","session":7,"index":4,)"
          R"("kind":"COORDINATOR","epoch":9,"renew":true,"lease_ns":500,"tie":false})"
          "\n");
}

TEST_CASE("trace: a peer that is not known yet is null") {
    TraceEntry unknown = entry;
    unknown.direction = TraceDirection::recv;
    unknown.peer = {};
    unknown.peer_incarnation = {};
    const auto line = nlohmann::json::parse(trace_line(unknown, protocol::Ok{5}));
    CHECK(line["dir"] == "recv");
    CHECK(line["peer"].is_null());
    CHECK(line["peer_incarnation"].is_null());
    CHECK(line["kind"] == "OK");
    CHECK(line["attempt"] == 5);
    CHECK(!line.contains("epoch"));
}

TEST_CASE("trace: a refusal says why, a resignation who comes next") {
    protocol::Nack nack;
    nack.epoch = {4};
    nack.reason = protocol::NackReason::lease_too_long;
    const auto refused = nlohmann::json::parse(trace_line(entry, nack));
    CHECK(refused["epoch"] == 4);
    CHECK(refused["reason"] == "lease_too_long");

    const auto resigned = nlohmann::json::parse(trace_line(entry, protocol::Resign{{4}, {5}}));
    CHECK(resigned["epoch"] == 4);
    CHECK(resigned["successor"] == 5);
}

TEST_CASE("trace: a coordinator token shows its walk and who has answered") {
    protocol::CoordinatorToken token;
    token.walk.owner = {5};
    token.walk.round = 2;
    token.walk.step = 3;
    token.request.epoch = {8};
    token.grants = {{{1}, {}, {}}, {{2}, {}, {}}};
    token.nacks = {{{4}, protocol::NackReason::busy, {}, {}, {}}};
    const auto line = nlohmann::json::parse(trace_line(entry, token));
    CHECK(line["epoch"] == 8);
    CHECK(line["owner"] == 5);
    CHECK(line["round"] == 2);
    CHECK(line["step"] == 3);
    CHECK(line["grants"] == nlohmann::json::array({1, 2}));
    CHECK(line["nacks"] == nlohmann::json::array({4}));
}

TEST_CASE("trace: every message makes one line of JSON, whatever bytes its texts hold") {
    CHECK(rc::check("one line", [] {
        const auto kind = *rc::gen::inRange<std::size_t>(0, test::message_kinds);
        const std::string line = trace_line(entry, test::draw_message(kind));
        RC_ASSERT(line.find('\n') == line.size() - 1);
        RC_ASSERT(!nlohmann::json::parse(line, nullptr, false).is_discarded());
    }));
}

}  // namespace bullring
