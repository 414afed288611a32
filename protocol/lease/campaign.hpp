// A candidacy, and the requests of a holder (PROTOCOL R1, R3).
#pragma once

#include <optional>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// A request of this node, and to whom it goes.
struct AddressedRequest {
    Coordinator request;
    MemberSet to;
};

/// R1. The request to be carried to the voters. nullopt: it cannot be now; if only the disk has to
/// be waited for, a call follows.
std::optional<AddressedRequest> campaign(Parts& node, Step& step);
/// A leader's request, with its heartbeat.
Coordinator renewal(const Parts& node, Instant now);
/// A majority may have granted, or more than before.
void grants_changed(Parts& node, Step& step);
/// Ends a candidacy; nothing otherwise.
void abandon(Parts& node, Step& step, Duration wait_at_least);
/// Says again what was broadcast before, to one that has not been asked or could not answer.
void greet(Parts& node, Step& step, Index i);

}  // namespace bullring::protocol
