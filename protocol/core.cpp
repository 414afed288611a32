#include "protocol/core.hpp"

#include "protocol/assert.hpp"

namespace bullring::protocol {

Core::Core(const Config& config, const Start& start)
    : config_(config),
      me_(config.members.index(config.self).value_or(0)),
      incarnation_(start.incarnation),
      started_(start.now),
      wall_clock_ms_(start.wall_clock_ms),
      had_file_(start.file.has_value()),
      file_promised_max_(start.file ? start.file->promised_max : Duration{0}),
      disk_(start.file.value_or(Durable{})),
      wanted_(disk_),
      promise_(disk_.hw),
      lease_(config.members.size(), majority()),
      max_seen_(disk_.hw),
      refused_wait_(config.members.size(), Duration{0}),
      peers_(config.members.size()),
      rng_(start.seed) {
    BULLRING_ASSERT(config.members.index(config.self).has_value());
    BULLRING_ASSERT(config.members.size() <= members_max);
    recovering_ = !textbook();
    if (textbook()) recovered_at_ = start.now;
}

std::size_t Core::majority() const { return textbook() ? 1 : config_.members.majority(); }

Rank Core::rank(Index i) const {
    return i == me_ ? own_rank() : Rank{peers_[i].introduction.priority, id(i)};
}

bool Core::learn_epoch(Instant now, Epoch epoch) {
    max_seen_ = epoch_bound_.raised(now, max_seen_, epoch);
    return epoch <= max_seen_;
}

void Core::advance(Step& step) {
    if (recovering_) advance_recovery(step);
    if (role_ == Role::candidate && due(step.now, candidate_until_)) abandon(step, Duration{0});
    serve_awaiting_disk(step);
    serve_park(step);
    if (textbook()) follow_higher_leader(step);

    const bool connected_majority = quorum_connected(step.now);
    if (!connected_majority) {
        quorum_since_ = never;
    } else if (quorum_since_ == never) {
        quorum_since_ = step.now;
    }

    const bool known = leader_known(step.now);
    // The probation after bad health lets others lead. Where none can, it would only be a time
    // without a leader.
    const bool on_probation = healthy_ && !due(step.now, healthy_from_);
    if (on_probation && connected_majority && !known && !another_may_lead(step.now))
        healthy_from_ = step.now;
    if (leader_was_known_ && !known)
        start_at_ = step.now +
                    timing().stagger * static_cast<std::int64_t>(connected_higher(step.now).size());
    leader_was_known_ = known;
    leader_ever_known_ = leader_ever_known_ || known;
    close_lingering(step);
}

void Core::collect_wakes(WakeTime& wake) const {
    const Instant now = wake.now();
    if (role_ != Role::follower && role_ != Role::candidate) wake.lease(lease_end());
    if (role_ == Role::candidate) wake.timer(candidate_until_);
    if (role_ == Role::stepping_down && step_down_.renewing) wake.timer(step_down_.give_up_at);
    if (role_ == Role::leader) wake.lease(lease_end() - timing().kill_margin);
    wake.timer(next_renewal_);
    wake.promise(promise_.end());
    if (reservation_.successor) wake.timer(reservation_.until);
    if (park_) wake.timer(park_->since + timing().campaign_wait);
    if (recovering_) {
        wake.promise(silence(now).until);
        wake.timer(started_ + config_.bootstrap_wait);
        wake.timer(asked_again_at_ + config_.bootstrap_wait);
    }
    for (const Instant at : {retry_at_, start_at_, stand_back_until_, modest_until_,
                             next_heartbeat_, changed_heartbeat_at_, healthy_from_})
        wake.timer(at);
    if (!recovering_) wake.timer(recovered_at_ + promise_length(timing().lease));
    for (Index i = 0; i < size(); ++i) {
        if (i == me_) continue;
        if (peers_[i].accepted) wake.timer(peers_[i].heard_at + silence_allowed(i));
        wake.timer(peers_[i].view.until);
        wake.promise(peers_[i].twin_over);
    }
    for (const DialledSession& session : sessions_.all_dialled())
        if (session.state == DialledState::lingering) wake.lease(lease_.tied_until(session.id));
}

}  // namespace bullring::protocol
