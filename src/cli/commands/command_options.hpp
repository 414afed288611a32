// The options of each subcommand, as its body reads it out of the request. The options of
// members and of a drill are elsewhere: src/settings/node_options.hpp, run_options.hpp,
// src/verify/drill.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/values/member_change.hpp"
#include "protocol/values/names.hpp"
#include "src/observe/observer_options.hpp"
#include "src/settings/run_options.hpp"

namespace bullring {

struct LeadOptions {
    std::string data_dir;
    // If they are given, the node in that directory has to be this one.
    std::optional<std::uint64_t> id;
    std::optional<std::string> cluster;
    Command command;
    protocol::Duration wait;  // for the local node to lead
    protocol::Duration kill_after;
    LogOptions log;
};

struct StatusOptions : ObserverOptions {
    bool json = false;
    bool wait = false;  // until a majority agrees on one live leader, for at most `timeout`
    protocol::Duration timeout;
};

struct WatchOptions : ObserverOptions {
    bool text = false;  // lines for people
};

/// Of those who may ask the node on this machine alone.
struct AskingOptions : ObserverOptions {
    /// Not empty: the node with this data directory is asked and no other; `peers` are not known.
    std::string data_dir;
};

struct ResignOptions : AskingOptions {
    protocol::NodeId to;  // `nobody`: the leader may choose; otherwise one of `peers`
    protocol::Duration timeout;
};

struct MemberOptions : AskingOptions {
    /// One after the other; empty: the list is only printed.
    std::vector<protocol::MemberChange> changes;
    bool json = false;
    protocol::Duration timeout;
};

struct RefoundOptions {
    protocol::NodeId id;
    std::string cluster;
    std::string data_dir;
    bool others_are_lost = false;  // else nothing is written
};

struct AuditOptions {
    std::vector<std::string> files;  // at least one; "-" is stdin
    protocol::Duration clock_error;
    bool json = false;
    bool strict = false;   // it has to be proved
    bool actions = false;  // nothing is judged
    LogOptions log;
};

enum class KeyAction { make, list, add, use, remove };

struct KeyOptions {
    KeyAction action = KeyAction::make;
    std::string id;    // of `use` and `remove`
    std::string file;  // of all but `make`
    std::string out;   // of `make`; empty: stdout
    // Of `remove`.
    std::string data_dir;  // of the node that has to be asked; empty: all that run here
    bool force = false;    // nobody is asked
};

enum class CertAction { ca, node, admin, observer, show, revoke, crl };

struct CertOptions {
    CertAction action = CertAction::ca;
    std::vector<protocol::NodeId> ids;   // of `node`: at least one
    std::vector<std::string> files;      // of `show` and `revoke`: at least one
    std::optional<std::string> cluster;  // none: that of the CA
    std::string ca;
    std::string out;
    std::optional<std::int64_t> days;
    bool overwrite = false;
};

enum class MemberAction { list, add, remove, promote, demote, address, refound };

constexpr const char* name(MemberAction action) {
    switch (action) {
        case MemberAction::list: return "list";
        case MemberAction::add: return "add";
        case MemberAction::remove: return "remove";
        case MemberAction::promote: return "promote";
        case MemberAction::demote: return "demote";
        case MemberAction::address: return "address";
        case MemberAction::refound: return "refound";
    }
    return protocol::no_name;
}

constexpr const char* name(KeyAction action) {
    switch (action) {
        case KeyAction::make: return "new";
        case KeyAction::list: return "list";
        case KeyAction::add: return "add";
        case KeyAction::use: return "use";
        case KeyAction::remove: return "remove";
    }
    return protocol::no_name;
}

constexpr const char* name(CertAction action) {
    switch (action) {
        case CertAction::ca: return "ca";
        case CertAction::node: return "node";
        case CertAction::admin: return "admin";
        case CertAction::observer: return "observer";
        case CertAction::show: return "show";
        case CertAction::revoke: return "revoke";
        case CertAction::crl: return "crl";
    }
    return protocol::no_name;
}

}  // namespace bullring
