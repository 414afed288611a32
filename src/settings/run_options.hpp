// The settings of `run`, and of `address`, whose command is addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/settings/node_options.hpp"

namespace bullring {

/// A program and its arguments; executed as it is, not by a shell.
using Command = std::vector<std::string>;

/// The reaction of a node to the end of its command.
enum class OnExit { stay, vote, leave };
const char* name(OnExit on_exit);

/// To which the restart delay doubles.
inline constexpr protocol::Duration restart_delay_max = protocol::seconds(60);

/// How long the holder of an address may take to end: it has nothing to do but that.
inline constexpr protocol::Duration holder_ends_in = protocol::milliseconds(10);
inline constexpr protocol::Duration holder_restart_delay = protocol::milliseconds(100);
/// To which that doubles while the holder says that it cannot hold the address.
inline constexpr protocol::Duration holder_restart_delay_max = protocol::seconds(1);

struct RunOptions {
    NodeOptions node;
    std::string device;  // not empty: the command is addresses, each a word, to be held on it
    Command command;
    protocol::Duration kill_after = protocol::seconds(2);  // from SIGTERM to SIGKILL
    OnExit on_exit = OnExit::stay;
    protocol::Duration restart_delay = protocol::seconds(1);       // doubled each time
    protocol::Duration longest_restart_delay = restart_delay_max;  // and not beyond this
    /// After an end that it did not bring about itself, the same each time: it says nothing against
    /// the next start, and nobody may lead meanwhile. None: as after any other end.
    std::optional<protocol::Duration> restart_delay_if_killed;
    std::optional<std::int64_t> max_restarts;  // none: as often as it ends
    protocol::Duration stall_after{0};         // 0: progress is not watched
    bool pass_hup = false;                     // SIGHUP is for the command, too
};

/// How long before the end of a lease nothing of a command may be left: what killing it may take on
/// a busy machine. `lease`: without the time that the command gets.
constexpr protocol::Duration kill_safety(protocol::Duration lease) {
    return std::clamp(lease / 5, protocol::milliseconds(20), protocol::milliseconds(100));
}

}  // namespace bullring
