// Owns: who the members are at a node's start, and where they are dialled. The list is the state
// file's where there is one, and `--peers` says how this node reaches them. While it runs the list
// changes.
#pragma once

#include <functional>
#include <string>

#include "protocol/values/membership.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

/// Makes `file`, the list in the state file, the members of `options`. Addresses that `--peers`
/// gives come before those of the list. What differs between the two, for the log; empty: nothing.
std::string take_members(const protocol::Membership& file, NodeOptions& options);

/// Where this node can be dialled, as it says in its HELLOs: at its own entry; at the address where
/// it is seen, if that has a name, which means something else elsewhere, or says no address.
std::string said_address(const NodeOptions& options);

/// Where the members of a list are dialled while the node runs.
class DialledMembers {
public:
    DialledMembers(protocol::NodeId self, PeerList peers, protocol::Membership members)
        : self_(self), peers_(std::move(peers)), members_(std::move(members)) {}

    /// This node's own entry included.
    const PeerList& peers() const { return peers_; }
    const protocol::Membership& members() const { return members_; }

    /// From now on `list`. An address that has changed since the last list holds at once; one that
    /// the first list differs in, where the member is not `connected` at the one that `--peers`
    /// gave. What is wrong with it, for the log; empty: nothing.
    std::string follow(const protocol::Membership& list,
                       const std::function<bool(protocol::NodeId)>& connected);

private:
    protocol::NodeId self_;
    PeerList peers_;
    protocol::Membership members_;
};

}  // namespace bullring
