// A node as its HTTP endpoint sees it, and its answers to requests, without the loops that feed and
// carry them.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>
#include <strings.h>

#include "src/base/text/text.hpp"
#include "src/http/answers.hpp"
#include "src/http/http_server.hpp"
#include "src/http/metrics.hpp"
#include "src/http/page.hpp"
#include "src/http/resign_request.hpp"
#include "src/http/routes.hpp"
#include "tests/fuzz/input.hpp"

namespace bullring::fuzz {

/// Node 3 follows 2.
inline const NodeState& follower() {
    static const NodeState state = [] {
        NodeState made;
        made.at = made.started_at = {1'000'000'000, 2'000'000'000};
        made.status.cluster = "blue";
        made.status.view.self = {3};
        made.status.view.leader = {2};
        made.status.view.epoch = {7};
        made.status.view.lease_left = protocol::milliseconds(400);
        return made;
    }();
    return state;
}

inline HttpAnswer answer_to_resign(const HttpRequest& request) {
    static const std::string tokens = "secret\nother\n";
    HttpAccess access;
    access.token_file = "tokens";
    if (auto refused = refusal(request, access, tokens)) {
        expect(refused->status == 403, "refused with another status");
        return *refused;
    }
    // Only with a token: nothing else opens it.
    const std::string_view authorization = request.header("Authorization");
    const std::string_view scheme = authorization.substr(0, 6);
    expect(scheme.size() == 6 && ::strncasecmp(scheme.data(), "bearer", 6) == 0,
           "let in by another scheme");
    const std::string_view token = trimmed(authorization.substr(6));
    expect(token == "secret" || token == "other", "let in by nothing");
    auto to = successor_asked_for(request.body);
    if (auto* wrong = std::get_if<HttpAnswer>(&to)) return *wrong;
    return conflict("node " + std::to_string(std::get<protocol::NodeId>(to).value));
}

/// Hands the answer on to the caller of a handler.
class Kept final : public HttpReply {
public:
    explicit Kept(HttpAnswer& to) : to_(to) {}
    void send(const HttpAnswer& answer) override { to_ = answer; }
    std::unique_ptr<HttpStream> stream(const char* /*type*/) override { return nullptr; }

private:
    HttpAnswer& to_;
};

inline HttpAnswer answer_to(const HttpRequest& request) {
    if (request.path == "/resign") return answer_to_resign(request);
    const AtTheMoment at{follower(), {}, {1'100'000'000, 2'100'000'000}};
    const std::string_view accept = request.header("Accept");
    if (request.path == "/" && !wants_page(accept)) return elector_answer(at, 1, 2);
    if (request.path == "/metrics")
        return {200, content_type(metrics_format(accept)), "text/plain"};
    HttpAnswer given{0, ""};
    const auto reply = std::make_shared<Kept>(given);
    const auto by = [&at](HttpAnswer (*answer)(const AtTheMoment&)) -> HttpHandler {
        return [answer, &at](const HttpRequest&, const HttpReplyPtr& to) { to->send(answer(at)); };
    };
    const HttpRoutes routes{{"/leader", "GET, HEAD, OPTIONS", by(leader_answer)},
                            {"/follower", "GET, HEAD, OPTIONS", by(follower_answer)},
                            {"/readyz", "GET, HEAD", by(ready_answer)},
                            {"/status", "GET, HEAD", by(status_answer)},
                            {"/failovers/#.svg", "GET, HEAD", by(ready_answer)}};
    answer_by(routes, request, reply);
    if (given.status != 404 && std::string_view(given.type) == "application/json")
        expect(nlohmann::json::accept(given.body), "an answer that is no JSON");
    return given;
}

}  // namespace bullring::fuzz
