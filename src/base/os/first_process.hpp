// Owns: what a process has to do beside its work when it is a container's first one. The kernel
// ends all of a container's processes with the first, and has no signal from within end it: as
// that, a node could not be killed for standing still, nor outlived by those who end its command
// and report its end to the others. So its work is done by a child.
#pragma once

namespace bullring {

/// Goes on in a child if this is the first process of its PID namespace. That one passes on
/// signals, collects the statuses of orphans, and ends as the child does, when nothing of the
/// child's is left. Before there are threads. Throws std::system_error.
void leave_first_process();

}  // namespace bullring
