#include "protocol/recovery/reserve.hpp"

#include <algorithm>

namespace bullring::protocol {

Duration Reserve::promised_max() const {
    return std::max(disk_.promised_max, wanted_.promised_max);
}

bool Reserve::covers(Epoch epoch, Duration length) const {
    // R2.6: a write under way that raises counts as not done, and one that lowers as done.
    const Duration longest =
        writing_ ? std::min(disk_.promised_max, writing_->promised_max) : disk_.promised_max;
    const bool hooks_known = disk_.hooks || !hooks_;
    return epoch <= disk_.hw && length <= longest && hooks_known;
}

Epoch Reserve::ahead_of(Epoch used) {
    // R7.3: the write under way will be too little when it is done.
    if (writing_ && !outrun_ && used + low > writing_->hw) {
        outrun_ = true;
        ahead_ = std::min(ahead_ * 2, ahead_max);
    }
    return used + ahead_;
}

void Reserve::want(Epoch hw, Duration promised_max) {
    wanted_.hw = std::max({wanted_.hw, disk_.hw, hw});
    wanted_.promised_max = std::max({wanted_.promised_max, disk_.promised_max, promised_max});
}

void Reserve::want(const Membership& newer) {
    if (newer.tag() > wanted_.members.tag()) wanted_.members = newer;
}

// C11.2
void Reserve::want(const Identity& told) {
    Identity& has = wanted_.identity;
    if (has.settled) return;
    // R9: one message alone binds nobody for ever: the id is given first, and then called settled.
    const bool again = told.settled && told.id == has.id;
    if (told.settled || told.epoch >= has.epoch) has = {told.id, told.epoch, again};
}

// C13.1
void Reserve::want_met(const MetDirectory& met, Instant now) {
    std::vector<MetDirectory>& all = wanted_.met;
    if (std::find(all.begin(), all.end(), met) != all.end()) return;
    met_at_ = now;
    // Before there is a file it is a member of the list that is to come there.
    const auto is_member = [&](NodeId id) {
        return wanted_.members.empty() || wanted_.members.find(id) != nullptr;
    };
    std::erase_if(all, [&](const MetDirectory& one) {
        return one.member == met.member || !is_member(one.member);
    });
    if (!is_member(met.member)) return;
    const auto after = std::find_if(
        all.begin(), all.end(), [&](const MetDirectory& one) { return one.member > met.member; });
    all.insert(after, met);
}

// R7.2
void Reserve::keep_ahead_of(Epoch max_seen) {
    if (max_seen + low > std::max(disk_.hw, wanted_.hw)) want(ahead_of(max_seen), Duration{0});
}

void Reserve::lower_promised_max(Duration needed) {
    if (all_written() && needed < disk_.promised_max) wanted_.promised_max = needed;
}

void Reserve::write(Step& step, bool at_stop) {
    if (writing_ || wanted_ == disk_) return;
    const auto all_but_met = [](const Durable& one) {
        return std::tie(one.hw, one.promised_max, one.hooks, one.members, one.identity,
                        one.directory);
    };
    const bool can_wait = !at_stop && !due(step.now, met_at_ + patience);
    if (can_wait && all_but_met(wanted_) == all_but_met(disk_)) return;
    writing_ = wanted_;
    step.act(Persist{wanted_});
}

void Reserve::on_persisted(const Durable& durable) {
    disk_ = durable;
    writing_.reset();
    if (disk_.met == wanted_.met) met_at_ = long_ago;
    if (!outrun_) ahead_ = std::max(ahead_ / 2, ahead);
    outrun_ = false;
}

}  // namespace bullring::protocol
