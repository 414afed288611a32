#include "protocol/textbook/textbook.hpp"

namespace bullring::protocol {

LeaderView Textbook::first_hand(Instant now) const {
    if (own_lease_valid(now)) return {setup_.self(), epoch(), never, tenure_.published()};
    // A peer that says that it leads is believed, the highest first. The textbook's bully: a lower
    // leader is none for a higher node that may stand, unless its user has just asked it to give
    // way.
    const bool bullies = config().preempt && eligible(now) && !gate_.modest(now);
    LeaderView best;
    Rank best_rank;
    for (const Index i : peers_.heard(now)) {
        if (peers_[i].view.leader != id(i)) continue;
        if (bullies && peers_.rank(i) < own_rank()) continue;
        if (best.leader && peers_.rank(i) < best_rank) continue;
        best = peers_[i].view;
        best_rank = peers_.rank(i);
    }
    return best;
}

bool Textbook::others_awaited(Instant now) const {
    // A node that has just started waits until it can have heard of the others, and they of it.
    if (election_timer_.leader_ever_known() || due(now, setup_.started() + timing().suspect_after))
        return true;
    const MemberSet others = peers_.connected(now);
    return others == setup_.others() && can_send_to_all(others);
}

std::optional<AddressedRequest> Textbook::campaign(Step& step) {
    if (!may_campaign(step.now)) return std::nullopt;
    max_seen_ = max_seen_ + 1;
    tenure_.become_candidate(step, max_seen_);
    become_leader(step);
    return AddressedRequest{announcement(step.now), setup_.others()};
}

Coordinator Textbook::announcement(Instant now) const {
    return {.epoch = epoch(), .lease = timing().lease, .stamp = now, .renew = true, .tie = false};
}

MemberSet Textbook::grants(Instant /*now*/) const {
    MemberSet own;
    own.insert(me());
    return own;
}

void Textbook::note_announcement(Instant now, Index leader, Epoch epoch) {
    if (!learn_epoch(now, epoch) || leader == me()) return;
    peers_[leader].view = {id(leader), epoch, never, true};
    note_other_leads();
}

void Textbook::on_coordinator(Step& step, const AcceptedSession& from, const Coordinator& request) {
    note_announcement(step.now, from.peer, request.epoch);
}

std::optional<Vote> Textbook::on_request(Step& step, const LeaseRequest& request) {
    if (const auto leader = setup_.members().index(request.key.id))
        note_announcement(step.now, *leader, request.epoch);
    return std::nullopt;
}

void Textbook::greet(Step& step, Index i) {
    if (tenure_.leads()) send(step, i, announcement(step.now));
}

void Textbook::advance_engine(Step& step) {
    if (!tenure_.leads()) return;
    for (const Index i : peers_.heard(step.now))
        if (peers_[i].view.leader == id(i) && peers_.rank(i) > own_rank())
            return step_down(step, DeposedReason::higher_rank, nobody);
}

// Only the leader itself speaks of its leadership.
LeaderView Textbook::told_to_peers(Instant now) const {
    const LeaderView leader = first_hand(now);
    return leader.leader == setup_.self() ? leader : LeaderView{};
}

void Textbook::collect_wakes(WakeTime& wake) const {
    Member::collect_wakes(wake);
    wake.timer(setup_.started() + timing().suspect_after);
}

std::string Textbook::why_leading(Instant /*now*/) const { return ", unfenced (quorum none)"; }

}  // namespace bullring::protocol
