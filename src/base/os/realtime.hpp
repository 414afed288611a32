// Owns: the scheduling class and the locked memory of the node's thread; the scheduling class of
// the processes below it.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace bullring {

/// SCHED_FIFO for the calling thread (its children and later threads don't inherit it) and memory
/// that is never paged out. The error says which permission is missing.
tl::expected<void, std::string> make_thread_realtime();

/// SCHED_FIFO for the calling process and what it forks, where that is permitted and it has no
/// real-time policy already. Returns the policy that it had. Its niceness stays what it is, and
/// counts again with run_as().
int run_first();
/// Back to the policy that run_first() has returned, which needs no permission.
void run_as(int policy);
/// Behind all others on the host from now on, for what nobody waits for.
void run_last();

}  // namespace bullring
