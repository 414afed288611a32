// The silence after a restart, the start without a state file (PROTOCOL R6), and the durable
// reserve that keeps the disk off the failover path (R7).
#include <algorithm>

#include "protocol/core.hpp"

namespace bullring::protocol {

namespace {
constexpr std::uint64_t reserve_low = 512;
constexpr std::uint64_t epochs_per_ms = 1024;
}  // namespace

// What the others have said of themselves; with `again` only those that have answered a HELLO of
// after the silence.
Core::Answers Core::answers(bool again) const {
    Answers answers;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_ || !peers_[i].has_ack || (again && !peers_[i].answered_again)) continue;
        const HelloAck& ack = peers_[i].ack;
        ++answers.all;
        answers.longest_lease = std::max(answers.longest_lease, ack.lease);
        if (!ack.had_file_at_start) continue;
        ++answers.with_file;
        answers.longest_promise = std::max(answers.longest_promise, ack.promised_max);
    }
    // Nobody's word is a reason for a longer silence than all promises can need.
    answers.longest_lease = std::min(answers.longest_lease, timing().lease_max);
    answers.longest_promise = std::min(answers.longest_promise, longest_promise());
    return answers;
}

std::size_t Core::enough_with_file() const { return size() - majority() + 1; }

// Another process with this id votes elsewhere, or did so until a moment ago. It may be one whose
// directory is not this node's, so nothing is known of its promises but that none is longer than
// lease-max.
void Core::told_of_twin(Step& step, Peer& by) {
    by.hears_twin = true;
    by.twin_over = step.now + promise_length(timing().lease_max);
    if (role_ == Role::candidate) abandon(step, Duration{0});
}

// Now that process is gone, as far as `by` can tell. Usually it was this node's earlier run, whose
// FIN came late: what it may have promised is as long as after any restart, but from now.
void Core::taken_after_twin(Peer& by, Instant now) {
    if (!by.hears_twin) return;
    by.hears_twin = false;
    if (promise_over(now, by.twin_over)) return;
    const Silence quiet = silence(now);
    const Duration forgotten =
        quiet.known
            ? std::max({elapsed(started_, quiet.until), disk_.promised_max, wanted_.promised_max})
            : longest_promise();
    by.twin_over = now + std::min(forgotten, longest_promise());
}

Instant Core::twin_over() const {
    Instant over = long_ago;
    for (const Peer& peer : peers_) over = later(over, peer.twin_over);
    return over;
}

Core::Silence Core::silence(Instant now) const {
    const Duration own = promise_length(timing().lease);
    if (size() == 1) return {true, started_};
    if (had_file_) return {true, started_ + std::max(file_promised_max_, own)};
    const Answers heard = answers(false);
    const Duration theirs = std::max(own, heard.longest_promise);
    if (heard.with_file >= enough_with_file()) return {true, started_ + theirs};
    if (heard.all == size() - 1)
        return {true, started_ + std::max(theirs, promise_length(heard.longest_lease))};
    if (due(now, started_ + config_.bootstrap_wait)) return {true, started_ + longest_promise()};
    return {false, never};
}

void Core::advance_recovery(Step& step) {
    const Silence quiet = silence(step.now);
    if (asked_again_at_ == never) {
        if (!quiet.known) return;
        const bool over = promise_over(step.now, quiet.until);
        if (had_file_) {
            // The length of the silence is on the disk before it ends, so that a crash in it
            // forgets nothing.
            floor_known_ = true;
            keep_for_recovery(Duration{elapsed(started_, quiet.until)});
        }
        if (!over) return;
        if (!floor_known_) end_silence_without_file(step);
    }
    if (!floor_known_) find_floor(step);
    if (!floor_known_) return;
    const Duration own = promise_length(timing().lease);
    keep_for_recovery(own);
    if (disk_.hw >= promise_.vmax() + reserve_low && disk_.promised_max >= own)
        leave_recovery(step);
}

