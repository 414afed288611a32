// Owns: the HTTP endpoint's copy of its node's state, which the node's loop makes after a step, and
// the end of the node's own lease, which is read at the moment of the answer.
#pragma once

#include <string>

#include "protocol/values/time.hpp"
#include "src/node/observers/status_json.hpp"
#include "src/watch/lease_page.hpp"

namespace bullring {

struct NodeState {
    protocol::Instant at = protocol::long_ago;  // of `status`
    protocol::Instant started_at = protocol::long_ago;
    StatusInput status;
    bool sound = true;  // false: something has to be mended, which the view says

    /// Of the lease of the leader that it follows, when nothing more is heard until `now`.
    protocol::Duration lease_left(protocol::Instant now) const {
        const protocol::Duration left = status.view.lease_left - protocol::elapsed(at, now);
        return left.ns > 0 ? left : protocol::Duration{0};
    }
};

/// The inputs of an answer.
struct AtTheMoment {
    const NodeState& node;
    LeaseSnapshot lease;  // its own
    protocol::Instant now;
    bool loop_turns = true;

    /// It leads, by its lease, and by nothing else.
    bool leads() const { return lease.epoch && protocol::lease_valid(now, lease.deadline); }
    /// Another one, whose lease is live as far as is known here.
    bool follows() const;
    /// It leads or follows, and nothing has to be mended.
    bool is_ready() const { return knows_leader() && node.sound; }
    /// It leads or follows.
    bool knows_leader() const { return leads() || follows(); }
    protocol::NodeId leader() const;
    /// Of that leader; the highest that was seen when there is none.
    protocol::Epoch epoch() const { return leads() ? lease.epoch : node.status.view.epoch; }
    /// Why this node is what it is, for people.
    std::string why() const;
    /// Of that leader; empty when there is none.
    std::string advertised() const;
    /// Of the leader's lease.
    protocol::Duration lease_left() const;
};

}  // namespace bullring
