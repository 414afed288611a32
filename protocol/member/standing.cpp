// Whether a member may stand now, and when it begins an election (PROTOCOL §7).
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

bool Member::leader_known(Instant now) const {
    return static_cast<bool>(first_hand(now).leader) || static_cast<bool>(second_hand(now).leader);
}

bool Member::own_lease_valid(Instant now) const {
    if (role() != Role::leader && role() != Role::stepping_down) return false;
    return lease_valid(now, lease_end());
}

bool Member::quorum_connected(Instant now) const {
    return 1 + peers_.connected(now).size() >= majority();
}

bool Member::eligible(Instant now) const {
    if (config().priority.is_never() || !gate_.open(now)) return false;
    return role() != Role::stepping_down && !lease_refused(now);
}

bool Member::may_campaign(Instant now) const {
    return tenure_.follows() && eligible(now) && !silent(now) && !bound(now) &&
           !gate_.reserved_for_other(now, setup_.self());
}

bool Member::may_start(Instant now) const {
    if (!may_campaign(now) || leader_known(now) || !quorum_connected(now)) return false;
    return pace_.retry_due(now) && pace_.start_due(now) && others_awaited(now);
}

bool Member::answer_call(Step& step) {
    if (!called()) return false;
    if (!may_campaign(step.now)) {
        pace_.end_call();
        return false;
    }
    if (pace_.call() == Call::disk && !next_epoch_durable()) return false;
    if (pace_.call() == Call::successor) say_election_started(step, "named as the successor");
    pace_.end_call();
    return true;
}

void Member::say_election_started(Step& step, const char* reason) {
    step.act(ElectionStarted{max_seen_ + 1, reason});
}

void Member::note_other_leads() {
    gate_.end_standing_back();
    pace_.end_call();
}

void Member::advance(Step& step) {
    advance_engine(step);
    const Instant now = step.now;
    const bool connected_majority = quorum_connected(now);
    if (!connected_majority) {
        quorum_since_ = never;
    } else if (quorum_since_ == never) {
        quorum_since_ = now;
    }
    const bool known = leader_known(now);
    // The probation after bad health lets others lead. Where none can, it would only be a time
    // without a leader.
    if (gate_.on_probation(now) && connected_majority && !known && !peers_.another_may_lead(now))
        gate_.end_probation(now);
    if (pace_.leader_lost(known)) pace_.start_at(now + timing().stagger * higher_connected(now));
    pace_.note_leader(known);
    close_lingering(step);
}

void Member::collect_wakes(WakeTime& wake) const {
    gate_.collect_wakes(wake);
    pace_.collect_wakes(wake);
    heartbeat_clock_.collect_wakes(wake);
    peers_.collect_wakes(wake);
}

bool Member::can_send_to_all(MemberSet members) const {
    for (const Index i : members)
        if (!can_send(i)) return false;
    return true;
}

}  // namespace bullring::protocol
