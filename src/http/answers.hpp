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

/// `path` without the query. Streams, the page, metrics, the whole cluster and requests that change
/// something are not answered here: 404.
HttpAnswer answer(std::string_view method, std::string_view path, const AtTheMoment& at);

}  // namespace bullring
