// The durable reserve (PROTOCOL R7): the disk knows a higher epoch, and a longer promise, than will
// be needed for a while, so that no grant on the failover path waits for a write.
#pragma once

#include <optional>
#include <tuple>

#include "protocol/lease/epoch_bound.hpp"
#include "protocol/values/state.hpp"
#include "protocol/values/step.hpp"

namespace bullring::protocol {

class Reserve {
public:
    /// So far ahead the disk is asked for at first, and so little may be left of it.
    static constexpr std::uint64_t ahead = 1024;
    static constexpr std::uint64_t low = 512;
    /// Others follow a restart that begins so far ahead at once (EpochBound, R9).
    static constexpr std::uint64_t ahead_max = EpochBound::step;
    /// So long it waits with what no vote waits for.
    static constexpr Duration patience = seconds(5);

    /// `hooks`: of this run. Those of the run before count until may_be_outlived() says else.
    Reserve(const std::optional<Durable>& file, bool hooks)
        : disk_(file.value_or(Durable{})), wanted_(disk_), hooks_(hooks) {
        wanted_.hooks |= hooks;
    }

    const Durable& on_disk() const { return disk_; }
    /// The promised_max that a restart will know at least, once the writes under way are done.
    Duration promised_max() const;
    /// A grant of this epoch and length is covered, and a restart will know of hooks if there are
    /// any. A write in progress counts as not done, and one that lowers promised_max as done
    /// already.
    bool covers(Epoch epoch, Duration length) const;
    bool writing() const { return writing_.has_value(); }
    bool all_written() const { return !writing_ && wanted_ == disk_; }

    /// How far the disk is asked for when this epoch is in use: twice as far each time that a write
    /// under way will be too little when it is done, and half as far each time that one is not. Of
    /// a disk that takes seconds candidates would else be ahead for ever.
    Epoch ahead_of(Epoch used);
    /// Asks for at least so much; zeros ask for nothing.
    void want(Epoch hw, Duration promised_max);
    /// Asks for that list in place of an older one. No vote is given under an older one from then
    /// on.
    void want(const Membership& newer);
    /// C11.2: asks for that id of the cluster in place of one that is not settled and of no newer
    /// leader.
    void want(const Identity& told);
    /// C13.1: asks for that id of its own directory, if it has none yet.
    void want(DirectoryId own) {
        if (!wanted_.directory) wanted_.directory = own;
    }
    /// Of a node without a file it will be that of its first one.
    DirectoryId directory() const { return wanted_.directory; }
    /// C13.1: asks for that in place of what was known of the member; only of a member of the list.
    void want_met(const MetDirectory& met, Instant now);
    /// All that are known, on the disk or on their way there.
    const std::vector<MetDirectory>& met() const { return wanted_.met; }
    /// The list on the disk, or the newer one that is to come there.
    const Membership& newest_members() const { return wanted_.members; }
    /// The identity on the disk, or that which is to come there.
    const Identity& newest_identity() const { return wanted_.identity; }
    bool has_members() const { return wanted_.members == disk_.members; }
    /// Epochs up to `max_seen` may be asked for soon.
    void keep_ahead_of(Epoch max_seen);
    /// Nothing above this will be granted any more (a clean stop).
    void want_exactly(Epoch hw) { wanted_.hw = hw; }
    /// No promise longer than `needed` is out or expected, and all that the disk's value stands for
    /// have ended: the disk may say less.
    void lower_promised_max(Duration needed);
    /// Whether something may outlive the process from now on; said when nothing of an earlier run
    /// does any more.
    void may_be_outlived(bool outlived) { wanted_.hooks = outlived; }
    /// Writes what is wanted, one write at a time. Whom it has met can wait for another write, but
    /// at a clean stop: on a slow disk it would hold up what a vote waits for.
    void write(Step& step, bool at_stop = false);
    void on_persisted(const Durable& durable);

    bool operator==(const Reserve&) const = default;
    auto digest_fields() const {
        return std::tie(disk_, wanted_, writing_, ahead_, outrun_, met_at_);
    }

private:
    Durable disk_;
    Durable wanted_;
    std::optional<Durable> writing_;
    std::uint64_t ahead_ = ahead;
    bool hooks_ = false;   // no vote before the disk says so
    bool outrun_ = false;  // the write under way
    Instant met_at_ = long_ago;
};

}  // namespace bullring::protocol
