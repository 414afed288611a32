// Owns: the Unix socket that HTTP is served on. Unlike those in a data directory its place may be
// another process's, or that of another file.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "src/base/os/local_socket.hpp"

namespace bullring {

/// Leaves alone who is served there, and what is no socket. The error is for people.
tl::expected<LocalListener, std::string> listen_at(const std::string& path);

}  // namespace bullring
