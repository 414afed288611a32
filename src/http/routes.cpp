#include "src/http/routes.hpp"

#include <charconv>
#include <string>

#include "src/http/tokens.hpp"

namespace bullring {

namespace {

/// As people type it, and load balancers normalise it: `/leader/` is `/leader`.
std::string_view without_last_slash(std::string_view path) {
    if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return path;
}

/// The number that stands in the place of '#', 0 without one; nullopt: it is another path.
std::optional<std::uint64_t> number_in(std::string_view path, std::string_view pattern) {
    std::uint64_t number = 0;
    const std::size_t place = pattern.find('#');
    if (place == std::string_view::npos)
        return path == pattern ? std::optional(number) : std::nullopt;
    if (!path.starts_with(pattern.substr(0, place))) return std::nullopt;
    path.remove_prefix(place);
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    if (error != std::errc() || path != pattern.substr(place + 1)) return std::nullopt;
    return number;
}

bool is_among(std::string_view method, std::string_view allowed) {
    bool found = false;
    for_each_part(allowed, ',', [&](std::string_view one) { found = found || one == method; });
    return found;
}

}  // namespace

void answer_by(const HttpRoutes& routes, HttpRequest request, const HttpReplyPtr& reply) {
    request.path = without_last_slash(request.path);
    for (const HttpRoute& route : routes) {
        const auto number = number_in(request.path, route.path);
        if (!number) continue;
        if (!is_among(request.method, route.allow))
            return reply->send(
                {405, "only " + std::string(route.allow) + " here\n", "text/plain", route.allow});
        request.number = *number;
        return route.handler(request, reply);
    }
    reply->send({404, "nothing is here: " + one_line(request.path) + "\n", "text/plain"});
}

}  // namespace bullring
