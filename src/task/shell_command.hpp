// Owns: how a command of the user's (a hook, a health check) is started: by /bin/sh, in a process
// group of its own, with no signal blocked or ignored, and with nothing open but stdin (/dev/null)
// and stderr, which is its stdout too: the program's own stdout may carry the event stream.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

namespace bullring {

/// The child, for wait_for_child(), or an errno. Its environment is this process's with `entries`
/// (src/base/os/child_variables.hpp). Any thread.
tl::expected<pid_t, int> start_shell_command(const std::string& command,
                                             std::vector<std::string> entries);

/// Whether the shell finds the program that the command begins with; true where only running it
/// would tell, and for none. Blocks for a moment.
bool shell_finds(const std::string& command);

}  // namespace bullring
