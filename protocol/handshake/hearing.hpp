// Sessions from which a peer is heard, and their ends (PROTOCOL §3, §6).
#pragma once

#include <optional>

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// The peer and run behind an accepted session, and that it was heard; nullopt: not (any more) a
/// session from which messages are taken.
std::optional<AcceptedSession> sender_of(Parts& node, Step& step, SessionId session);
void on_heartbeat(Parts& node, Step& step, const AcceptedSession& from, const Heartbeat& heartbeat);
void on_session_ended(Parts& node, Step& step, const SessionEnded& event);
void on_died(Parts& node, Step& step, const Died& event);

}  // namespace bullring::protocol
