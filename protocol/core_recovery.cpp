// The silence after a restart, the start without a state file (PROTOCOL R6), and the durable
// reserve that keeps the disk off the failover path (R7).
#include <algorithm>

#include "protocol/core.hpp"

namespace bullring::protocol {

namespace {
constexpr std::uint64_t reserve_low = 512;
constexpr std::uint64_t epochs_per_ms = 1024;
}  // namespace

Core::Silence Core::silence(Instant now) const {
    const Duration own = promise_length(timing().lease);
    if (size() == 1) return {true, started_, !had_file_};
    if (had_file_) return {true, started_ + std::max(file_promised_max_, own), false};

    std::size_t answered = 0;
    std::size_t with_file = 0;
    Duration theirs = own;
    Duration all = own;
    for (Index i = 0; i < size(); ++i) {
        if (i == me_ || !peers_[i].has_ack) continue;
        const HelloAck& ack = peers_[i].ack;
        ++answered;
        all = std::max(all, promise_length(std::min(ack.lease, timing().lease_max)));
        if (!ack.had_file_at_start) continue;
        ++with_file;
        theirs = std::max(theirs, ack.promised_max);
    }
    const std::size_t others = size() - 1;
    const std::size_t enough = size() - majority() + 1;
    const bool from_clock = with_file < std::min(enough, others);
    if (with_file >= enough) return {true, started_ + theirs, from_clock};
    if (answered == others) return {true, started_ + std::max(theirs, all), from_clock};
    if (due(now, started_ + config_.bootstrap_wait))
        return {true, started_ + promise_length(timing().lease_max), from_clock};
    return {false, never, from_clock};
}

void Core::advance_recovery(Step& step) {
    const Silence quiet = silence(step.now);
    if (!quiet.known) return;
    const bool over = promise_over(step.now, quiet.until);
    if (!floor_decided_) decide_floor(step, quiet.from_clock);
    // The floor is written while the silence lasts, and the silence itself with it, so that a crash
    // now forgets neither.
    const Duration own = promise_length(timing().lease);
    want_durable(promise_.vmax() + reserve_ahead,
                 std::max(own, Duration{elapsed(started_, quiet.until)}));
    const bool durable = disk_.hw >= promise_.vmax() + reserve_low && disk_.promised_max >= own;
    if (over && durable) leave_recovery(step);
}

// A fresh node's epochs begin where nobody can have been before it: by the wall clock, unless the
// user keeps the disks (`--first-epoch 0`) and all members have answered that none of them had a
// file.
void Core::decide_floor(Step& step, bool from_clock) {
    floor_decided_ = true;
    if (!from_clock) return;
    std::size_t fresh = 1;
    for (Index i = 0; i < size(); ++i)
        if (i != me_ && peers_[i].has_ack && !peers_[i].ack.had_file_at_start) ++fresh;
    if (config_.first_epoch == FirstEpoch::zero && fresh == size()) return;
    promise_.raise_floor({epochs_per_ms * wall_clock_ms_});
    raise_max_seen(promise_.vmax());
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
    const bool bootstrapping = recovering_ && !had_file_ && !silence(step.now).known;
    if (bootstrapping) return;
    if (max_seen_ + reserve_low > std::max(disk_.hw, wanted_.hw))
        want_durable(max_seen_ + reserve_ahead, Duration{0});
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
        if (i != me_ && peers_[i].lease <= timing().lease_max)
            needed = std::max(needed, promise_length(peers_[i].lease));
    if (needed < disk_.promised_max) wanted_.promised_max = needed;
}

void Core::on_persisted(Step&, const Persisted& event) {
    disk_ = event.durable;
    persisting_ = false;
}

}  // namespace bullring::protocol
