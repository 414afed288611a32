// A node's answer to `status`, read back, and what came of asking a member.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/identity.hpp"
#include "protocol/values/ids.hpp"
#include "protocol/values/membership.hpp"
#include "src/node/report/task_record.hpp"
#include "src/security/shown_credential.hpp"

namespace bullring {

/// One node's answer about itself (status_json.hpp), read back.
struct NodeAnswer {
    std::string cluster;
    std::string algorithm;
    std::string quorum;
    bool votes = true;  // not silent after a restart; true where the node does not say
    protocol::NodeId id;
    std::string advertised;
    std::string role;
    protocol::NodeId leader;  // `nobody`: it knows none
    protocol::Epoch epoch;
    std::int64_t lease_left_ms = 0;
    protocol::NodeId promised_to;
    std::vector<protocol::NodeId> peers_up;
    std::string why;
    std::int64_t uptime_ms = 0;
    std::string version;
    std::string commit;
    std::uint64_t wire = 1;  // the highest version of the messages that it speaks; not sent: 1
    /// Of members, as it holds for the node; empty: not sent, as by 0.1.0. Its slots are not the
    /// node's.
    protocol::Membership list;
    std::vector<protocol::NodeId> founders;  // of that list; empty: not sent, or it has none yet
    protocol::ClusterId cluster_id;          // 0: not sent, or it does not know it
    std::map<protocol::NodeId, std::uint64_t> wire_with;  // that it speaks with each member
    std::string security;                                 // none, key or tls
    bool security_migrates = false;                       // who has none is let in, too
    std::uint64_t events_lost = 0;                        // that are missing in its event stream
    std::string certificate_not_after;                    // RFC 3339; empty: it has none
    OwnCredential credential;                             // empty: not sent, or it has none
    SessionCredentials sessions;
    std::optional<protocol::Priority> priority;  // none: not sent, as by 0.1.0
    std::optional<bool> eligible;                // it could lead; none likewise
    std::optional<bool> healthy;                 // as its health check has it
    std::string wrong;                           // what has to be mended there; empty: nothing
    std::string mode;                            // what it is part of; empty: not sent
    std::optional<ShownTask> task;               // what it does as the leader
    std::vector<protocol::NodeId> members;       // of that list; empty: not sent
    std::string asked_from;  // the asker's address as the node sees it; empty: not sent

    /// It names a leader, and that leader's lease is live as far as it knows. With quorum none
    /// there are no leases.
    bool follows_live_leader() const;
};

/// The error names what is missing or wrong.
tl::expected<NodeAnswer, std::string> parse_node_answer(const std::string& json);

/// Where a list of members has somebody, and what came of asking there.
struct ListedAddress {
    std::string address;
    std::string problem;  // why it is not reached there, for people; empty: it is
    bool operator==(const ListedAddress&) const = default;
};

/// A member, of the peer list or of a list of members that was told, and what came of asking it.
struct MemberAnswer {
    protocol::NodeId id;
    std::string address;                  // as dialled
    std::optional<NodeAnswer> answer;     // nullopt: not reachable
    std::string problem;                  // why it is not, for people
    bool refused = false;                 // somebody is there, but not the member of this cluster
    protocol::Incarnation incarnation{};  // of the process that has answered
    /// Where the newest list has another address of it: that one was asked, too.
    std::optional<ListedAddress> listed{};
};

}  // namespace bullring
