// Owns: the descendants of a process, as /proc shows them, and how all of them are killed. A
// process that has been adopted by this one (a subreaper, see prctl(2)) counts.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// How long to wait before descendants are looked for again: no event reports all of them.
inline constexpr std::chrono::milliseconds look_for_descendants_every{2};

/// Sends SIGKILL to every process that descends from `ancestor`, but to none of `spared` and, with
/// `spare_their_children`, to none below them. Returns how many it found alive: a child forked
/// meanwhile is found the next time, so it is called until it finds none. Where /proc could not be
/// read to the end, one more is counted.
std::size_t kill_descendants(pid_t ancestor, const std::vector<pid_t>& spared,
                             bool spare_their_children);

/// The same with another signal, once, and not for the members of process group `except_group`.
/// Returns the names of those that it was sent to.
std::vector<std::string> signal_descendants(pid_t ancestor, int signal, pid_t except_group,
                                            const std::vector<pid_t>& spared);

/// Takes the statuses of all dead children of this process. True while it has others.
bool reap_all_children();

std::vector<pid_t> children_of_this_process();

/// A descriptor that is readable when a child of this process has ended, or stopped; SIGCHLD has to
/// be blocked. Empty when the system refuses it.
OwnedFd child_ends();

}  // namespace bullring
