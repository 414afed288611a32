#include "protocol/engine/reserve.hpp"

#include <algorithm>

namespace bullring::protocol {

Duration Reserve::promised_max() const {
    return std::max(disk_.promised_max, wanted_.promised_max);
}

bool Reserve::covers(Epoch epoch, Duration length) const {
    const Duration longest =
        writing_ ? std::min(disk_.promised_max, writing_->promised_max) : disk_.promised_max;
    return epoch <= disk_.hw && length <= longest;
}

void Reserve::want(Epoch hw, Duration promised_max) {
    wanted_.hw = std::max({wanted_.hw, disk_.hw, hw});
    wanted_.promised_max = std::max({wanted_.promised_max, disk_.promised_max, promised_max});
}

void Reserve::keep_ahead_of(Epoch max_seen) {
    if (max_seen + low > std::max(disk_.hw, wanted_.hw)) want(max_seen + ahead, Duration{0});
}

void Reserve::lower_promised_max(Duration needed) {
    if (all_written() && needed < disk_.promised_max) wanted_.promised_max = needed;
}

void Reserve::write(Step& step) {
    if (writing_ || wanted_ == disk_) return;
    writing_ = wanted_;
    step.act(Persist{wanted_});
}

void Reserve::on_persisted(const Durable& durable) {
    disk_ = durable;
    writing_.reset();
}

}  // namespace bullring::protocol
