// One node's part of the JSON of `bullring status --json`, as the text that answers an
// OBSERVE{STATUS}. Pure: everything is handed in; it reads no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/values/membership.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/view.hpp"
#include "src/node/report/task_record.hpp"
#include "src/security/shown_credential.hpp"

namespace bullring {

/// The role in the words of the interface: leader, follower or candidate.
const char* shown_role(protocol::Role role);

struct StatusInput {
    protocol::View view;
    std::string cluster;
    protocol::Algorithm algorithm = protocol::Algorithm::bully;
    protocol::QuorumMode quorum = protocol::QuorumMode::majority;
    std::string address;     // this node's own, as in its peer list: "host:port"
    std::string advertised;  // this node's own --advertise
    protocol::Priority priority;
    std::string mode = "node";        // what the node is part of
    std::optional<ShownTask> task{};  // none: not known now
    std::int64_t uptime_ms = 0;
    std::string version;
    std::string commit;                              // that it was built from; empty: not known
    std::uint16_t wire = protocol::version_highest;  // the highest version that it speaks
    std::string security;                            // the mode
    bool security_migrates = false;                  // who has none is let in, too
    std::int64_t certificate_not_after = 0;  // in seconds since 1970; 0: it has no certificate
    OwnCredential credential;
    SessionCredentials sessions;
    std::uint64_t events_lost = 0;  // that are missing in its event stream
    std::string asked_from;         // the observer's address as this node sees it; empty: unknown
};

struct NodeOptions;
/// The facts that do not change while the node runs; no leader among them.
StatusInput status_facts(const NodeOptions& options);

/// {"cluster":…,"algorithm":…,"quorum":…,"votes":…,"members":[…],"asked_from":…,"node":{"id":…,…}}
/// on one line; "node" has the keys of one element of "nodes" in bullring-status(1), in their
/// order, and "votes" is false while the node is silent after a restart, and once it is removed. A
/// key may be added without a new wire version: a reader takes the keys that it knows. Bytes that
/// are not UTF-8 are replaced, so that the answer is always JSON.
std::string node_status_json(const StatusInput& input);

}  // namespace bullring
