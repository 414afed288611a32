// Owns: who the members are at a node's start, and where they are dialled. The list is the state
// file's where there is one, and `--peers` says how this node reaches them.
#pragma once

#include <string>

#include "protocol/values/membership.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

/// Makes `file`, the list in the state file, the members of `options`. Addresses that `--peers`
/// gives come before those of the list. What differs between the two, for the log; empty: nothing.
std::string take_members(const protocol::Membership& file, NodeOptions& options);

}  // namespace bullring
