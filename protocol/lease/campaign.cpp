#include "protocol/lease/campaign.hpp"

#include <algorithm>

#include "protocol/lease/vote.hpp"
#include "protocol/membership/giving_id.hpp"
#include "protocol/peers/heartbeats.hpp"
#include "protocol/sessions/sending.hpp"
#include "protocol/tenure/elections.hpp"
#include "protocol/tenure/standing.hpp"
#include "protocol/tenure/step_down.hpp"
#include "protocol/textbook/textbook.hpp"

namespace bullring::protocol {

namespace {

/// Whether voters are asked to tie what they grant to a session (R4.4, R4.5, N4.1).
bool ties(const Parts& node) {
    const Config& config = node.config();
    return config.tie && config.fast_release == FastRelease::fin && node.holder.tied();
}

// R1.4: a candidacy asks for L_c, never for the lease of a leader.
Coordinator candidacy(Parts& node, Instant now) {
    node.holder.asked(now);
    return {.epoch = node.epoch(),
            .lease = node.timing().campaign_lease,
            .stamp = now,
            .renew = false,
            .tie = ties(node),
            .heartbeat = std::nullopt,
            .tag = *node.holder.newest().tag(),
            .members = node.holder.newest(),
            .settled = false,
            .identity = node.identity()};
}

}  // namespace

Coordinator renewal(const Parts& node, Instant now) {
    return {
        .epoch = node.epoch(),
        .lease = node.timing().lease,
        .stamp = now,
        .renew = true,
        .tie = ties(node),
        .heartbeat = heartbeat(node, now),
        .tag = *node.holder.newest().tag(),
        .members = node.holder.newest(),
        .settled = !node.holder.lease().next() && node.holder.base().tag()->epoch == node.epoch(),
        .identity = identity_to_tell(node)};
}

std::optional<AddressedRequest> campaign(Parts& node, Step& step) {
    if (!node.fenced()) {
        const auto said = textbook::campaign(node, step);
        if (!said) return std::nullopt;
        return AddressedRequest{*said, node.setup.others()};
    }
    if (!may_campaign(node, step.now)) return std::nullopt;
    // R1.2: above every epoch that was heard of, and on the disk before it is asked for.
    const Epoch next = node.max_seen + 1;
    if (!next_epoch_durable(node)) {
        node.reserve.want(node.reserve.ahead_of(next), Duration{0});
        node.election_timer.call(Call::disk);
        return std::nullopt;
    }
    // R1.3: its own promise first: without it an epoch could be used twice.
    const Membership base = node.list();  // C1.3
    const Vote own = vote_for_itself(node, step, next, node.timing().campaign_lease, false, base);
    if (own.kind != Vote::Kind::granted) return std::nullopt;
    node.tenure.become_candidate(step, next);
    node.holder.begin(next, base, step.now + node.timing().campaign_wait);
    node.holder.count(node.me(), step.now + node.timing().campaign_lease, no_session, *base.tag());
    grants_changed(node, step);
    return AddressedRequest{candidacy(node, step.now), base.voters()};
}

void grants_changed(Parts& node, Step& step) {
    // R3.8: a majority has granted until D.
    if (node.role() == Role::candidate && lease_valid(step.now, node.lease_end())) {
        node.holder.win(step.now);
        return become_leader(node, step);
    }
    if (node.tenure.leads()) publish(node, step);
}

// R3.11: RESIGN goes to the voters, and the next try waits, the longer the more of higher rank
// there are.
void abandon(Parts& node, Step& step, Duration wait_at_least) {
    if (node.role() != Role::candidate) return;
    const Epoch given_up = node.epoch();
    become_follower(node, step);
    broadcast(node, step, Resign{given_up, nobody});
    const Duration spread =
        node.rng.up_to(node.timing().poll_wait * 2 / 5) * (1 + higher_connected(node, step.now));
    node.election_timer.retry_at(step.now + std::max(wait_at_least, spread));
}

void greet(Parts& node, Step& step, Index i) {
    if (!node.fenced()) return textbook::greet(node, step, i);
    // With a stamp of now.
    const bool votes = node.deciding().voters().contains(i);
    if (node.role() == Role::candidate && votes) send(node, step, i, candidacy(node, step.now));
    if (!node.own_lease_valid(step.now) || !renews(node)) return;
    node.holder.asked(step.now);
    send(node, step, i, renewal(node, step.now));
}

}  // namespace bullring::protocol
