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
TEST_CASE("http: the role is told by the status code") {
    const NodeState state = follower();
    CHECK(leader_answer(after(state, milliseconds(0))).status == 503);
    CHECK(leader_answer(elected(state, milliseconds(0))).status == 200);
    CHECK(follower_answer(after(state, milliseconds(0))).status == 200);
    CHECK(follower_answer(elected(state, milliseconds(0))).status == 503);
}

TEST_CASE("http: a lease is judged at the moment of the answer, by both clocks") {
    const NodeState state = follower();
    CHECK(leader_answer(elected(state, milliseconds(500) - Duration{1})).status == 200);
    CHECK(leader_answer(elected(state, milliseconds(500))).status == 503);
    AtTheMoment one_clock = elected(state, milliseconds(0));
    one_clock.now.raw_ns += milliseconds(500).ns;
    CHECK(leader_answer(one_clock).status == 503);
    CHECK(follower_answer(after(state, milliseconds(400) - Duration{1})).status == 200);
    CHECK(follower_answer(after(state, milliseconds(400))).status == 503);
}

TEST_CASE("http: who leads is told with the code") {
    const NodeState state = follower();
    const json follows = json::parse(leader_answer(after(state, milliseconds(100))).body);
    CHECK(follows == json{{"id", 3},
                          {"leader", 2},
                          {"epoch", 7},
                          {"advertised", "db2:5432"},
                          {"lease_left_ms", 300},
                          {"why", "follows 2"}});
    const json leads = json::parse(leader_answer(elected(state, milliseconds(100))).body);
    CHECK(leads == json{{"id", 3},
                        {"leader", 3},
                        {"epoch", 8},
                        {"advertised", "db3:5432"},
                        {"lease_left_ms", 400},
                        {"why", "follows 2"}});
    const json nobody = json::parse(leader_answer(after(state, milliseconds(900))).body);
    CHECK(nobody == json{{"id", 3},
                         {"leader", nullptr},
                         {"epoch", 7},
                         {"advertised", ""},
                         {"lease_left_ms", 0},
                         {"why", "the lease of 2 is over"}});
}

TEST_CASE("http: ready is who leads or follows a live leader") {
    const NodeState state = follower();
    CHECK(ready_answer(after(state, milliseconds(0))).status == 200);
    CHECK(ready_answer(elected(state, milliseconds(0))).status == 200);
    const HttpAnswer lost = ready_answer(after(state, milliseconds(900)));
    CHECK(lost.status == 503);
    CHECK(json::parse(lost.body)["why"] == "the lease of 2 is over");
}

TEST_CASE("http: alive is whose loop turns, whoever leads") {
    const NodeState state = follower();
    AtTheMoment at = after(state, milliseconds(900));
    CHECK(alive_answer(at).status == 200);
    at.loop_turns = false;
    CHECK(alive_answer(at).status == 503);
}

TEST_CASE("http: the status is as old as the answer") {
    const NodeState state = follower();
    const json status = json::parse(status_answer(after(state, milliseconds(100))).body);
    CHECK(status["lease_left_ms"] == 300);
    CHECK(status["uptime_ms"] == 5'100);
    CHECK(status["cluster"] == "blue");
}

}  // namespace
}  // namespace bullring::http_answers_test
