#include "protocol/handshake/handshake.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/handshake/hello.hpp"
#include "protocol/handshake/judging.hpp"
#include "protocol/lease/campaign.hpp"
#include "protocol/membership/callers.hpp"
#include "protocol/membership/shown.hpp"
#include "protocol/peers/heartbeats.hpp"
#include "protocol/recovery/recall.hpp"
#include "protocol/recovery/twins.hpp"
#include "protocol/sessions/ends.hpp"
#include "protocol/sessions/sending.hpp"

namespace bullring::protocol {

namespace {

/// The part of HELLO that says what the state file was.
void fill_hello(const Parts& node, Hello& hello) {
    if (!node.fenced()) return;
    hello.recovering = node.recovering();
    hello.had_file_at_start = node.recovery.had_file();
    hello.directory = node.reserve.directory();
    if (node.list().empty() && node.changes.shown.changed()) {
        hello.shown = node.changes.shown;
        hello.version_lowest = version_with_tags;
    }
}

}  // namespace

void on_dialled(Parts& node, Step& step, const Dialled& event) {
    const auto peer = node.setup.members().index(event.peer);
    // Under way when it was removed.
    if (!peer || *peer == node.me()) return step.act(CloseSession{event.session});
    node.sessions.add(DialledSession{event.session, *peer, DialledState::greeting,
                                     node.recovery.asked_again(), event.elsewhere});
    Hello hello;
    hello.version_lowest = lowest_with(node.list());
    hello.version_highest = node.config().wire_highest;
    hello.cluster = node.config().cluster;
    hello.members = node.list().empty() ? node.config().members.ids() : node.list().ids();
    if (node.list().changed()) hello.changed = node.list();
    hello.quorum = node.config().quorum;
    hello.algorithm = node.config().algorithm;
    hello.rho_ppm = node.timing().rho_ppm;
    hello.id = node.setup.self();
    hello.incarnation = node.setup.incarnation();
    hello.session = event.session;
    hello.priority = node.config().priority;
    hello.lease = node.timing().lease;
    hello.heartbeat_period = node.timing().heartbeat;
    hello.advertised = node.config().advertised;
    hello.addresses = event.addresses;
    hello.cluster_id = id_told_to(hello.version_highest, node.cluster_id());
    hello.listens = node.config().listens;
    // R4.4: children of hooks may outlive the process, and nobody can tell when they have ended.
    const bool unused = !node.fenced() || node.config().hooks ||
                        (node.config().fast_release == FastRelease::fin && !node.config().tie);
    hello.fast_release = unused ? FastRelease::off : node.config().fast_release;
    if (hello.fast_release == FastRelease::notice) hello.commitment = node.setup.commitment();
    fill_hello(node, hello);
    step.act(Send{event.session, hello});
}

namespace {

void refuse(Parts& node, Step& step, const HelloReceived& event, Refused refused) {
    refused.cluster_id = id_told_to(event.hello.version_highest, node.cluster_id());
    step.act(Send{event.session, refused});
    step.act(CloseSession{event.session});
    step.act(HandshakeRefused{event.hello.id, true, refused, event.addresses.remote});
}

/// The part of HELLO_ACK that says what was promised; it is kept to from now on (R3).
void answer_hello(Parts& node, Instant now, const Hello& hello, HelloAck& ack) {
    if (!node.fenced()) return;
    ack.promised_max = node.reserve.promised_max();
    ack.had_file_at_start = node.recovery.had_file();
    ack.recovering = node.recovering();
    if (node.list().empty() && node.changes.shown.changed() && ack.version >= version_with_tags)
        ack.shown = node.changes.shown;
    // C11.5: what is given, too, which a lost disk may have been one of the few to have.
    const Identity& has = node.reserve.newest_identity();
    if (has.id && !hello.had_file_at_start && ack.version >= version_with_named_lists)
        ack.identity = has;
    if (!hello.recovering) return;
    // R6.13: two that begin without a file send each other their wall clocks.
    if (!hello.had_file_at_start && node.recovering() && !node.recovery.had_file() &&
        node.config().first_epoch == FirstEpoch::clock)
        ack.clock_epoch = node.recovery.clock_epoch();
    const Index i = *node.setup.members().index(hello.id);
    ack.recall = recall(node, now, i, hello);
    // R6.22, R3.6: older requests count no more once that voter's earlier runs are answered for.
    node.holder.set_barrier(i);
}

}  // namespace

void on_hello(Parts& node, Step& step, const HelloReceived& event) {
    const Hello& hello = event.hello;
    // N3.5: it lay unread when the run had ended.
    if (node.peers.is_buried({hello.id, hello.incarnation}, step.now))
        return step.act(CloseSession{event.session});
    // C12.1: first it is judged.
    if (const auto difference = cluster_difference(node, hello))
        return refuse(node, step, event, *difference);
    believe(node, step, {shown_by(hello), hello.shown.value_or(Membership()), hello.cluster_id});
    if (const auto difference = seat_difference(node, event, step.now))
        return refuse(node, step, event, *difference);
    const Index index = *node.setup.members().index(hello.id);
    Peer& peer = node.peers[index];
    if (peer.incarnation != hello.incarnation) {
        peer.has_heartbeat = false;
        peer.heartbeat = {};
        peer.view = {};
        peer.refused = false;  // that was the other run
        if (peer.incarnation != Incarnation{}) peer.many_runs = true;
        if (peer.accepted) peer.lost_until = step.now + node.setup.longest_promise();
    } else {
        // The same run is back: it was not gone after all.
        peer.gone_until = long_ago;
    }
    if (hello.recovering) peer.heartbeat.recovering = true;
    if (!has_list(hello)) peer.without_file = hello.incarnation;
    const Membership shown = shown_by(hello);
    peer.tag = shown.tag();
    peer.founders = shown.founders();
    peer.cluster_id = id_told_to(node.config().wire_highest, hello.cluster_id);
    peer.directory = hello.directory;
    // N4.2: a FIN releases where both have FINs. R4.3: the addresses agree unless something in
    // between rewrites them, and could send a FIN of its own.
    const bool direct = event.addresses.local == hello.addresses.remote &&
                        event.addresses.remote == hello.addresses.local;
    const AcceptedSession session{
        event.session,
        index,
        hello.incarnation,
        hello.session,
        node.config().fast_release == FastRelease::fin && hello.fast_release == FastRelease::fin &&
            direct,
        Introduction{hello.priority, hello.lease, hello.heartbeat_period, hello.advertised,
                     calls_from(hello.listens, event.addresses.remote)},
        std::min(node.config().wire_highest, hello.version_highest)};
    peer.incarnation = hello.incarnation;
    // The newest by the dialler's numbers: two sockets may be read in any order, and another
    // process with that id may have been listened to in between.
    const AcceptedSession* newest = node.sessions.newest_accepted(index, hello.incarnation);
    listen_to(node, newest != nullptr && newest->number > hello.session ? *newest : session);
    peer.heard_at = step.now;

    // Half-open ones pile up when its host loses power again and again; closing one here releases
    // nothing.
    if (node.sessions.accepted_of(index) >= SessionTable::per_peer_max) {
        close_accepted(node, step, *node.sessions.least_needed(index));
    }
    node.sessions.add(session);
    note_run_of(node, step, index);

    HelloAck ack;
    ack.id = node.setup.self();
    ack.incarnation = node.setup.incarnation();
    ack.priority = node.config().priority;
    ack.lease = node.timing().lease;
    ack.addresses = event.addresses;
    ack.max_seen = node.max_seen;
    ack.lease_max = node.timing().lease_max;
    ack.version = session.version;
    if (node.list().changed() && ack.version >= version_with_tags) ack.changed = node.list();
    ack.cluster_id = id_told_to(ack.version, node.cluster_id());
    answer_hello(node, step.now, hello, ack);
    step.act(Send{event.session, ack});
    const bool dial = !node.sessions.has_dialled_in_use(index);
    std::string also_at;
    if (may_be_dialled_where_it_calls(node, index)) also_at = session.introduction.calls_from;
    if (dial || !also_at.empty()) step.act(DialNow{hello.id, std::move(also_at)});
    // It waits for its bit in our mask before it counts us as connected.
    send(node, step, index, heartbeat(node, step.now));
}

namespace {

void on_ack(Parts& node, Step& step, Index i, const HelloAck& ack) {
    if (!node.fenced()) return;
    Peer& peer = node.peers[i];
    // A file knows all that this node has ever granted. Without one, or after another process with
    // its id, the others have to say.
    const bool by_others = (node.recovering() && !node.recovery.had_file()) || peer.hears_twin;
    taken_after_twin(node, peer, step.now);
    note_run_of(node, step, i);
    if (by_others) node.voter.raise_floor(std::min(ack.max_seen, node.max_seen));
}

}  // namespace

void on_hello_ack(Parts& node, Step& step, SessionId id, const HelloAck& ack) {
    DialledSession* session = node.sessions.dialled(id);
    if (session == nullptr || session->state != DialledState::greeting) return;
    const Index index = session->peer;
    Peer& peer = node.peers[index];
    if (ack.id != node.id(index)) {
        step.act(HandshakeRefused{node.id(index),
                                  false,
                                  refusal(Difference::id, std::to_string(ack.id.value),
                                          std::to_string(node.id(index).value)),
                                  {}});
        return give_up_dialled(node, step, *session, SessionEnd::protocol);
    }
    // S2.2
    if (ack.version < version_lowest || ack.version > node.config().wire_highest) {
        step.act(
            HandshakeRefused{node.id(index),
                             false,
                             refusal(Difference::version, versions_text(ack.version, ack.version),
                                     versions_text(version_lowest, node.config().wire_highest)),
                             {}});
        return give_up_dialled(node, step, *session, SessionEnd::protocol);
    }
    for (const Membership* mine : {&node.list(), &node.newest_list()})
        if (ack.changed && ack.changed->is_of_other_cluster_than(*mine)) {
            step.act(
                HandshakeRefused{node.id(index), false, of_other_cluster(*ack.changed, *mine), {}});
            return give_up_dialled(node, step, *session, SessionEnd::protocol);
        }
    if (are_of_different_clusters(node.cluster_id(), ack.cluster_id)) {
        step.act(HandshakeRefused{
            node.id(index), false, of_other_id(ack.cluster_id, node.cluster_id()), {}});
        return give_up_dialled(node, step, *session, SessionEnd::protocol);
    }
    session->version = ack.version;  // S2.1
    session->state = DialledState::up;
    if (peer.dialled) {
        if (DialledSession* older = node.sessions.dialled(peer.dialled))
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
    node.learn_epoch(step.now, ack.max_seen);
    if (ack.cluster_id) peer.cluster_id = ack.cluster_id;
    believe(node, step,
            {ack.changed.value_or(Membership()), ack.shown.value_or(Membership()), ack.cluster_id});
    on_ack(node, step, index, ack);
    send(node, step, index, heartbeat(node, step.now));
    // Repeats to this peer what was broadcast before the session was up.
    greet(node, step, index);
}

void on_refused(Parts& node, Step& step, SessionId id, const Refused& refused) {
    DialledSession* session = node.sessions.dialled(id);
    if (session == nullptr || session->state != DialledState::greeting) return;
    const Index index = session->peer;
    node.peers[index].refused = true;
    step.act(HandshakeRefused{node.id(index), false, refused, {}});
    give_up_dialled(node, step, *session, SessionEnd::protocol);
    if (are_of_different_clusters(node.cluster_id(), refused.cluster_id)) return;
    // R6.14: also of who names no cluster: it may be of this one, and the silence is safe.
    if (is_twin_refusal(refused, node.setup.self())) told_of_twin(node, step, node.peers[index]);
    // C12.4: who refuses for another reason has not judged this node to be of its cluster.
    if (refused.list && is_refused_by_list(refused))
        believe(node, step,
                {*refused.list, {}, id_told_to(node.config().wire_highest, refused.cluster_id)});
}

}  // namespace bullring::protocol
