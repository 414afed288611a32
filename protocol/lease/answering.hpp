// Lease requests that come, and their answers (PROTOCOL R2): at once, when the promise has ended,
// or when the disk has written.
#pragma once

#include <optional>

#include "protocol/lease/vote.hpp"

namespace bullring::protocol {

void on_coordinator(Parts& node, Step& step, const AcceptedSession& from,
                    const Coordinator& request);
/// One that the algorithm carries. nullopt: it wants no answer.
std::optional<Vote> on_request(Parts& node, Step& step, const LeaseRequest& request);
/// R2.8
void serve_parked(Parts& node, Step& step);
void serve_waiting(Parts& node, Step& step);

}  // namespace bullring::protocol
