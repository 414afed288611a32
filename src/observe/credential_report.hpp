// The members' credentials, as they say them, put together: which of two is still used, and by
// whom, while one replaces the other. Pure: no sockets, no clock.
#pragma once

#include <string>
#include <vector>

#include "src/observe/node_answer.hpp"

namespace bullring {

/// A line for each difference between the members, and for each connection that is older than what
/// its members have now. Nothing: there is none.
std::vector<std::string> credential_differences(const std::vector<MemberAnswer>& members);

/// Reasons to keep the key with this ID, as this node sees it: those who would not be let in
/// without. Nothing: nobody, or the node does not have the key.
std::vector<std::string> needs_of_key(const NodeAnswer& node, const std::string& key_id);

}  // namespace bullring
