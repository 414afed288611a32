// The ends of sessions, and the dialler's close rule (PROTOCOL §3). A dialled session to which a
// counted grant is tied is never closed here: its FIN would release a promise.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

/// It is of no more use: it is closed at once, or lingers for as long as a grant is tied to it.
void give_up_dialled(Parts& node, Step& step, DialledSession& session, SessionEnd how);
void close_lingering(Parts& node, Step& step);
/// Our own close, which releases nothing (R4.2); what is still to come on it is not read.
void close_accepted(Parts& node, Step& step, const AcceptedSession& session,
                    SessionEnd as = SessionEnd::overflow);
/// All that this peer has dialled.
void close_all_accepted(Parts& node, Step& step, Index i);
/// It is out of the table already. R4: its end may release a promise.
void end_accepted(Parts& node, Step& step, const AcceptedSession& session, SessionEnd how);
/// Closes the sessions that this node has dialled there, as one that needs none of them may.
void dial_again(Parts& node, Step& step, Index i);
/// Nobody is dealt with there any more.
void end_all_sessions(Parts& node, Step& step, Index i);

/// The newest word of that run comes on this session.
void listen_to(Parts& node, const AcceptedSession& session);
/// That peer is heard no more.
void note_end(Parts& node, Instant now, Index i, PeerDownReason told);
/// The process of that node, the last leader, as far as is known here; one that was started anew
/// has ended, too.
bool has_ended(const Parts& node, NodeId id);

}  // namespace bullring::protocol
