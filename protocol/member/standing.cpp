// Whether a member may stand now, and when it begins an election (PROTOCOL §7).
#include "protocol/member/member.hpp"

namespace bullring::protocol {

bool Member::leader_known(Instant now) const {
    return static_cast<bool>(first_hand(now).leader) || static_cast<bool>(second_hand(now).leader);
}

bool Member::own_lease_valid(Instant now) const {
    if (role() != Role::leader && role() != Role::stepping_down) return false;
    return lease_valid(now, lease_end());
}

bool Member::quorum_connected(Instant now) const {
    MemberSet there = peers_.connected(now);
    there.insert(me());
    return is_majority(there);
}

bool Member::majority_votes(Instant now) const {
    MemberSet voting;
    voting.insert(me());
    for (const Index i : peers_.connected(now))
        if (!peers_[i].heartbeat.recovering) voting.insert(i);
    return is_majority(voting);
}

bool Member::eligible(Instant now) const {
    if (config().priority.is_never() || !gate_.open(now) || removed()) return false;
    return role() != Role::stepping_down && !lease_refused(now);
}

// R1.1
bool Member::may_campaign(Instant now) const {
    return tenure_.follows() && eligible(now) && !silent(now) && !bound(now) &&
           !gate_.reserved_for_other(now, setup_.self());
}

bool Member::may_start(Instant now) const {
    if (!may_campaign(now) || leader_known(now) || !quorum_connected(now)) return false;
    return election_timer_.retry_due(now) && election_timer_.start_due(now) && others_awaited(now);
}

bool Member::answer_call(Step& step) {
    if (!called()) return false;
    if (!may_campaign(step.now)) {
        election_timer_.end_call();
        return false;
    }
    if (election_timer_.call() == Call::disk && !next_epoch_durable()) return false;
    if (election_timer_.call() == Call::successor)
        say_election_started(step, "named as the successor");
    election_timer_.end_call();
    return true;
}

void Member::say_election_started(Step& step, const char* reason) {
    step.act(ElectionStarted{max_seen_ + 1, reason});
}

void Member::note_other_leads() {
    gate_.end_standing_back();
    election_timer_.end_call();
}

}  // namespace bullring::protocol
