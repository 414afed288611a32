// The id of the cluster (PROTOCOL C11): whom a node believes, and whom it leaves that learns it.
#pragma once

#include <optional>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// C12.2: of one that was asked, or that asks.
bool may_take_list_of(const Parts& node, Index from, const std::optional<Identity>& named);
void note_list_refused(Parts& node, Step& step, Index from, const Tag& tag);

/// Of those that have answered a node without a file: it can go on with them only if they are of
/// one cluster (C11.5). nullopt: they are not.
std::optional<ClusterId> answered_id(const Parts& node);
/// C11.5: of a leader that tells a list.
bool is_of_answered_cluster(const Parts& node, Index from, const std::optional<Identity>& named);
/// C11.5: that a node goes on with whose disk is lost. Where too few have heard yet that it is
/// settled, it is the one that a leader would give: one of those that answer has it.
Identity answered_identity(const Parts& node);

void learn_identity(Parts& node, Step& step, const Identity& told);
/// C12.2: as one that is given: it is no leader's word.
void learn_with_list(Parts& node, Step& step, const std::optional<Identity>& named);

/// C11.4: two of which one did not know its cluster yet have agreed when they met.
bool is_stranger(const Parts& node, Index i);
/// They meet anew, and refuse each other.
void part_with(Parts& node, Step& step, Index i);
/// C11.9: this node has learned its id.
void part_with_strangers(Parts& node, Step& step);

}  // namespace bullring::protocol
