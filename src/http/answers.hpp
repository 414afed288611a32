// The answers of the HTTP endpoint about this node: by status code for load balancers and probes,
// in words for people. Pure: everything is handed in, and no clock is read.
#pragma once

#include <string>
#include <string_view>

#include "src/http/node_state.hpp"

namespace bullring {

struct HttpAnswer {
    int status = 200;
    std::string body;
    const char* type = "application/json";
    std::string_view allow = {};  // with 405: the methods that there are
    /// Everything that the page shows comes from this endpoint, and nothing may be put around it.
    const char* policy = "default-src 'self'; frame-ancestors 'none'";
};

/// 200 or 503, by the role; who leads is said in both.
HttpAnswer leader_answer(const AtTheMoment& at);
HttpAnswer follower_answer(const AtTheMoment& at);
/// 200 or 503: whether the node's loop turns.
HttpAnswer alive_answer(const AtTheMoment& at);
/// 200 or 503: whether it leads or follows a leader.
HttpAnswer ready_answer(const AtTheMoment& at);
/// All that `status` says of this node.
HttpAnswer status_answer(const AtTheMoment& at);

}  // namespace bullring
