// Owns: what a node that joins has to ask the members for, and what is in its way, by their answers
// to `status`. Pure. The joiner acts by it; `doctor` tells it, and asks for nothing.
#pragma once

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

/// The node that would join.
struct JoiningNode {
    const NodeOptions& options;
    protocol::Incarnation run;         // 0: it does not run yet
    const protocol::Membership& list;  // its own; empty: it has none yet
};

struct JoinPlan {
    protocol::Membership list;                    // the newest that a member has told
    std::string address;                          // at which the others are to dial the node
    std::vector<protocol::MemberChange> changes;  // empty: it has what it wants
};

/// Whom it asks: those of --join, and those of whom these lists tell.
std::vector<Endpoint> asked_to_join(const NodeOptions& options,
                                    const std::vector<protocol::Membership>& lists);

tl::expected<JoinPlan, Obstacle> plan_joining(const JoiningNode& node,
                                              const std::vector<MemberAnswer>& answers);

/// In what a node with these options and this list differs from a member, so that the two would
/// refuse each other.
std::vector<Obstacle> settings_that_differ(const NodeOptions& options,
                                           const protocol::Membership& list,
                                           const NodeAnswer& member);

}  // namespace bullring
