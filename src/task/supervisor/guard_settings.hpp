// Owns: the settings that the guard of a command gets at its start, as arguments of its command
// line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>
#include <tl/expected.hpp>

#include "protocol/values/time.hpp"
#include "src/settings/run_options.hpp"

namespace bullring {

struct GuardSettings {
    int socket = -1;           // to the node
    int page = -1;             // the SharedLeasePage
    pid_t terminal_group = 0;  // the process group that has the terminal while no command needs it
    protocol::Duration kill_after;     // from SIGTERM to SIGKILL
    protocol::Duration margin;         // the command is ended so long before the lease's end,
    protocol::Duration kill_safety;    // and killed so long before it
    protocol::Duration node_pause{0};  // a node that stands still for longer hangs; 0: never
    std::string id;
    std::string cluster;
    std::string progress_file;  // empty: none
    std::string events_file;    // of the node, for its last event; empty: none
    LogFormat log_format = LogFormat::text;
    bool ignores_hangup = false;         // SIGHUP, as nohup(1) has it; the command does, too
    std::uint64_t descriptor_limit = 0;  // the command's; 0: as it is
    std::string device;                  // not empty: the command is addresses to be held on it
    Command command;
    bool operator==(const GuardSettings&) const = default;
};

/// The word by which main() knows that it is to be a guard. Not for users.
inline constexpr const char* guard_word = "guard";

/// Without the program's name; begins with guard_word.
std::vector<std::string> guard_words(const GuardSettings& settings);
tl::expected<GuardSettings, std::string> guard_settings(const std::vector<std::string>& words);

}  // namespace bullring
