// What `node`, `run` and `lead` read in the same way.
#pragma once

#include <optional>

#include "src/options/options_reader.hpp"

namespace bullring {

/// `kill_after` for a member that runs a command: its lease has room for that.
NodeOptions member_options(OptionReader& reader, const Environment& environment,
                           const std::optional<protocol::Duration>& kill_after, Problems& problems);

/// The first directory of systemd's list, else where the desktop's rules put a program's state.
void read_data_dir(OptionReader& reader, const Environment& environment, NodeOptions& options);

}  // namespace bullring
