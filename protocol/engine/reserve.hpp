// The durable reserve (PROTOCOL R7): the disk knows a higher epoch, and a longer promise, than will
// be needed for a while, so that no grant on the failover path waits for a write.
#pragma once

#include <optional>
#include <tuple>

#include "protocol/member/step.hpp"
#include "protocol/values/state.hpp"

namespace bullring::protocol {

class Reserve {
public:
    /// So far ahead the disk is asked for, and so little may be left of it.
    static constexpr std::uint64_t ahead = 1024;
    static constexpr std::uint64_t low = 512;

    explicit Reserve(const std::optional<Durable>& file)
        : disk_(file.value_or(Durable{})), wanted_(disk_) {}

    const Durable& on_disk() const { return disk_; }
    /// What a restart will know at least, once the writes under way are done.
    Duration promised_max() const;
    /// A grant of this epoch and length is covered. A write in progress counts as not done, and one
    /// that lowers promised_max as done already.
    bool covers(Epoch epoch, Duration length) const;
    bool writing() const { return writing_.has_value(); }
    bool all_written() const { return !writing_ && wanted_ == disk_; }

    /// Asks for at least so much; zeros ask for nothing.
    void want(Epoch hw, Duration promised_max);
    /// Epochs up to `max_seen` may be asked for soon.
    void keep_ahead_of(Epoch max_seen);
    /// Nothing above this will be granted any more (a clean stop).
    void want_exactly(Epoch hw) { wanted_.hw = hw; }
    /// No promise longer than `needed` is out or expected, and all that the disk's value stands for
    /// have ended: the disk may say less.
    void lower_promised_max(Duration needed);
    /// Writes what is wanted, one write at a time.
    void write(Step& step);
    void on_persisted(const Durable& durable);

    bool operator==(const Reserve&) const = default;
    auto digest_fields() const { return std::tie(disk_, wanted_, writing_); }

private:
    Durable disk_;
    Durable wanted_;
    std::optional<Durable> writing_;
};

}  // namespace bullring::protocol
