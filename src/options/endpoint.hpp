// Where a node listens or is dialled: HOST:PORT, HOST a name, an IPv4 address or [IPv6].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace bullring {

struct Endpoint {
    std::string host;  // without brackets
    std::uint16_t port = 0;
    bool operator==(const Endpoint&) const = default;
};

/// The error says what is wrong with the text and what would be right.
tl::expected<Endpoint, std::string> parse_endpoint(std::string_view text);
/// "host:port", "[v6]:port".
std::string to_text(const Endpoint& endpoint);

}  // namespace bullring
