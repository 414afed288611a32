#include "protocol/recovery/recovery.hpp"

#include <algorithm>

#include "protocol/lease/epoch_bound.hpp"

namespace bullring::protocol {

Recovery::Recovery(const Setup& setup, const Start& start)
    : setup_(setup),
      wall_clock_ms_(start.wall_clock_ms),
      had_file_(start.file.has_value()),
      hooks_before_(start.file && start.file->hooks),
      file_promised_max_(start.file ? start.file->promised_max : Duration{0}) {}

void Recovery::end(Instant now, bool early) {
    over_ = true;
    ended_early_ = early;
    over_at_ = now;
}

Recovery::Answers Recovery::answers(const Peers& peers, bool again) const {
    Answers answers;
    for (const Index i : setup_.others()) {
        if (!peers[i].has_ack || (again && !peers[i].answered_again)) continue;
        const HelloAck& ack = peers[i].ack;
        ++answers.all;
        answers.longest_lease = std::max(answers.longest_lease, ack.lease);
        if (!ack.had_file_at_start || ack.changed) continue;
        ++answers.with_file;
        answers.longest_promise = std::max(answers.longest_promise, ack.promised_max);
    }
    // R9.2: nobody's word is a reason for a longer silence than all promises can need.
    answers.longest_lease = std::min(answers.longest_lease, setup_.timing().lease_max);
    answers.longest_promise = std::min(answers.longest_promise, setup_.longest_promise());
    return answers;
}

std::size_t Recovery::enough_with_file() const {
    return setup_.size() - setup_.members().majority() + 1;
}

Recovery::Silence Recovery::silence(Instant now, const Peers& peers) const {
    const Timing& timing = setup_.timing();
    const Instant started = setup_.started();
    const Duration own = timing.promise(timing.lease);
    // Hooks of before may act under the lease that this node has granted itself.
    if (setup_.size() == 1 && had_file_ && !hooks_before_) return {true, started};
    if (setup_.size() == 1 && !had_file_) return {true, started + first_call_max(timing)};
    // R6.1: with a file, as long as it says.
    if (had_file_) return {true, started + std::max(file_promised_max_, own)};
    // R6.11: without one, as long as enough others say, or as any promise can last.
    const Answers heard = answers(peers, false);
    const Duration theirs = std::max(own, heard.longest_promise);
    if (heard.with_file >= enough_with_file()) return {true, started + theirs};
    if (heard.all == setup_.size() - 1)
        return {true, started + std::max(theirs, timing.promise(heard.longest_lease))};
    if (due(now, started + setup_.config().bootstrap_wait))
        return {true, started + setup_.longest_promise()};
    return {};
}

bool Recovery::waited_again(Instant now) const {
    return due(now, asked_again_at_ + setup_.config().bootstrap_wait);
}

bool Recovery::floor_from_clock(const Peers& peers, bool again) const {
    const Answers heard = answers(peers, again);
    const std::size_t others = setup_.size() - 1;
    // R6.23: too few others know which epochs the lost runs have granted.
    if (heard.with_file >= std::min(enough_with_file(), others) && others > 0) return false;
    const bool all_new = heard.all == others && heard.with_file == 0;
    return setup_.config().first_epoch == FirstEpoch::clock || !all_new;
}

bool Recovery::list_is_known(const Peers& peers) const {
    std::size_t unchanged = 0;
    for (const Index i : setup_.others()) {
        const HelloAck& ack = peers[i].ack;
        const bool has_list = ack.had_file_at_start || !ack.recovering;
        if (peers[i].answered_again && has_list && !ack.changed) ++unchanged;
    }
    return unchanged >= enough_with_file();
}

Epoch Recovery::clock_epoch() const { return EpochBound::of_clock(wall_clock_ms_); }

void Recovery::collect_wakes(WakeTime& wake, const Peers& peers) const {
    if (over_) return;
    wake.promise(silence(wake.now(), peers).until);
    wake.timer(setup_.started() + setup_.config().bootstrap_wait);
    wake.timer(asked_again_at_ + setup_.config().bootstrap_wait);
    if (!had_file_) wake.promise(longest_silence());
    if (!had_file_ && !told_) wake.timer(setup_.started() + tell_after);
}

}  // namespace bullring::protocol
