#include "protocol/lease/answering.hpp"

#include "protocol/membership/identity.hpp"
#include "protocol/membership/told.hpp"
#include "protocol/peers/heartbeats.hpp"
#include "protocol/sessions/sending.hpp"
#include "protocol/textbook/textbook.hpp"

namespace bullring::protocol {

namespace {

void answer(Parts& node, Step& step, const AcceptedSession& from, const Coordinator& request,
            const Vote& given, bool parked) {
    if (given.kind == Vote::Kind::granted) {
        const bool tied = request.tie && from.release_ok;
        Grant grant{from.incarnation,
                    request.epoch,
                    request.lease,
                    request.stamp,
                    tied ? from.number : no_session,
                    node.setup.incarnation(),
                    std::nullopt,
                    *node.list().tag()};  // C1.2
        if (request.renew) {
            if (request.identity) grant.identity = node.reserve.on_disk().identity;
            grant.heartbeat = heartbeat(node, step.now);
            heartbeat_told_by_grant(node, step.now);
        }
        return send(node, step, from.peer, grant);
    }
    send(node, step, from.peer,
         Nack{from.incarnation, request.epoch, given.reason, given.promise_holder,
              given.promised_epoch, given.remaining, parked, given.members, given.identity});
}

}  // namespace

void on_coordinator(Parts& node, Step& step, const AcceptedSession& from,
                    const Coordinator& request) {
    if (!node.fenced()) return textbook::on_announcement(node, step.now, from.peer, request.epoch);
    if (may_be_told(node, from.peer, request)) return take_told(node, step, request);
    // C11.4: they have met when one of the two did not know its cluster yet.
    if (request.identity && request.identity->known())
        node.peers[from.peer].cluster_id = request.identity->known();
    if (is_stranger(node, from.peer)) return part_with(node, step, from.peer);
    const bool tied = request.tie && from.release_ok;
    const Vote given = vote(node, step,
                            {{node.id(from.peer), from.incarnation},
                             request.epoch,
                             request.lease,
                             request.renew,
                             tied ? from.id : no_session,
                             request.tag,
                             request.members,
                             request.identity});
    if (given.kind == Vote::Kind::after_disk)
        return node.voter.wait_for_disk(from, request, step.now);
    // C11.2: from the leader that it supports, and that is at that member's address.
    const bool renewed = given.kind == Vote::Kind::granted && request.renew;
    if (renewed && request.identity && node.is_same_run(from.peer))
        learn_identity(node, step, *request.identity);
    const bool busy = given.kind == Vote::Kind::refused && given.reason == NackReason::busy;
    answer(node, step, from, request, given, busy && node.voter.park(from, request, step.now));
}

std::optional<Vote> on_request(Parts& node, Step& step, const LeaseRequest& request) {
    if (node.fenced()) return vote(node, step, request);
    if (const auto leader = node.setup.members().index(request.key.id))
        textbook::on_announcement(node, step.now, *leader, request.epoch);
    return std::nullopt;
}

// R2.8
void serve_parked(Parts& node, Step& step) {
    if (const auto parked = node.voter.take_parked(step.now, node.timing().campaign_wait))
        on_coordinator(node, step, parked->from, parked->request);
}

void serve_waiting(Parts& node, Step& step) {
    if (node.reserve.writing()) return;
    for (const PendingRequest& pending : node.voter.take_waiting())
        on_coordinator(node, step, pending.from, pending.request);
}

}  // namespace bullring::protocol
