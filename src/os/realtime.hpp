// Owns: the scheduling class and the locked memory of the node's thread.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace bullring {

/// SCHED_FIFO for the calling thread (its children and later threads don't inherit it) and memory
/// that is never paged out. The error says which permission is missing.
tl::expected<void, std::string> make_thread_realtime();

}  // namespace bullring
