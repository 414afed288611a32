// What a failed call on a connected socket means for its connection.
#pragma once

#include "src/os/io_result.hpp"

namespace bullring {

/// `error`: what recv() or send() has left in errno.
IoResult socket_failure(int socket, int error);

}  // namespace bullring
