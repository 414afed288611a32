// The leader as this node knows it: by its own promise, by what others say, and with quorum none by
// the leader's own word (PROTOCOL §6, §10).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// Its own leadership, or another's that it has promised to, or that its holder has reported.
LeaderView first_hand(const Parts& node, Instant now);
/// The leader according to peers that know it first-hand.
LeaderView second_hand(const Parts& node, Instant now);
bool leader_known(const Parts& node, Instant now);
/// Of which leader its heartbeats speak.
LeaderView told_to_peers(const Parts& node, Instant now);
/// How long a node to which this leader is reported may believe it.
Duration view_left(const Parts& node, Instant now, const LeaderView& view);
/// That peer has answered that somebody leads.
void adopt_view(Parts& node, Step& step, Index from, const LeaderView& view);
/// Another leads: nothing to stand back for, and no call to answer.
void note_other_leads(Parts& node);
/// A leader whose renewals this node grants vouches for those that it hears (§6).
void note_voucher(Parts& node, Instant now);

}  // namespace bullring::protocol
