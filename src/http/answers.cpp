#include "src/http/answers.hpp"

#include <array>

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
    return json_text(json) + "\n";
}

HttpAnswer by_role(bool has_it, const AtTheMoment& at) {
    return {has_it ? 200 : 503, leader_json(at)};
}

HttpAnswer leader(const AtTheMoment& at) { return by_role(at.leads(), at); }
HttpAnswer follower(const AtTheMoment& at) { return by_role(at.follows(), at); }

HttpAnswer alive(const AtTheMoment& at) {
    return {at.loop_turns ? 200 : 503,
            at.loop_turns ? "ok\n" : "the event loop of the node stands still\n", "text/plain"};
}

HttpAnswer ready(const AtTheMoment& at) {
    Json json;
    const bool is = at.knows_leader();
    json["ready"] = is;
    json["why"] = at.why();
    return {is ? 200 : 503, json_text(json) + "\n"};
}

HttpAnswer status(const AtTheMoment& at) {
    StatusInput input = at.node.status;
    input.view.lease_left = at.lease_left();
    input.view.why = at.why();
    input.uptime_ms = protocol::elapsed(at.node.started_at, at.now).ns / 1'000'000;
    // As it stands in the list of all, with what holds for all behind it.
    Json answer = Json::parse(node_status_json(input));
    Json node = std::move(answer["node"]);
    answer.erase("node");
    node.update(answer);
    return {200, json_text(node) + "\n"};
}

struct Route {
    std::string_view path;
    HttpAnswer (*answer)(const AtTheMoment&);
    std::string_view allow = "GET, HEAD";
};

constexpr std::string_view with_options = "GET, HEAD, OPTIONS";

constexpr std::array routes{
    Route{"/leader", &leader, with_options},
    Route{"/primary", &leader, with_options},
    Route{"/follower", &follower, with_options},
    Route{"/livez", &alive},
    Route{"/liveness", &alive},
    Route{"/readyz", &ready},
    Route{"/readiness", &ready},
    Route{"/health", &ready},
    Route{"/status", &status},
};

bool is_among(std::string_view method, std::string_view allowed) {
    while (!allowed.empty()) {
        const std::size_t end = allowed.find(", ");
        if (allowed.substr(0, end) == method) return true;
        if (end == std::string_view::npos) break;
        allowed.remove_prefix(end + 2);
    }
    return false;
}

}  // namespace

HttpAnswer answer(std::string_view method, std::string_view path, const AtTheMoment& at) {
    for (const Route& route : routes) {
        if (route.path != path) continue;
        if (is_among(method, route.allow)) return route.answer(at);
        return {405, "only " + std::string(route.allow) + " here\n", "text/plain", route.allow};
    }
    return {404, "nothing is here: " + std::string(path) + "\n", "text/plain"};
}

}  // namespace bullring
