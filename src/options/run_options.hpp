// All that `bullring run` and `bullring lead` need to know, after the command line, the environment
// and the file have been read and found sound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/options/node_options.hpp"

namespace bullring {

/// A program and its arguments; executed as it is, not by a shell.
using Command = std::vector<std::string>;

/// What a node does when its command has ended by itself.
enum class OnExit { stay, vote, leave };

struct RunOptions {
    NodeOptions node;
    Command command;
    protocol::Duration kill_after = protocol::seconds(2);  // from SIGTERM to SIGKILL
    OnExit on_exit = OnExit::stay;
    protocol::Duration restart_delay = protocol::seconds(1);
    std::optional<std::int64_t> max_restarts;  // none: as often as it ends
    protocol::Duration stall_after{0};         // 0: progress is not watched
};

struct LeadOptions {
    std::string data_dir;
    Command command;
    protocol::Duration wait{0};  // for the local node to lead
    protocol::Duration kill_after = protocol::seconds(2);
    LogOptions log;
};

/// How long before the end of a lease nothing of a command may be left: what killing it may take.
inline constexpr protocol::Duration kill_safety = protocol::milliseconds(20);

}  // namespace bullring
