// The reasons that keep a member from standing, and those who stand beside it (PROTOCOL §7).
#pragma once

#include <cstdint>

#include "protocol/parts.hpp"

namespace bullring::protocol {

bool quorum_connected(const Parts& node, Instant now);
/// And so many of those do not say that they are silent that their votes would be a majority.
bool majority_votes(const Parts& node, Instant now);
bool eligible(const Parts& node, Instant now);
/// So many refuse a lease as long as its own that no majority is left to grant it.
bool lease_refused(const Parts& node, Instant now);
/// Until when a process with the same id elsewhere may have votes that count, as peers report
/// (R6.14).
Instant twin_over(const Parts& node);
/// R6: grants nothing, not even to itself, and does not stand.
bool silent(const Parts& node, Instant now);
/// A promise of its own binds it, to another or to itself.
bool bound(const Parts& node, Instant now);
/// R1's conditions.
bool may_campaign(const Parts& node, Instant now);
/// How many of higher rank are connected and may stand: each is left a stagger.
std::int64_t higher_connected(const Parts& node, Instant now);

}  // namespace bullring::protocol
