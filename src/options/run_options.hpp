// All that `bullring run` and `bullring lead` need to know, after the command line, the environment
// and the file have been read and found sound.
#pragma once

#include <algorithm>
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

/// To which the restart delay doubles.
inline constexpr protocol::Duration restart_delay_max = protocol::seconds(60);

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
    // If they are given, the node in that directory has to be this one.
    std::optional<std::uint64_t> id;
    std::optional<std::string> cluster;
    Command command;
    protocol::Duration wait{0};  // for the local node to lead
    protocol::Duration kill_after = protocol::seconds(2);
    LogOptions log;
};

/// How long before the end of a lease nothing of a command may be left: what killing it may take on
/// a busy machine. `lease`: without the time that the command gets.
constexpr protocol::Duration kill_safety(protocol::Duration lease) {
    return std::clamp(lease / 5, protocol::milliseconds(20), protocol::milliseconds(100));
}

}  // namespace bullring
