#include "protocol/member/member.hpp"

namespace bullring::protocol {

Member::Member(const Config& config, const Start& start)
    : setup_(config, start),
      peers_(setup_),
      max_seen_(start.file ? start.file->hw : Epoch{}),
      rng_(start.seed) {}

bool Member::learn_epoch(Instant now, Epoch epoch) {
    max_seen_ = epoch_bound_.raised(now, max_seen_, epoch);
    return epoch <= max_seen_;
}

void Member::advance(Step& step) {
    advance_engine(step);
    const Instant now = step.now;
    note_voucher(now);
    const bool connected_majority = quorum_connected(now);
    if (!connected_majority) {
        quorum_since_ = never;
    } else if (quorum_since_ == never) {
        quorum_since_ = now;
    }
    const bool known = leader_known(now);
    // R5.7: the probation after bad health lets others lead. Where none can, it would only be a
    // time without a leader.
    if (gate_.on_probation(now) && connected_majority && !known && !peers_.another_may_lead(now))
        gate_.end_probation(now);
    if (election_timer_.leader_lost(known)) election_timer_.on_leader_lost(now);
    if (!election_timer_.start_due(now))
        election_timer_.start_within(timing().stagger * higher_connected(now));
    election_timer_.note_leader(known, first_hand(now).announced);
    close_lingering(step);
}

// A leader whose renewals this node grants says with each of them whom it hears. With quorum none
// there are no renewals.
void Member::note_voucher(Instant now) {
    const LeaderView leader = first_hand(now);
    if (fenced() && leader.announced && leader.leader != setup_.self())
        peers_.trust(setup_.members().index(leader.leader), leader.epoch);
    else
        peers_.trust(std::nullopt, {});
}

void Member::collect_wakes(WakeTime& wake) const {
    gate_.collect_wakes(wake);
    election_timer_.collect_wakes(wake);
    heartbeat_clock_.collect_wakes(wake);
    peers_.collect_wakes(wake);
}

void Member::deal_with(Step& step, const Membership& members) {
    if (members == setup_.members()) return;
    const Membership before = setup_.members();
    for (const Index i : setup_.others())
        if (members.id(i) != id(i)) {
            forget(step, i);
            on_forgotten(peers_[i]);
        }
    setup_.set_members(members);
    peers_.follow(setup_, step.now);
    on_members_changed();
    step.act(DealWith{members});
}

// Our own close releases nothing, and what a counted grant is tied to stays open (§3).
void Member::forget(Step& step, Index i) {
    if (peers_[i].up) step.act(PeerDown{id(i), PeerDownReason::refused});
    while (const AcceptedSession* found = sessions_.any_accepted(i)) close_accepted(step, *found);
    while (DialledSession* session = sessions_.dialled_in_use(i))
        give_up_dialled(step, *session, SessionEnd::overflow);
}

Coordinator Member::as_sent_to(Index to, const Coordinator& request) const {
    Coordinator sent = request;
    const bool knows = peers_[to].tag == request.tag;
    const DialledSession* const session = sessions_.dialled(peers_[to].dialled);
    const std::uint16_t version = session == nullptr ? 0 : session->version;
    if (knows || version < version_with_tags) sent.members.reset();
    const bool has_id = request.identity && request.identity->known() &&
                        request.identity->known() == peers_[to].cluster_id;
    // C12.2: a list goes with the id of its cluster.
    if (sent.members && sent.identity && !sent.identity->id) sent.identity = identity();
    const bool without = !sent.members && (has_id || !request.renew);
    if (without || version < version_with_identity) sent.identity.reset();
    return sent;
}

bool Member::can_send_to_all(MemberSet members) const {
    for (const Index i : members)
        if (!can_send(i)) return false;
    return true;
}

}  // namespace bullring::protocol
