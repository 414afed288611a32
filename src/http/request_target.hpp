// Reads the target of a request in each of the forms that a server has to know (RFC 9112, 3.2).
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bullring {

struct RequestTarget {
    std::string path;  // decoded, without the query
    std::string host;  // that takes the place of the header's; empty: the target has none
};

/// nullopt: it is none, as the host and port of CONNECT, or something is encoded wrongly in it.
std::optional<RequestTarget> request_target(std::string_view target);

}  // namespace bullring
