// Handshakes, the ends of sessions, and the dialler's close rule (PROTOCOL §3). A dialled session
// that the engine needs is never closed here: its FIN would release a promise.
#include <algorithm>
#include <utility>

#include "protocol/member/hello.hpp"
#include "protocol/member/member.hpp"

namespace bullring::protocol {

void Member::on_dialled(Step& step, const Dialled& event) {
    const auto peer = setup_.members().index(event.peer);
    // Under way when it was removed.
    if (!peer || *peer == me()) return step.act(CloseSession{event.session});
    sessions_.add(DialledSession{event.session, *peer, DialledState::greeting, asks_again(),
                                 event.elsewhere});
    Hello hello;
    hello.version_lowest = lowest_with(list());
    hello.version_highest = config().wire_highest;
    hello.cluster = config().cluster;
    hello.members = list().empty() ? config().members.ids() : list().ids();
    if (list().changed()) hello.changed = list();
    hello.quorum = config().quorum;
    hello.algorithm = config().algorithm;
    hello.rho_ppm = timing().rho_ppm;
    hello.id = setup_.self();
    hello.incarnation = setup_.incarnation();
    hello.session = event.session;
    hello.priority = config().priority;
    hello.lease = timing().lease;
    hello.heartbeat_period = timing().heartbeat;
    hello.advertised = config().advertised;
    hello.addresses = event.addresses;
    hello.cluster_id = id_told_to(hello.version_highest, cluster_id());
    hello.listens = config().listens;
    // R4.4: children of hooks may outlive the process, and nobody can tell when they have ended.
    const bool unused =
        !fenced() || config().hooks || (config().fast_release == FastRelease::fin && !config().tie);
    hello.fast_release = unused ? FastRelease::off : config().fast_release;
    if (hello.fast_release == FastRelease::notice) hello.commitment = setup_.commitment();
    fill_hello(hello);
    step.act(Send{event.session, hello});
}

void Member::on_hello(Step& step, const HelloReceived& event) {
    const Hello& hello = event.hello;
    // N3: it lay unread when the run had ended.
    if (peers_.is_buried({hello.id, hello.incarnation}, step.now))
        return step.act(CloseSession{event.session});
    // C12.1: first it is judged.
    if (const auto difference = cluster_difference(hello)) return refuse(step, event, *difference);
    believe(step, {shown_by(hello), hello.shown.value_or(Membership()), hello.cluster_id});
    if (const auto difference = seat_difference(event, step.now))
        return refuse(step, event, *difference);
    const Index index = *setup_.members().index(hello.id);
    Peer& peer = peers_[index];
    if (peer.incarnation != hello.incarnation) {
        peer.has_heartbeat = false;
        peer.heartbeat = {};
        peer.view = {};
        peer.refused = false;  // that was the other run
        if (peer.incarnation != Incarnation{}) peer.many_runs = true;
        if (peer.accepted) peer.lost_until = step.now + setup_.longest_promise();
    } else {
        // The same run is back: it was not gone after all.
        peer.gone_until = long_ago;
    }
    if (hello.recovering) peer.heartbeat.recovering = true;
    if (!has_list(hello)) peer.without_file = hello.incarnation;
    const Membership shown = shown_by(hello);
    peer.tag = shown.tag();
    peer.founders = shown.founders();
    peer.cluster_id = id_told_to(config().wire_highest, hello.cluster_id);
    peer.directory = hello.directory;
    // R4.3: the addresses agree unless something in between rewrites them, and could send a FIN of
    // its own.
    const bool direct = event.addresses.local == hello.addresses.remote &&
                        event.addresses.remote == hello.addresses.local;
    const AcceptedSession session{
        event.session,
        index,
        hello.incarnation,
        hello.session,
        config().fast_release == FastRelease::fin && hello.fast_release == FastRelease::fin &&
            direct,
        Introduction{hello.priority, hello.lease, hello.heartbeat_period, hello.advertised,
                     calls_from(hello.listens, event.addresses.remote)},
        std::min(config().wire_highest, hello.version_highest)};
    peer.incarnation = hello.incarnation;
    // The newest by the dialler's numbers: two sockets may be read in any order, and another
    // process with that id may have been listened to in between.
    const AcceptedSession* newest = sessions_.newest_accepted(index, hello.incarnation);
    listen_to(newest != nullptr && newest->number > hello.session ? *newest : session);
    peer.heard_at = step.now;

    // Half-open ones pile up when its host loses power again and again; closing one here releases
    // nothing.
    if (sessions_.accepted_of(index) >= SessionTable::per_peer_max) {
        close_accepted(step, *sessions_.least_needed(index));
    }
    sessions_.add(session);
    note_run_of(step, index);

    HelloAck ack;
    ack.id = setup_.self();
    ack.incarnation = setup_.incarnation();
    ack.priority = config().priority;
    ack.lease = timing().lease;
    ack.addresses = event.addresses;
    ack.max_seen = max_seen_;
    ack.lease_max = timing().lease_max;
    ack.version = session.version;
    if (list().changed() && ack.version >= version_with_tags) ack.changed = list();
    ack.cluster_id = id_told_to(ack.version, cluster_id());
    answer_hello(step.now, hello, ack);
    step.act(Send{event.session, ack});
    const bool dial = !sessions_.has_dialled_in_use(index);
    std::string also_at;
    if (may_be_dialled_where_it_calls(index)) also_at = session.introduction.calls_from;
    if (dial || !also_at.empty()) step.act(DialNow{hello.id, std::move(also_at)});
    // It waits for its bit in our mask before it counts us as connected.
    send(step, index, heartbeat(step.now));
}

void Member::on_hello_ack(Step& step, SessionId id, const HelloAck& ack) {
    DialledSession* session = sessions_.dialled(id);
    if (session == nullptr || session->state != DialledState::greeting) return;
    const Index index = session->peer;
    Peer& peer = peers_[index];
    if (ack.id != this->id(index)) {
        step.act(HandshakeRefused{this->id(index),
                                  false,
                                  refusal(Difference::id, std::to_string(ack.id.value),
                                          std::to_string(this->id(index).value)),
                                  {}});
        return give_up_dialled(step, *session, SessionEnd::protocol);
    }
    if (ack.version < version_lowest || ack.version > config().wire_highest) {
        step.act(
            HandshakeRefused{this->id(index),
                             false,
                             refusal(Difference::version, versions_text(ack.version, ack.version),
                                     versions_text(version_lowest, config().wire_highest)),
                             {}});
        return give_up_dialled(step, *session, SessionEnd::protocol);
    }
    for (const Membership* mine : {&list(), &newest_list()})
        if (ack.changed && ack.changed->is_of_other_cluster_than(*mine)) {
            step.act(HandshakeRefused{
                this->id(index), false, of_other_cluster(*ack.changed, *mine), {}});
            return give_up_dialled(step, *session, SessionEnd::protocol);
        }
    if (are_of_different_clusters(cluster_id(), ack.cluster_id)) {
        step.act(HandshakeRefused{
            this->id(index), false, of_other_id(ack.cluster_id, cluster_id()), {}});
        return give_up_dialled(step, *session, SessionEnd::protocol);
    }
    session->version = ack.version;
    session->state = DialledState::up;
    if (peer.dialled) {
        if (DialledSession* older = sessions_.dialled(peer.dialled))
            older->state = DialledState::lingering;
    }
    peer.dialled = id;
    if (peer.has_ack && peer.ack.incarnation != ack.incarnation) peer.many_runs = true;
    peer.has_ack = true;
    peer.ack = ack;
    peer.ack_at = step.now;
    if (ack.recovering && !ack.had_file_at_start) peer.without_file = ack.incarnation;
    peer.refused = false;
    peer.answered_again = session->asks_again;
    learn_epoch(step.now, ack.max_seen);
    if (ack.cluster_id) peer.cluster_id = ack.cluster_id;
    believe(step,
            {ack.changed.value_or(Membership()), ack.shown.value_or(Membership()), ack.cluster_id});
    on_ack(step, index, ack);
    send(step, index, heartbeat(step.now));
    // Repeats to this peer what was broadcast before the session was up.
    greet(step, index);
}

void Member::on_refused(Step& step, SessionId id, const Refused& refused) {
    DialledSession* session = sessions_.dialled(id);
    if (session == nullptr || session->state != DialledState::greeting) return;
    const Index index = session->peer;
    peers_[index].refused = true;
    step.act(HandshakeRefused{this->id(index), false, refused, {}});
    give_up_dialled(step, *session, SessionEnd::protocol);
    if (are_of_different_clusters(cluster_id(), refused.cluster_id)) return;
    // R6.14: also of who names no cluster: it may be of this one, and the silence is safe.
    if (is_twin_refusal(refused, setup_.self())) told_of_twin(step, peers_[index]);
    // C12.1: who refuses for another reason has not judged this node to be of its cluster.
    if (refused.list && is_refused_by_list(refused))
        believe(step, {*refused.list, {}, id_told_to(config().wire_highest, refused.cluster_id)});
}

void Member::on_session_ended(Step& step, const SessionEnded& event) {
    if (DialledSession* session = sessions_.dialled(event.session)) {
        give_up_dialled(step, *session, event.how);
        return;
    }
    if (const AcceptedSession* found = sessions_.accepted(event.session)) {
        const AcceptedSession session = *found;
        sessions_.remove_accepted(session.id);
        end_accepted(step, session, event.how);
    }
}

// N3: our own close releases nothing (R4.2), and what is still to come on the session is not read.
void Member::on_died(Step& step, const Died& event) {
    const auto index = setup_.members().index(event.id);
    if (!index || *index == me() || config().fast_release != FastRelease::notice) return;
    peers_.bury(*index, event.incarnation, step.now);
    on_buried(step, {event.id, event.incarnation});
    while (const AcceptedSession* found = sessions_.newest_accepted(*index, event.incarnation))
        close_accepted(step, *found, SessionEnd::eof);
    Peer& peer = peers_[*index];
    if (peer.incarnation != event.incarnation) return;
    peer.lost_until = long_ago;
    note_end(step.now, *index, PeerDownReason::eof);
    // Its sessions may have ended before, and who stands since then waits for this word.
    peers_.note_gone(*index, max_seen_, step.now);
}

void Member::give_up_dialled(Step& step, DialledSession& session, SessionEnd how) {
    Peer& peer = peers_[session.peer];
    if (peer.dialled == session.id) peer.dialled = no_session;
    // A socket in error state can send no FIN any more.
    if (how == SessionEnd::reset || how == SessionEnd::truncated ||
        session.state == DialledState::greeting) {
        step.act(CloseSession{session.id});
        sessions_.remove_dialled(session.id);
        return;
    }
    session.state = DialledState::lingering;
    close_lingering(step);
}

void Member::close_lingering(Step& step) {
    std::vector<SessionId> over;
    for (const DialledSession& session : sessions_.all_dialled())
        if (session.state == DialledState::lingering && !keeps_open(session.id, step.now))
            over.push_back(session.id);
    for (const SessionId id : over) {
        step.act(CloseSession{id});
        sessions_.remove_dialled(id);
    }
}

void Member::close_accepted(Step& step, const AcceptedSession& closed, SessionEnd as) {
    const AcceptedSession session = closed;  // of the table, that is
    step.act(CloseSession{session.id});
    sessions_.remove_accepted(session.id);
    end_accepted(step, session, as);
}

namespace {

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

void Member::end_accepted(Step& step, const AcceptedSession& session, SessionEnd how) {
    on_accepted_ended(step, session, how);
    Peer& peer = peers_[session.peer];
    if (peer.accepted != session.id) return;
    // One that has spoken was the right one, and what is older is of no more use. One that has not
    // may be anybody's.
    if (const AcceptedSession* next = sessions_.newest_accepted(session.peer, session.incarnation);
        next != nullptr && (!session.spoke || next->number > session.number)) {
        listen_to(*next);
        return;
    }
    // N4: where a notice is to be waited for, a FIN may be anybody's.
    if (how != SessionEnd::eof || config().fast_release == FastRelease::notice)
        peer.lost_until = step.now + setup_.longest_promise();
    peer.has_heartbeat = false;
    peer.view = {};
    note_end(step.now, session.peer, as_told(how));
    if (how == SessionEnd::eof) peers_.note_gone(session.peer, max_seen_, step.now);
}

void Member::note_end(Instant now, Index i, PeerDownReason told) {
    Peer& peer = peers_[i];
    const bool was_heard = peers_.heard(i, now);
    const bool has_led = id(i) == reported_.last() && !has_ended(id(i));
    peer.accepted = no_session;
    peer.last_end = told;
    if (!has_led) return;
    // It lived until then, unless it had been silent.
    reported_.note_sign(was_heard ? now : peer.heard_at);
    if (told == PeerDownReason::eof) reported_.note_end(peer.incarnation);
}

std::optional<AcceptedSession> Member::sender_of(Step& step, SessionId id) {
    AcceptedSession* session = sessions_.accepted(id);
    if (session == nullptr) return std::nullopt;
    session->spoke = true;
    Peer& peer = peers_[session->peer];
    if (session->incarnation == peer.incarnation && is_heard_on(*session, step.now))
        listen_to(*session);
    if (peer.accepted == id) {
        peer.heard_at = step.now;
    } else if (!peers_.heard(session->peer, step.now) && session->incarnation != peer.incarnation) {
        // The process that we last listened to is gone, perhaps without a FIN, and another one of
        // its id talks on: it was here first and would not be heard for as long as its session
        // lasts. It says HELLO again on a new one; our own close releases nothing.
        close_accepted(step, *session);
        return std::nullopt;
    }
    return *session;
}

// The HELLO of another session of that run counts no more: anybody can say HELLO in its name.
void Member::listen_to(const AcceptedSession& session) {
    Peer& peer = peers_[session.peer];
    if (peer.accepted == session.id) return;
    peer.accepted = session.id;
    peer.introduction = session.introduction;
}

bool Member::is_heard_on(const AcceptedSession& session, Instant now) const {
    const Peer& peer = peers_[session.peer];
    // Late bytes of an older session do not bring back what its end has cleared; a session that
    // goes on when nothing else of that run is heard does.
    if (due(now, peer.heard_at + peers_.silence_allowed(session.peer))) return true;
    const AcceptedSession* current = sessions_.accepted(peer.accepted);
    return current != nullptr && (!current->spoke || current->number <= session.number);
}

void Member::on_heartbeat(Step& step, const AcceptedSession& from, const Heartbeat& heartbeat) {
    // Late bytes of an older session would bring back what its end has cleared.
    if (peers_[from.peer].accepted != from.id) return;
    learn_epoch(step.now, heartbeat.max_seen);
    const bool believed = learn_epoch(step.now, heartbeat.leader_epoch);
    const bool was_recovering = peers_[from.peer].heartbeat.recovering;
    peers_.on_heartbeat(step.now, from.peer, heartbeat, believed);
    // The peer could not answer while it was recovering, so it is asked again.
    if (was_recovering && !heartbeat.recovering) greet(step, from.peer);
}

}  // namespace bullring::protocol
