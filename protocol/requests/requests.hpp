// Requests of users and hosts, and a peer's RESIGN (PROTOCOL R5, §9).
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void on_resign_requested(Parts& node, Step& step, const ResignRequested& event);
void on_resign(Parts& node, Step& step, const AcceptedSession& from, const Resign& resign);
void on_stalled(Parts& node, Step& step);
void on_health_changed(Parts& node, Step& step, const HealthChanged& event);
void on_standing(Parts& node, Step& step, const Standing& event);
void on_stop(Parts& node, Step& step);

}  // namespace bullring::protocol
