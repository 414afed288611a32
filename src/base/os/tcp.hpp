// Owns: how the project's sockets are made: close-on-exec from their first instant (a hook that is
// started meanwhile must not hold one: its FIN would be late), non-blocking, without delay.
#pragma once

#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <tl/expected.hpp>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/base/text/endpoint.hpp"

namespace bullring::tcp {

/// Without asking the resolver: empty when `host` is a name.
std::vector<asio::ip::tcp::endpoint> numeric_addresses(const Endpoint& endpoint);

/// Asks the system's resolver, and blocks while it thinks. The error says what it has said.
tl::expected<std::vector<asio::ip::tcp::endpoint>, std::string> resolve(const Endpoint& endpoint);

/// Binds and listens on every address that the endpoint means; blocks for a name (start only). The
/// error names the address and what is wrong with it.
tl::expected<std::vector<OwnedFd>, std::string> listen_on(const Endpoint& endpoint);

/// 0, or why nobody could listen there now. Whoever dials it meanwhile is refused as before.
int try_bind(const asio::ip::tcp::endpoint& address);

/// Begins to connect; the descriptor is writable when it is decided. Empty when it failed at once.
OwnedFd start_connect(const asio::ip::tcp::endpoint& address);
/// After it became writable: 0, or the error.
int connect_error(int fd);

/// -1 with errno when there is none.
int accept_from(int listener);

/// TCP_NODELAY, and TCP_USER_TIMEOUT: how long sent bytes may stay unacknowledged.
void set_options(int fd, protocol::Duration unacknowledged_max);
/// Finds out that a peer's host is gone although nothing is ever written here.
void set_keep_alive(int fd);

/// The round trip that the kernel has measured, smoothed; nothing yet: 0.
protocol::Duration round_trip(int fd);

/// Both ends of a connection, as "host:port".
struct Ends {
    std::string local;
    std::string remote;
};
/// As this side sees them. A v4 address inside v6 is written as v4 and zones are left
/// out: both ends have to write one address alike (PROTOCOL R4, release_ok).
Ends addresses_of(int fd);
/// Of "host:port".
std::string host_of(const std::string& address);
std::string to_text(const asio::ip::tcp::endpoint& address);

}  // namespace bullring::tcp
