// Decides what answers a request, by a table of paths and their methods. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/http/http_request.hpp"

namespace bullring {

/// A row. Of rows with one path the first counts.
struct HttpRoute {
    std::string_view path;   // '#' stands for a whole number
    std::string_view allow;  // its methods
    HttpHandler handler;
};
using HttpRoutes = std::vector<HttpRoute>;

/// Hands the request to its row; 404 without one, 405 for another method.
void answer_by(const HttpRoutes& routes, HttpRequest request, const HttpReplyPtr& reply);

}  // namespace bullring
