// Where a node listens or is dialled: HOST:PORT, HOST a name, an IPv4 address or [IPv6]; and the
// list of members as users write it: `1=10.0.0.1:7100,2=…`, or `@FILE` with one entry a line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"

namespace bullring {

struct Endpoint {
    std::string host;  // without brackets
    std::uint16_t port = 0;
    bool operator==(const Endpoint&) const = default;
};

/// The error says what is wrong with the text and what would be right.
tl::expected<Endpoint, std::string> parse_endpoint(std::string_view text);
/// Whether only this machine is meant: an address of loopback, or `localhost`.
bool is_loopback(const std::string& host);
/// Whether it means all addresses of a machine, and so none that somebody else can dial: 0.0.0.0,
/// or :: in any spelling.
bool is_unspecified(const std::string& host);
/// "host:port", "[v6]:port".
std::string to_text(const Endpoint& endpoint);

using PeerList = std::map<protocol::NodeId, Endpoint>;  // every member, this one included

/// 1 … 2^63−1. The error quotes the text and says what would be right.
tl::expected<protocol::NodeId, std::string> parse_node_id(std::string_view text);

/// The number at the end of a host's name, plus one: "poller-0" is node 1, as the pods of a
/// StatefulSet are numbered. The domain does not count.
tl::expected<protocol::NodeId, std::string> node_id_of_host(std::string_view host_name);

struct ParsedPeers {
    PeerList peers;                     // the entries that are sound
    std::vector<std::string> problems;  // one sentence for each thing that is wrong
    bool passes = false;                // NotRead::passes of the file
};

/// Entries are separated by commas or line breaks; `#` starts a comment up to the end of the line.
/// The same id twice, the same address twice and more than 64 members are problems too.
ParsedPeers parse_peers(std::string_view text);
/// The same, but `@FILE` is read from that file.
ParsedPeers read_peers(std::string_view argument);

/// "1, 2, 3".
std::string ids_text(const PeerList& peers);

}  // namespace bullring
