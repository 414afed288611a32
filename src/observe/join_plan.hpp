// Owns: what a node that joins has to ask the members for, and what is in its way, by their answers
// to `status`. Pure. The joiner acts by it; `doctor` tells it, and asks for nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "protocol/values/member_change.hpp"
#include "protocol/values/membership.hpp"
#include "src/observe/status_report.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

struct Obstacle {
    std::string what;
    std::string remedy;  // empty: nothing but to wait
};
/// "WHAT; REMEDY"
std::string to_text(const Obstacle& obstacle);

/// By its state directory.
struct KnownCluster {
    protocol::Membership list;  // empty: the node has none yet
    protocol::ClusterId id;     // 0: it does not know it
    bool removed = false;       // somebody has removed it from the list
};

/// By its data directory, of which `file` is the state file; none: nothing.
KnownCluster known_by(const std::optional<protocol::Durable>& file, const NodeOptions& options);

/// The node that would join.
struct JoiningNode {
    const NodeOptions& options;
    protocol::Incarnation run;  // 0: it does not run yet
    const KnownCluster& known;
};

struct JoinPlan {
    std::vector<MemberAnswer> answers;            // of the cluster that it joins
    protocol::Membership list;                    // the newest that they have told
    protocol::ClusterId cluster_id;               // 0: nobody knows it
    std::string address;                          // at which the others are to dial the node
    std::vector<protocol::MemberChange> changes;  // empty: it has what it wants
    bool was_removed = false;                     // by somebody who alone may have it added again
};

/// PROTOCOL C9.2: voters are never forgotten, and with --forget-after 0 nobody is.
bool is_forgotten_never(const protocol::MemberEntry& member, const NodeOptions& options);

/// How a node that was removed is added again.
std::string added_again_by(const NodeOptions& options, const std::string& address);

/// Whom it asks: those of --join, and those of whom these lists tell.
std::vector<Endpoint> asked_to_join(const NodeOptions& options,
                                    const std::vector<protocol::Membership>& lists);

tl::expected<JoinPlan, Obstacle> plan_joining(const JoiningNode& node,
                                              const std::vector<MemberAnswer>& answers);

/// In what a node with these options and this directory differs from a member, so that the two
/// would refuse each other.
std::vector<Obstacle> settings_that_differ(const NodeOptions& options, const KnownCluster& known,
                                           const NodeAnswer& member);

}  // namespace bullring
