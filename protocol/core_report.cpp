// What others are told when something has changed: peers by heartbeat, users by announcements, and
// an operator who asks by the view.
#include <algorithm>

#include "protocol/core.hpp"

namespace bullring::protocol {

void Core::report(Step& step) {
    report_peers(step);
    report_leader(step);
    report_resign(step);
    send_heartbeats(step);
    serve_park(step);  // the selector or a preemption may just have freed the own promise
    keep_reserve(step);
    report_stop(step);
}

void Core::report_stop(Step& step) {
    if (!leaving() || stopped_) return;
    const bool written = !persisting_ && wanted_ == disk_;
    const bool nothing_to_write = textbook() || (recovering_ && !floor_known_);
    if (!written && !nothing_to_write) return;
    stopped_ = true;
    step.act(Stopped{});
}

void Core::report_peers(Step& step) {
    for (Index i = 0; i < size(); ++i) {
        Peer& peer = peers_[i];
        const bool up = connected(i, step.now);
        if (up == peer.up) continue;
        peer.up = up;
        peer.up_since = step.now;
        if (up)
            step.act(PeerUp{id(i)});
        else
            step.act(PeerDown{id(i), down_reason(i, step.now)});
    }
}

PeerDownReason Core::down_reason(Index i, Instant now) const {
    const Peer& peer = peers_[i];
    if (!peer.accepted) return peer.last_end;
    return peer.refused && heard(i, now) ? PeerDownReason::refused : PeerDownReason::timeout;
}

LeaderView Core::user_leader(Instant now) const {
    if (role_ == Role::leader && published_) return {config_.self, epoch(), lease_end(), true};
    LeaderView best = second_hand(now);
    if (!best.announced) best = {};
    const LeaderView own = first_hand(now);
    if (own.announced && own.leader != config_.self && own.epoch >= best.epoch) best = own;
    if (!best.leader) return {};
    const auto index = config_.members.index(best.leader);
    if (!index) return {};
    // Who is stepping down still binds voters, but does not act as the leader any more.
    const Peer& leader = peers_[*index];
    if (leader.has_heartbeat && leader.heartbeat.stepping_down && heard(*index, now)) return {};
    return best;
}

void Core::report_leader(Step& step) {
    LeaderView leader = user_leader(step.now);
    // Epochs are told in order: a word from before is not news.
    if (!textbook() && leader.leader && leader.epoch < told_leader_epoch_) leader = {};
    if (leader.leader == told_leader_ && (!leader.leader || leader.epoch == told_leader_epoch_))
        return;
    forget_hold_off(step.now);
    told_leader_ = leader.leader;
    told_leader_since_ = step.now;
    if (leader.leader) told_leader_epoch_ = leader.epoch;
    std::string advertised;
    if (leader.leader == config_.self) {
        advertised = config_.advertised;
    } else if (leader.leader) {
        advertised = peers_[*config_.members.index(leader.leader)].introduction.advertised;
    }
    step.act(LeaderChanged{told_leader_, told_leader_epoch_, advertised});
}

void Core::report_resign(Step& step) {
    if (resign_request_ == 0) return;
    if (!told_leader_ || told_leader_epoch_ <= resigned_epoch_) return;
    if (told_leader_ == config_.self)
        step.act(ResignAnswer{resign_request_, false, "no other node took over"});
    else
        step.act(ResignAnswer{resign_request_, true, {}});
    resign_request_ = 0;
}

HeartbeatState Core::heartbeat_state(Instant now) const {
    const LeaderView leader = first_hand(now);
    return {quorum_connected(now),
            eligible(now),
            silent(now) || leaving(),
            leader.announced,
            role_ == Role::stepping_down,
            leader.leader,
            leader.epoch};
}

Heartbeat Core::heartbeat(Instant now) const {
    const HeartbeatState state = heartbeat_state(now);
    Heartbeat heartbeat;
    for (Index i = 0; i < size(); ++i)
        if (i != me_ && heard(i, now)) heartbeat.heard.insert(i);
    heartbeat.quorum_connected = state.quorum_connected && !state.recovering;
    heartbeat.eligible = state.eligible;
    heartbeat.recovering = state.recovering;
    heartbeat.stepping_down = state.stepping_down;
    const LeaderView leader = first_hand(now);
    // Without promises only the leader itself speaks of its leadership.
    if (leader.leader && (!textbook() || leader.leader == config_.self)) {
        heartbeat.leader = leader.leader;
        heartbeat.leader_epoch = leader.epoch;
        heartbeat.leader_announced = leader.announced;
        heartbeat.leader_remaining =
            textbook() ? timing().suspect_after : promise_left(now, leader.until);
    }
    heartbeat.max_seen = std::max(max_seen_, promise_.vmax());
    heartbeat.quorum_age = reported_quorum_age(now);
    return heartbeat;
}

void Core::send_heartbeats(Step& step) {
    const HeartbeatState state = heartbeat_state(step.now);
    if (state == told_state_) {
        changed_heartbeat_at_ = never;
    } else if (state.eligible && !told_state_.eligible) {
        // Rare, and a leader that is asked to hand over to this node must know.
        changed_heartbeat_at_ = step.now;
    } else if (changed_heartbeat_at_ == never) {
        // A change is told soon, not at once: on a failover every node changes at the same moment,
        // and N² heartbeats would stand in the way of the election.
        changed_heartbeat_at_ = step.now + timing().stagger;
    }
    const bool periodic = due(step.now, next_heartbeat_);
    if (!periodic && !due(step.now, changed_heartbeat_at_)) return;
    if (periodic) {
        next_heartbeat_ = step.now + timing().heartbeat;
        consider_preemption(step);
    }
    changed_heartbeat_at_ = never;
    told_state_ = heartbeat_state(step.now);
    broadcast(step, heartbeat(step.now));
}

View Core::view(Instant now, const HostReasons& reasons) const {
    View view;
    view.self = config_.self;
    view.role = role_;
    const LeaderView leader = user_leader(now);
    view.leader = leader.leader;
    view.epoch = leader.leader ? leader.epoch : told_leader_epoch_;
    if (leader.leader == config_.self) {
        view.advertised = config_.advertised;
        view.lease_left =
            textbook() ? Duration{0} : std::max(lease_left(now, lease_end()), Duration{0});
    } else if (leader.leader) {
        view.advertised = peers_[*config_.members.index(leader.leader)].introduction.advertised;
        if (!textbook()) view.lease_left = std::max(promise_left(now, leader.until), Duration{0});
    }
    if (promise_.live(now)) view.promised_to = promise_.key().id;
    view.connected = connected(now);
    view.quorum_connected = quorum_connected(now);
    view.recovering = recovering_;
    view.fenced = !textbook();
    view.why = why(now, reasons);
    return view;
}

namespace {

/// Rounded up: what is not over yet never reads as nothing.
std::string time_text(Duration left) {
    const auto whole = [&](Duration unit) {
        return std::to_string((left.ns + unit.ns - 1) / unit.ns);
    };
    return left > seconds(1) ? whole(seconds(1)) + " s" : whole(milliseconds(1)) + " ms";
}

}  // namespace

std::string Core::why(Instant now, const HostReasons& reasons) const {
    const auto ids_text = [&](MemberSet members) {
        std::string text;
        for (Index i = 0; i < size(); ++i)
            if (members.contains(i))
                text += (text.empty() ? "" : ", ") + std::to_string(id(i).value);
        return text;
    };
    if (role_ == Role::leader)
        return textbook() ? "leads, unfenced (quorum none)"
                          : "leads with grants of " + ids_text(lease_.voters(now));
    if (role_ == Role::stepping_down) {
        if (step_down_.reason == DeposedReason::stalled)
            return "steps down: its task has stalled and has not ended";
        if (!own_lease_valid(now)) return "steps down: its lease is over, its task has not ended";
        return "steps down: its task is ending";
    }
    if (role_ == Role::candidate)
        return "stands for epoch " + std::to_string(epoch().value) + " with grants of " +
               ids_text(lease_.voters(now));
    const LeaderView leader = user_leader(now);
    if (recovering_) {
        const Silence quiet = silence(now);
        if (!quiet.known) return "has no state file and waits to hear from the others";
        if (asked_again_at_ != never)
            return "has no state file and asks the others again for their epochs";
        return "silent after a restart, " +
               std::to_string(
                   std::max<std::int64_t>(promise_left(now, quiet.until).ns / 1'000'000, 0)) +
               " ms left";
    }
    if (silent(now))
        return "silent: another process with id " + std::to_string(config_.self.value) +
               " is or was connected elsewhere, " + time_text(promise_left(now, twin_over())) +
               " left";
    std::string hindered = why_hindered(now, reasons);
    if (leader.leader)
        return "follows " + std::to_string(leader.leader.value) +
               (hindered.empty() ? "" : "; " + hindered);
    if (!quorum_connected(now))
        return "no majority: hears " + std::to_string(connected(now).size() + 1) + " of " +
               std::to_string(size());
    if (!hindered.empty()) return hindered;
    if (config_.priority.is_never()) return "never a candidate";
    if (stopping_) return "is being stopped";
    if (reserved_for_other(now, config_.self))
        return "stands back: " + std::to_string(config_.self.value) + " promised to " +
               std::to_string(reservation_.successor.value);
    if (promise_.live_to_other(now, own_key()))
        return "stands back: " + std::to_string(config_.self.value) + " promised to " +
               std::to_string(promise_.key().id.value);
    if (!due(now, stand_back_until_)) return "stands back after its own resignation";
    return "no leader is known: an election is due";
}

// What keeps it from standing for longer than an election takes, so that an operator should know of
// it also while somebody else leads.
std::string Core::why_hindered(Instant now, const HostReasons& reasons) const {
    if (!healthy_) return "unhealthy" + (reasons.unhealthy.empty() ? "" : ": " + reasons.unhealthy);
    if (config_.priority.is_never()) return {};
    if (!willing_)
        return "does not stand: " +
               (reasons.unwilling.empty() ? "it has nobody to do the work" : reasons.unwilling);
    if (!due(now, healthy_from_))
        return "was unhealthy; it stands again in " + time_text(elapsed(now, healthy_from_));
    if (lease_refused(now)) return "does not stand: too many members refuse so long a lease";
    return {};
}

}  // namespace bullring::protocol
