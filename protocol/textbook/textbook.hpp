// Quorum none (PROTOCOL §10): the algorithms as they stand in the textbooks, without a majority, a
// promise or a lease. A leader is who says so, and the highest that is heard is believed. It is for
// those who want to see what goes wrong then; nothing here is fenced. Whom such a node follows says
// tenure/leaders.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol::textbook {

/// It leads from now on, and says so by the answer.
std::optional<Coordinator> campaign(Parts& node, Step& step);
void on_announcement(Parts& node, Instant now, Index leader, Epoch epoch);
void greet(Parts& node, Step& step, Index i);
/// It gives way to a higher one that leads, too.
void advance(Parts& node, Step& step);

}  // namespace bullring::protocol::textbook
