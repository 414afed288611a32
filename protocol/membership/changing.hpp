// A leader changes the list of members, one vote at a time (PROTOCOL C2 to C5).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void on_members_requested(Parts& node, Step& step, const MembersRequested& event);
void manage_list(Parts& node, Step& step);
/// Nobody is known to have the list of that tag.
void forget_who_has(Parts& node, const Membership& one);
/// C8.4: somebody without a vote waits for its list.
bool somebody_is_to_be_told(const Parts& node, Instant now);
/// C5.4: its own disk gets the next list as all others do, by its own request, and only when its
/// vote is the last that is missing: a list that nobody else has dies with its leader.
const Membership& list_for_own_vote(const Parts& node, Instant now);

}  // namespace bullring::protocol
