// Owns: the course of `resign`. It finds the leader, asks it to hand over, asks again while it
// refuses, waits until another one is in place, and knows at each point what to say when the time
// is up. The members and the clock are its caller's (AskedCluster). Prints nothing.
#pragma once

#include <asio/awaitable.hpp>

#include "protocol/values/ids.hpp"
#include "protocol/values/time.hpp"
#include "src/observe/asked_cluster.hpp"

namespace bullring {

/// `successor`: `nobody` when the leader may choose. `timeout` is only printed.
asio::awaitable<Outcome> resign_leader(AskedCluster& members, protocol::NodeId successor,
                                       protocol::Duration timeout);

}  // namespace bullring
