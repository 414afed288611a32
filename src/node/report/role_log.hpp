// Owns: the log's lines about who leads: one for each change of this node's role and of the leader
// that it follows, with node, epoch, old and new leader and the reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/values/actions.hpp"
#include "src/base/log/logging.hpp"
#include "src/node/leaders/leader_log.hpp"

namespace bullring {

/// The change of one step, for this node.
struct RoleChange {
    protocol::Role role = protocol::Role::follower;
    protocol::Role old_role = protocol::Role::follower;
    protocol::NodeId leader;
    protocol::NodeId old_leader;
    protocol::Epoch epoch;
    std::string reason;
    std::optional<protocol::Duration>
        gap;  // since somebody led, with a leader that is not the first

    std::string text() const;
    LogFields fields() const;
};

class RoleLog {
public:
    explicit RoleLog(protocol::NodeId self) : self_(self) {}

    /// The actions of one step, after they have been carried out, and what LeaderLog has made of
    /// it.
    void note(const std::vector<protocol::Action>& actions, const std::vector<LeaderTurn>& turns);
    /// The change that is to be logged, if there is one.
    std::optional<RoleChange> change(const std::vector<protocol::Action>& actions,
                                     const std::vector<LeaderTurn>& turns);

private:
    protocol::NodeId self_;
    protocol::Role role_ = protocol::Role::follower;  // stepping_down is shown as follower
    protocol::NodeId leader_;
    protocol::Epoch epoch_;
    std::string reason_;  // the last that was given
    bool removed_ = false;
};

}  // namespace bullring
