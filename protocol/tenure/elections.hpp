// When a member begins an election (PROTOCOL §7).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// It may campaign, and §7's: no leader known, quorum-connected, not waiting after an attempt.
bool may_start(const Parts& node, Instant now);
/// The epoch that a candidacy would have now needs no write.
bool next_epoch_durable(const Parts& node);
/// True when the selector has to campaign now, whatever it was doing: a RESIGN has named this node,
/// an epoch was refused as too low, or the epoch that it wanted is durable now.
bool answer_call(Parts& node, Step& step);
void say_election_started(const Parts& node, Step& step, const char* reason);
/// Follows what is known of a leader and of a majority: the stagger begins with a loss.
void advance_elections(Parts& node, Instant now);

}  // namespace bullring::protocol
