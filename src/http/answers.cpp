#include "src/http/answers.hpp"

#include "src/base/text/json.hpp"

namespace bullring {

namespace {

/// The leader that this node knows now; a lease that is over is no leader.
std::string leader_json(const AtTheMoment& at) {
    Json json;
    json["id"] = at.node.status.view.self.value;
    json["leader"] = id_or_null(at.leader());
    json["epoch"] = at.epoch().value;
    json["advertised"] = at.advertised();
    json["lease_left_ms"] = lease_left_ms(at.lease_left());
    json["why"] = at.why();
    return json_text(json) + "\n";
}

HttpAnswer by_role(bool has_it, const AtTheMoment& at) {
    return {has_it ? 200 : 503, leader_json(at)};
}

}  // namespace

HttpAnswer leader_answer(const AtTheMoment& at) { return by_role(at.leads(), at); }
HttpAnswer follower_answer(const AtTheMoment& at) { return by_role(at.follows(), at); }

HttpAnswer alive_answer(const AtTheMoment& at) {
    return {at.loop_turns ? 200 : 503,
            at.loop_turns ? "ok\n" : "the event loop of the node stands still\n", "text/plain"};
}

HttpAnswer ready_answer(const AtTheMoment& at) {
    Json json;
    const bool is = at.is_ready();
    json["ready"] = is;
    json["why"] = at.why();
    return {is ? 200 : 503, json_text(json) + "\n"};
}

HttpAnswer status_answer(const AtTheMoment& at) {
    StatusInput input = at.node.status;
    input.view.lease_left = at.lease_left();
    input.view.why = at.why();
    input.uptime_ms = protocol::elapsed(at.node.started_at, at.now).ns / 1'000'000;
    // As it stands in the list of all, with what holds for all behind it.
    Json answer = Json::parse(node_status_json(input));
    Json node = std::move(answer["node"]);
    answer.erase("node");
    const protocol::MemberEntry* const self = input.view.list.find(input.view.self);
    node["vote"] = self == nullptr ? Json(nullptr) : Json(self->votes);
    node.update(answer);
    return {200, json_text(node) + "\n"};
}

}  // namespace bullring
