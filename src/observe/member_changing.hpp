// Owns: the course of a change of members. It finds the leader, asks it for the change, asks again
// while it refuses or when it is gone, and knows at each point what to say when the time is up. A
// leader that is to be removed hands over first. The members and the clock are its caller's
// (AskedCluster). Prints nothing.
#pragma once

#include <vector>

#include <asio/awaitable.hpp>

#include "protocol/values/identity.hpp"
#include "protocol/values/member_change.hpp"
#include "protocol/values/time.hpp"
#include "src/observe/asked_cluster.hpp"

namespace bullring {

/// One after the other; each is done when a majority has settled the list with it, or when it was
/// so already. Of the cluster with the id `meant`; 0: of that which is reached. `timeout` is only
/// printed.
asio::awaitable<Outcome> change_members(AskedCluster& cluster,
                                        std::vector<protocol::MemberChange> changes,
                                        protocol::Duration timeout, protocol::ClusterId meant = {});

/// "node 4 has a vote", once it is so; ", as before" behind it where nothing had to be changed.
std::string done_text(const protocol::MemberChange& change, bool was_so_before);

}  // namespace bullring
