#include "protocol/sessions/ends.hpp"

#include <vector>

namespace bullring::protocol {

namespace {

/// S1.1: a grant that counts is tied to it. R5.4: until then it stays open, or its FIN would
/// release.
bool keeps_open(const Parts& node, SessionId dialled, Instant now) {
    return !node.tenure.follows() && lease_valid(now, node.holder.lease().tied_until(dialled));
}

/// To people. What a FIN may release is another matter (R4).
PeerDownReason as_told(SessionEnd how) {
    switch (how) {
        case SessionEnd::eof:
        case SessionEnd::truncated: return PeerDownReason::eof;
        case SessionEnd::reset: return PeerDownReason::reset;
        case SessionEnd::timeout: return PeerDownReason::timeout;
        case SessionEnd::protocol:
        case SessionEnd::overflow: break;
    }
    return PeerDownReason::protocol;
}

}  // namespace

void give_up_dialled(Parts& node, Step& step, DialledSession& session, SessionEnd how) {
    Peer& peer = node.peers[session.peer];
    if (peer.dialled == session.id) peer.dialled = no_session;
    // S1.2: a socket in error state can send no FIN any more.
    if (how == SessionEnd::reset || how == SessionEnd::truncated ||
        session.state == DialledState::greeting) {
        step.act(CloseSession{session.id});
        node.sessions.remove_dialled(session.id);
        return;
    }
    session.state = DialledState::lingering;
    close_lingering(node, step);
}

void close_lingering(Parts& node, Step& step) {
    std::vector<SessionId> over;
    for (const DialledSession& session : node.sessions.all_dialled())
        if (session.state == DialledState::lingering && !keeps_open(node, session.id, step.now))
            over.push_back(session.id);
    for (const SessionId id : over) {
        step.act(CloseSession{id});
        node.sessions.remove_dialled(id);
    }
}

void close_accepted(Parts& node, Step& step, const AcceptedSession& closed, SessionEnd as) {
    const AcceptedSession session = closed;  // of the table, that is
    step.act(CloseSession{session.id});
    node.sessions.remove_accepted(session.id);
    end_accepted(node, step, session, as);
}

void close_all_accepted(Parts& node, Step& step, Index i) {
    while (const AcceptedSession* found = node.sessions.any_accepted(i))
        close_accepted(node, step, *found);
}

void end_accepted(Parts& node, Step& step, const AcceptedSession& session, SessionEnd how) {
    // R4.1: an end of file releases. R4.2: no other end does. R4.3: nor where it is not allowed.
    node.voter.on_session_ended(session, how == SessionEnd::eof && session.release_ok, step.now);
    Peer& peer = node.peers[session.peer];
    if (peer.accepted != session.id) return;
    // One that has spoken was the right one, and what is older is of no more use. One that has not
    // may be anybody's.
    if (const AcceptedSession* next =
            node.sessions.newest_accepted(session.peer, session.incarnation);
        next != nullptr && (!session.spoke || next->number > session.number)) {
        listen_to(node, *next);
        return;
    }
    // N4.3: where a notice is to be waited for, a FIN may be anybody's.
    if (how != SessionEnd::eof || node.config().fast_release == FastRelease::notice)
        peer.lost_until = step.now + node.setup.longest_promise();
    peer.has_heartbeat = false;
    peer.view = {};
    note_end(node, step.now, session.peer, as_told(how));
    if (how == SessionEnd::eof) node.peers.note_gone(session.peer, node.max_seen, step.now);
}

void dial_again(Parts& node, Step& step, Index i) {
    std::vector<SessionId> before;
    for (const DialledSession& session : node.sessions.all_dialled())
        if (session.peer == i) before.push_back(session.id);
    for (const SessionId session : before) {
        step.act(CloseSession{session});
        node.sessions.remove_dialled(session);
    }
    node.peers[i].dialled = no_session;
    if (!before.empty()) step.act(DialNow{node.id(i)});
}

// Our own close releases nothing, and what a counted grant is tied to stays open (§3).
void end_all_sessions(Parts& node, Step& step, Index i) {
    if (node.peers[i].up) step.act(PeerDown{node.id(i), PeerDownReason::refused});
    close_all_accepted(node, step, i);
    while (DialledSession* session = node.sessions.dialled_in_use(i))
        give_up_dialled(node, step, *session, SessionEnd::overflow);
}

// The HELLO of another session of that run counts no more: anybody can say HELLO in its name.
void listen_to(Parts& node, const AcceptedSession& session) {
    Peer& peer = node.peers[session.peer];
    if (peer.accepted == session.id) return;
    peer.accepted = session.id;
    peer.introduction = session.introduction;
}

void note_end(Parts& node, Instant now, Index i, PeerDownReason told) {
    Peer& peer = node.peers[i];
    const bool was_heard = node.peers.heard(i, now);
    const bool has_led = node.id(i) == node.reported.last() && !has_ended(node, node.id(i));
    peer.accepted = no_session;
    peer.last_end = told;
    if (!has_led) return;
    // It lived until then, unless it had been silent.
    node.reported.note_sign(was_heard ? now : peer.heard_at);
    if (told == PeerDownReason::eof) node.reported.note_end(peer.incarnation);
}

bool has_ended(const Parts& node, NodeId id) {
    const auto i = node.setup.members().index(id);
    if (!i || *i == node.me() || !node.reported.has_ended()) return false;
    return !node.peers[*i].accepted || node.peers[*i].incarnation != node.reported.ended_run();
}

}  // namespace bullring::protocol
