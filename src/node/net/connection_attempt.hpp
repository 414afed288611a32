// Owns: one attempt to connect to a host that may have several addresses: the next one is tried
// while the one before has not answered yet (RFC 8305), and the whole has one time limit, however
// many there are (PROTOCOL §3, R).
#pragma once

#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// The first one that is connected; empty when none is within `at_most`. Every address gets at
/// least half of that.
asio::awaitable<OwnedFd> connect_to_one_of(asio::io_context& io,
                                           std::vector<asio::ip::tcp::endpoint> addresses,
                                           protocol::Duration at_most);

}  // namespace bullring
