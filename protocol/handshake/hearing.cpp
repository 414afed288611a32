#include "protocol/handshake/hearing.hpp"

#include "protocol/lease/campaign.hpp"
#include "protocol/sessions/ends.hpp"

namespace bullring::protocol {

void on_session_ended(Parts& node, Step& step, const SessionEnded& event) {
    if (DialledSession* session = node.sessions.dialled(event.session)) {
        give_up_dialled(node, step, *session, event.how);
        return;
    }
    if (const AcceptedSession* found = node.sessions.accepted(event.session)) {
        const AcceptedSession session = *found;
        node.sessions.remove_accepted(session.id);
        end_accepted(node, step, session, event.how);
    }
}

// N3.5: our own close releases nothing (R4.2), and what is still to come on the session is not
// read.
void on_died(Parts& node, Step& step, const Died& event) {
    const auto index = node.setup.members().index(event.id);
    if (!index || *index == node.me() || node.config().fast_release != FastRelease::notice) return;
    node.peers.bury(*index, event.incarnation, step.now);
    // A candidate that stood in vain, the promises not being over yet, waits no longer.
    if (node.voter.on_died({event.id, event.incarnation}) && node.tenure.follows())
        node.election_timer.retry_at(step.now);
    while (const AcceptedSession* found = node.sessions.newest_accepted(*index, event.incarnation))
        close_accepted(node, step, *found, SessionEnd::eof);
    Peer& peer = node.peers[*index];
    if (peer.incarnation != event.incarnation) return;
    peer.lost_until = long_ago;
    note_end(node, step.now, *index, PeerDownReason::eof);
    // N3.6: its sessions may have ended before, and who stands since then waits for this word.
    node.peers.note_gone(*index, node.max_seen, step.now);
}

namespace {

bool is_heard_on(const Parts& node, const AcceptedSession& session, Instant now) {
    const Peer& peer = node.peers[session.peer];
    // Late bytes of an older session do not bring back what its end has cleared; a session that
    // goes on when nothing else of that run is heard does.
    if (due(now, peer.heard_at + node.peers.silence_allowed(session.peer))) return true;
    const AcceptedSession* current = node.sessions.accepted(peer.accepted);
    return current != nullptr && (!current->spoke || current->number <= session.number);
}

}  // namespace

std::optional<AcceptedSession> sender_of(Parts& node, Step& step, SessionId id) {
    AcceptedSession* session = node.sessions.accepted(id);
    if (session == nullptr) return std::nullopt;
    session->spoke = true;
    Peer& peer = node.peers[session->peer];
    if (session->incarnation == peer.incarnation && is_heard_on(node, *session, step.now))
        listen_to(node, *session);
    if (peer.accepted == id) {
        peer.heard_at = step.now;
    } else if (!node.peers.heard(session->peer, step.now) &&
               session->incarnation != peer.incarnation) {
        // The process that we last listened to is gone, perhaps without a FIN, and another one of
        // its id talks on: it was here first and would not be heard for as long as its session
        // lasts. It says HELLO again on a new one; our own close releases nothing.
        close_accepted(node, step, *session);
        return std::nullopt;
    }
    return *session;
}

void on_heartbeat(Parts& node, Step& step, const AcceptedSession& from,
                  const Heartbeat& heartbeat) {
    // Late bytes of an older session would bring back what its end has cleared.
    if (node.peers[from.peer].accepted != from.id) return;
    node.learn_epoch(step.now, heartbeat.max_seen);
    const bool believed = node.learn_epoch(step.now, heartbeat.leader_epoch);
    const bool was_recovering = node.peers[from.peer].heartbeat.recovering;
    node.peers.on_heartbeat(step.now, from.peer, heartbeat, believed);
    // The peer could not answer while it was recovering, so it is asked again.
    if (was_recovering && !heartbeat.recovering) greet(node, step, from.peer);
}

}  // namespace bullring::protocol
