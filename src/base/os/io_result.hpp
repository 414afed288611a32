// The result of one attempt to read from or write to a connection.
#pragma once

#include <cstddef>

namespace bullring {

enum class IoStatus {
    done,         // `bytes` of them
    would_block,  // wait for the descriptor, then try again
    eof,          // the other end is closed, and all that it sent has been read
    reset,        // nothing more can come of it, and closing it releases nothing
    truncated,    // the same: the TCP connection was closed without the session's own end in it
    timeout,      // the same, because nobody answered
    unusable,     // an error, and yet the connection stands: closing it would send FIN
};

struct IoResult {
    IoStatus status = IoStatus::done;
    std::size_t bytes = 0;
};

}  // namespace bullring
