// Owns: what the process has been given by whoever has started it.
#pragma once

namespace bullring {

/// Opens /dev/null in the place of stdin, stdout and stderr as far as they are closed: what is
/// opened later must not take their numbers, and be written to by a command.
void open_missing_streams();

/// Whether this signal is ignored, as nohup(1) has it with SIGHUP.
bool is_ignored(int signal);

}  // namespace bullring
