// Owns: which children of this process it has started itself and waits for. As a
// subreaper (prctl(2)) a process also adopts the children of others that have ended, and must take
// their exit statuses: that is done here, without ever taking the status of a child that
// some other part of the program waits for.
#pragma once

#include <vector>

#include <spawn.h>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "protocol/values/time.hpp"

namespace bullring {

/// posix_spawn(), or its errno. The child counts as this program's own until wait_for_child() has
/// returned. Any thread.
tl::expected<pid_t, int> spawn_child(const char* program, const posix_spawn_file_actions_t* files,
                                     const posix_spawnattr_t* attributes, char* const* arguments,
                                     char* const* environment);

/// Stands for the status of a child that another part of the process has taken: failed, exit 127.
inline constexpr int status_unknown = 127 << 8;

/// Its status, as soon as it has one. Any thread, once for each child.
int wait_for_child(pid_t child);
/// False when it still runs after that time.
bool child_ends_within(pid_t child, protocol::Duration time);

/// Children that were not made by spawn_child() (exec keeps those of the program before this one)
/// count as own, too, as long as they live. Nobody waits for them.
void count_as_own(const std::vector<pid_t>& children);
std::vector<pid_t> own_children();
/// Before its status is taken by who has counted it: another process may get its number.
void forget_own(pid_t child);

/// Takes the statuses of all dead children that nobody waits for. Never waits itself. False when it
/// could not look at all of them, and so has to be called again in a while.
bool reap_orphans();

}  // namespace bullring
