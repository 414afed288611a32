// The process that starts a leader's command and sees to its end (PROTOCOL R4): when the node says
// so, when the lease is about to end, and when the node has died. It has one thread and does
// nothing else, so that it cannot stall with the node; and it goes on for as long as anything of
// the command is left.
#pragma once

#include "src/task/supervisor/guard_settings.hpp"

namespace bullring {

/// To the end of the node. The exit status.
int run_guard(const GuardSettings& settings);

}  // namespace bullring
