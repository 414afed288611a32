// Judges a failed call on a connected socket: whether its connection still stands.
#pragma once

#include "src/base/os/io_result.hpp"

namespace bullring {

/// `error`: what recv() or send() has left in errno.
IoResult socket_failure(int socket, int error);

}  // namespace bullring
