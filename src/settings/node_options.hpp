// All that `bullring node` needs to know, after the command line, the environment and the file have
// been read and found sound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/config.hpp"
#include "src/base/log/log_options.hpp"
#include "src/base/os/local_socket.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/settings/security_options.hpp"

namespace bullring {

enum class AttachMode { on, off };

const char* name(AttachMode mode);

enum class RealtimeMode { on, off, automatic };

const char* name(RealtimeMode mode);

/// The time allowed for on-deposed after the command.
inline constexpr protocol::Duration hook_time = protocol::seconds(2);

struct HookCommands {
    std::string on_elected;
    std::string on_deposed;
    std::string on_change;
    bool any() const { return !on_elected.empty() || !on_deposed.empty() || !on_change.empty(); }
};

struct HealthOptions {
    std::string command;  // empty: none
    protocol::Duration interval = protocol::seconds(5);
    protocol::Duration timeout = protocol::seconds(2);
    std::int64_t failures = 3;  // in a row, before the node counts as unhealthy
};

/// Where HTTP is served: at an address, by a Unix socket, or not at all.
struct HttpOptions {
    Endpoint address;          // port 0: none
    std::string socket;        // its path; empty: none
    bool open_to_all = false;  // read-only, and not on loopback alone
    std::string token_file;    // whose tokens may change something; empty: none
    bool any() const { return address.port != 0 || !socket.empty(); }
};

/// Whether processes of this machine may hold a leadership through the node, and which.
struct AttachOptions {
    AttachMode mode = AttachMode::on;
    std::optional<SocketGroup> group;  // its members', too; none: the owner's alone
};

/// A file that a node believes and that others may change.
struct LooseFile {
    std::string subject;
    std::string what;
    std::string remedy;
};

struct NodeOptions {
    std::string mode = "node";  // what it is part of: the subcommand, or "library"
    protocol::Config config;
    protocol::Profile profile = protocol::Profile::lan;
    PeerList peers;
    Endpoint listen;
    std::vector<Endpoint> join;  // whom it asks to be added, in place of founding; empty: nobody
    Endpoint join_as;            // where the others are to dial it then; port 0: where it listens
    bool voter = false;          // it asks for a vote, too
    std::string data_dir;
    std::string events_file;  // empty: none; "-": stdout
    std::string trace_file;   // empty: none
    HttpOptions http;
    AttachOptions attach;
    SecurityOptions security;
    HookCommands hooks;
    HealthOptions health;
    RealtimeMode realtime = RealtimeMode::automatic;
    protocol::Duration hang_after{0};  // 0: a leader that stands still is left to its lease
    bool allow_drill = false;          // it may be asked to crash, to hang and to be cut off
    LogOptions log;
    std::vector<std::string> start_notes;  // lines for the log (even peer list, quorum none …)
    std::vector<LooseFile> loose_files;
};

}  // namespace bullring