void Core::keep_for_recovery(Duration promised_max) {
    want_durable(promise_.vmax() + reserve_ahead,
                 std::max(promise_length(timing().lease), promised_max));
}

// What its lost run has granted may be counted until the silence ends, and may elect somebody. So
// what the others know before that is not enough: they are asked again, by a new HELLO.
void Core::end_silence_without_file(Step& step) {
    asked_again_at_ = step.now;
    if (floor_from_clock(answers(false))) return;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_) continue;
        std::vector<SessionId> before;
        for (const DialledSession& session : sessions_.all_dialled())
            if (session.peer == i) before.push_back(session.id);
        for (const SessionId session : before) {
            step.act(CloseSession{session});
            sessions_.remove_dialled(session);
        }
        peers_[i].dialled = no_session;
        if (!before.empty()) step.act(DialNow{id(i)});
    }
}

/// Whether the epochs begin where nobody can have been before: at the wall clock. Not if enough
/// others know, nor if the user keeps the disks (`--first-epoch 0`) and all others say that they
/// had none.
bool Core::floor_from_clock(const Answers& heard) const {
    const std::size_t others = size() - 1;
    if (heard.with_file >= std::min(enough_with_file(), others) && others > 0) return false;
    const bool all_new = heard.all == others && heard.with_file == 0;
    return config_.first_epoch == FirstEpoch::clock || !all_new;
}

void Core::find_floor(Step& step) {
    const Answers again = answers(true);
    const bool waited = due(step.now, asked_again_at_ + config_.bootstrap_wait);
    if (!floor_from_clock(again)) {
        floor_known_ = true;
    } else if (waited || floor_from_clock(answers(false))) {
        floor_known_ = true;
        take_floor_from_clock(step);
    }
}

void Core::take_floor_from_clock(Step& step) {
    promise_.raise_floor(
        {std::min(wall_clock_ms_, EpochBound::horizon.value / epochs_per_ms) * epochs_per_ms});
    max_seen_ = std::max(max_seen_, promise_.vmax());
    step.act(
        Note{Note::Level::info, nobody,
             "no state file here, and at too few others: epochs go on from the wall clock, above " +
                 std::to_string(promise_.vmax().value)});
}

void Core::leave_recovery(Step& step) {
    recovering_ = false;
    recovered_at_ = step.now;
}

void Core::want_durable(Epoch hw, Duration promised_max) {
    wanted_.hw = std::max({wanted_.hw, disk_.hw, hw});
    wanted_.promised_max = std::max({wanted_.promised_max, disk_.promised_max, promised_max});
}

void Core::keep_reserve(Step& step) {
    if (textbook()) return;
    // A file says that all that this node has granted is below its hw.
    if (recovering_ && !floor_known_) return;
    if (leaving()) {
        wanted_.hw = std::max(promise_.vmax(), lease_.epoch());
    } else if (max_seen_ + reserve_low > std::max(disk_.hw, wanted_.hw)) {
        want_durable(max_seen_ + reserve_ahead, Duration{0});
    }
    if (!recovering_) lower_promised_max(step.now);
    if (persisting_ || wanted_ == disk_) return;
    persisting_ = true;
    writing_ = wanted_;
    step.act(Persist{wanted_});
}

void Core::lower_promised_max(Instant now) {
    // Once the node has run for as long as its longest promise, only what it gave in this run
    // counts.
    if (persisting_ || wanted_ != disk_) return;
    Duration needed = std::max(promise_length(timing().lease), promised_since_start_);
    if (needed >= disk_.promised_max) return;
    if (!promise_over(now, started_ + disk_.promised_max)) return;
    for (Index i = 0; i < size(); ++i)
        if (i != me_) needed = std::max(needed, expected_promise(i));
    if (needed < disk_.promised_max) wanted_.promised_max = needed;
}

void Core::on_persisted(Step&, const Persisted& event) {
    disk_ = event.durable;
    persisting_ = false;
}

}  // namespace bullring::protocol
