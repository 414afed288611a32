#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "src/http/answers.hpp"

namespace bullring::http_answers_test {
namespace {

using nlohmann::json;
using protocol::Duration;
using protocol::Epoch;
using protocol::Instant;
using protocol::milliseconds;
using protocol::NodeId;

constexpr Instant noon{1'000'000'000, 2'000'000'000};

/// Node 3 follows 2, whose lease lasts for 400 ms more.
NodeState follower() {
    NodeState state;
    state.at = noon;
    state.started_at = noon - protocol::seconds(5);
    state.status.cluster = "blue";
    state.status.view.self = {3};
    state.status.view.leader = {2};
    state.status.view.epoch = {7};
    state.status.view.advertised = "db2:5432";
    state.status.view.lease_left = milliseconds(400);
    state.status.view.why = "follows 2";
    state.status.advertised = "db3:5432";
    return state;
}
AtTheMoment after(const NodeState& state, Duration passed) { return {state, {}, noon + passed}; }
/// The same node, if it has just been elected and its state is older.
AtTheMoment elected(const NodeState& state, Duration passed) {
    return {state, {{8}, noon + milliseconds(500)}, noon + passed};
}
int status_of(std::string_view path, const AtTheMoment& at) {
    return answer("GET", path, at).status;
}

TEST_CASE("http: the role is told by the status code") {
    const NodeState state = follower();
    for (const char* path : {"/leader", "/primary"}) {
        CHECK(status_of(path, after(state, milliseconds(0))) == 503);
        CHECK(status_of(path, elected(state, milliseconds(0))) == 200);
    }
    CHECK(status_of("/follower", after(state, milliseconds(0))) == 200);
    CHECK(status_of("/follower", elected(state, milliseconds(0))) == 503);
}

TEST_CASE("http: a lease is judged at the moment of the answer, by both clocks") {
    const NodeState state = follower();
    CHECK(status_of("/leader", elected(state, milliseconds(500) - Duration{1})) == 200);
    CHECK(status_of("/leader", elected(state, milliseconds(500))) == 503);
    AtTheMoment one_clock = elected(state, milliseconds(0));
    one_clock.now.raw_ns += milliseconds(500).ns;
    CHECK(status_of("/leader", one_clock) == 503);
    CHECK(status_of("/follower", after(state, milliseconds(400) - Duration{1})) == 200);
    CHECK(status_of("/follower", after(state, milliseconds(400))) == 503);
}

TEST_CASE("http: who leads is told with the code") {
    const NodeState state = follower();
    const json follows =
        json::parse(answer("GET", "/leader", after(state, milliseconds(100))).body);
    CHECK(follows == json{{"id", 3},
                          {"leader", 2},
                          {"epoch", 7},
                          {"advertised", "db2:5432"},
                          {"lease_left_ms", 300}});
    const json leads =
        json::parse(answer("GET", "/leader", elected(state, milliseconds(100))).body);
    CHECK(leads == json{{"id", 3},
                        {"leader", 3},
                        {"epoch", 8},
                        {"advertised", "db3:5432"},
                        {"lease_left_ms", 400}});
    const json nobody = json::parse(answer("GET", "/leader", after(state, milliseconds(900))).body);
    CHECK(nobody == json{{"id", 3},
                         {"leader", nullptr},
                         {"epoch", 7},
                         {"advertised", ""},
                         {"lease_left_ms", 0}});
}

TEST_CASE("http: ready is who leads or follows a live leader") {
    const NodeState state = follower();
    for (const char* path : {"/readyz", "/readiness", "/health"}) {
        CHECK(status_of(path, after(state, milliseconds(0))) == 200);
        CHECK(status_of(path, elected(state, milliseconds(0))) == 200);
        const HttpAnswer lost = answer("GET", path, after(state, milliseconds(900)));
        CHECK(lost.status == 503);
        CHECK(json::parse(lost.body)["why"] == "the lease of 2 is over");
    }
}

TEST_CASE("http: alive is whose loop turns, whoever leads") {
    const NodeState state = follower();
    for (const char* path : {"/livez", "/liveness"}) {
        AtTheMoment at = after(state, milliseconds(900));
        CHECK(status_of(path, at) == 200);
        at.loop_turns = false;
        CHECK(status_of(path, at) == 503);
    }
}

TEST_CASE("http: the status is as old as the answer") {
    const NodeState state = follower();
    const json status = json::parse(answer("GET", "/status", after(state, milliseconds(100))).body);
    CHECK(status["lease_left_ms"] == 300);
    CHECK(status["uptime_ms"] == 5'100);
    CHECK(status["cluster"] == "blue");
}

TEST_CASE("http: wrong methods and paths") {
    const NodeState state = follower();
    const AtTheMoment at = after(state, milliseconds(0));
    for (const char* method : {"GET", "HEAD", "OPTIONS"})
        CHECK(answer(method, "/follower", at).status == 200);
    const HttpAnswer wrong = answer("POST", "/leader", at);
    CHECK(wrong.status == 405);
    CHECK(wrong.allow == "GET, HEAD, OPTIONS");
    CHECK(answer("OPTIONS", "/status", at).allow == "GET, HEAD");
    CHECK(answer("GET", "/leaders", at).status == 404);
}

}  // namespace
}  // namespace bullring::http_answers_test
