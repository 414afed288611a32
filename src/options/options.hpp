// Turns the command line, the environment and the configuration file into the options of a
// subcommand.
// Nothing here acts on it, and nothing here writes to a stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/options/credential_options.hpp"
#include "src/options/flags.hpp"
#include "src/options/node_options.hpp"
#include "src/wire/observer_messages.hpp"

namespace bullring {

/// A program and its arguments; executed as it is, not by a shell.
using Command = std::vector<std::string>;

/// What a node does when its command has ended by itself.
enum class OnExit { stay, vote, leave };
const char* name(OnExit on_exit);

/// To which the restart delay doubles.
inline constexpr protocol::Duration restart_delay_max = protocol::seconds(60);

/// How long the holder of an address may take to end: it has nothing to do but that.
inline constexpr protocol::Duration holder_ends_in = protocol::milliseconds(10);
inline constexpr protocol::Duration holder_restart_delay = protocol::milliseconds(100);
/// To which that doubles while the holder says that it cannot hold the address.
inline constexpr protocol::Duration holder_restart_delay_max = protocol::seconds(1);

/// Of `run`, and of `address`, whose command is addresses.
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
};

/// How long before the end of a lease nothing of a command may be left: what killing it may take on
/// a busy machine. `lease`: without the time that the command gets.
constexpr protocol::Duration kill_safety(protocol::Duration lease) {
    return std::clamp(lease / 5, protocol::milliseconds(20), protocol::milliseconds(100));
}

/// What `doctor` looks at: what a member's command would be started with.
struct DoctorOptions {
    NodeOptions node;
    Command command;                           // of `run`; of `address`, its addresses
    std::string device;                        // of `address`
    std::vector<std::string> wrong_variables;  // a sentence for each that sets nothing
    bool strict = false;                       // a warning is a failure, too
    bool json = false;
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

/// What `status`, `watch`, `resign` and `drill` have in common. The peer list is never empty.
struct ObserverOptions {
    PeerList peers;
    std::string cluster = "bullring";
    SecurityOptions security;
    LogOptions log;
};

struct StatusOptions : ObserverOptions {
    bool json = false;
    bool wait = false;  // until a majority agrees on one live leader, for at most `timeout`
    protocol::Duration timeout = protocol::seconds(1);
};

struct WatchOptions : ObserverOptions {
    bool text = false;  // lines for people
};

struct ResignOptions : ObserverOptions {
    /// Not empty: the node with this data directory is asked and no other; `peers` are not known.
    std::string data_dir;
    protocol::NodeId to;  // `nobody`: the leader may choose; otherwise one of `peers`
    protocol::Duration timeout = protocol::seconds(5);
};

struct DrillOptions : ObserverOptions {
    // At least one of them.
    std::optional<protocol::Duration> time;  // no round begins later than that
    std::optional<std::int64_t> rounds;
    std::vector<DrillRequest> faults;  // in turn; at least one
    protocol::Duration every = protocol::seconds(10);
    bool json = false;
};

/// With neither a time nor a number of rounds: each of the four faults five times.
inline constexpr std::int64_t drill_rounds = 20;
/// Of fewer members those without the leader are no majority.
inline constexpr std::size_t drill_members_min = 3;

struct AuditOptions {
    std::vector<std::string> files;  // at least one; "-" is stdin
    protocol::Duration clock_error = protocol::milliseconds(10);
    bool json = false;
    bool strict = false;  // it has to be proved
    LogOptions log;
};

/// What `--help` or `--version` ask for; goes to stdout.
struct Information {
    std::string text;
};

/// All that is wrong, one sentence each, with the offending value and what would be right.
struct UsageProblems {
    std::vector<std::string> problems;
    // Given nevertheless; only the system can say whether these programs exist.
    Command command;
    std::string health_cmd;
};

using ParsedOptions =
    std::variant<NodeOptions, RunOptions, DoctorOptions, LeadOptions, StatusOptions, WatchOptions,
                 ResignOptions, DrillOptions, AuditOptions, KeyOptions, CertOptions, Information,
                 UsageProblems>;

/// `arguments` without the program's name. The command line wins over the environment, the
/// environment over the file. Reads the files that `--config` and `--peers @FILE` name, no others.
ParsedOptions parse_options(const std::vector<std::string>& arguments,
                            const Environment& environment);

}  // namespace bullring
