// Owns: whose the terminal is. Only its foreground group may read it, and Ctrl-C goes to that
// alone.
#pragma once

#include <sys/types.h>

namespace bullring {

/// False when it is not `owner`'s to give, or there is none.
bool give_terminal(pid_t owner, pid_t group);
void take_terminal_back(pid_t owner);

}  // namespace bullring
