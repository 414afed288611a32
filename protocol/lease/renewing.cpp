#include "protocol/lease/renewing.hpp"

#include "protocol/lease/vote.hpp"
#include "protocol/membership/changing.hpp"
#include "protocol/peers/heartbeats.hpp"
#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/preemption.hpp"
#include "protocol/tenure/step_down.hpp"

namespace bullring::protocol {

namespace {

bool renewal_due(const Parts& node, Instant now) {
    return renews(node) && due(now, node.holder.next_renewal()) && node.own_lease_valid(now);
}

}  // namespace

std::optional<AddressedRequest> renew_if_due(Parts& node, Step& step) {
    if (!renewal_due(node, step.now)) return std::nullopt;
    consider_preemption(node, step);
    if (!renewal_due(node, step.now)) return std::nullopt;  // it has given way
    // A member without a vote makes no majority (C5.3), and is asked half as often (§6).
    const bool all = node.holder.next_is_for_all(step.now) || node.holder.lease().next() ||
                     somebody_is_to_be_told(node, step.now);
    node.holder.renewed(step.now, all, node.timing());
    const Membership asked = list_for_own_vote(node, step.now);
    const Vote own = vote_for_itself(node, step, node.epoch(), node.timing().lease, true, asked);
    if (own.kind == Vote::Kind::granted) {
        node.holder.count(node.me(), step.now + node.timing().lease, no_session, *asked.tag());
        grants_changed(node, step);
    }
    if (node.size() == 1) return std::nullopt;
    heartbeat_told_by_renewal(node, step.now);
    MemberSet to;
    for (const Index i : all ? node.setup.others() : node.holder.base().voters())
        if (can_send(node, i)) to.insert(i);
    if (to.empty()) return std::nullopt;
    node.holder.asked(step.now);
    return AddressedRequest{renewal(node, step.now), to};
}

void on_tying(Parts& node, Step& step, const Tying& event) {
    if (!node.fenced() || node.holder.tied() == event.tie) return;
    node.holder.set_tied(event.tie);
    // R4.5: who waits for grants that no session's end can release need not wait for a heartbeat.
    if (!event.tie && node.own_lease_valid(step.now) && renews(node))
        node.holder.renew_at_once(step.now);
}

}  // namespace bullring::protocol
