// Describes the actions of a node, for people who read a path. Nothing depends on the words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/values/actions.hpp"

namespace bullring::sim::explore {

/// Adds a line, or none for what is dull. `now` is the node's own clock.
void tell_action(std::vector<std::string>& lines, std::size_t node, protocol::Instant now,
                 const protocol::Action& action);

}  // namespace bullring::sim::explore
