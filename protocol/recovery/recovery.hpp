// The silence after a restart and the start without a state file (PROTOCOL R6, C8): how long a node
// has to be silent, and whether it knows its list of members, and below which epoch all its
// forgotten grants are.
#pragma once

#include <cstddef>
#include <tuple>

#include "protocol/peers/peers.hpp"
#include "protocol/values/dialling.hpp"

namespace bullring::protocol {

class Recovery {
public:
    struct Silence {
        bool known = false;
        Instant until = never;
    };

    Recovery(const Setup& setup, const Start& start);

    bool over() const { return over_; }
    Instant over_at() const { return over_at_; }
    /// `early`: by what the others have answered, and not by time.
    void end(Instant now, bool early);
    bool ended_early() const { return ended_early_; }
    bool had_file() const { return had_file_; }
    /// Something that an earlier run has started may act until the silence is over.
    bool hooks_before() const { return hooks_before_; }

    /// Until when the grants of its earlier runs may count.
    Silence silence(Instant now, const Peers& peers) const;

    /// Without a file: whom it still waits for is to be said, once, when that takes a while.
    bool should_tell(Instant now) const {
        return !had_file_ && !over_ && !told_ && due(now, setup_.started() + tell_after);
    }
    void has_told() { told_ = true; }

    /// The epochs that its earlier runs may have granted are below what is known here.
    bool floor_known() const { return floor_known_; }
    void floor_is_known() { floor_known_ = true; }
    /// Without a file: the silence is over, and the others are asked again.
    bool asked_again() const { return asked_again_at_ != never; }
    void ask_again(Instant now) { asked_again_at_ = now; }
    /// Those that have been asked again have had the time to answer.
    bool waited_again(Instant now) const;
    /// Whether the epochs begin where nobody can have been before: at the wall clock. Not if enough
    /// others know, nor if the user keeps the disks (`--first-epoch 0`) and all others say that
    /// they had none. `again`: of what they have answered after the silence.
    bool floor_from_clock(const Peers& peers, bool again) const;
    /// C8.1: so many others that have a file have answered after the silence that their list was
    /// never changed.
    bool list_is_known(const Peers& peers) const;
    /// C8: whatever it may have promised before is over, and only a leader can say who the members
    /// are.
    bool waits_for_list() const { return waits_for_list_; }
    void wait_for_list() { waits_for_list_ = true; }
    Instant longest_silence() const { return setup_.started() + setup_.longest_promise(); }
    /// C8.6: a member of a cluster that has grown has had the time to dial a node that is alone.
    bool alone_for_long_enough(Instant now) const {
        return due(now, setup_.started() + first_call_max(setup_.timing()));
    }
    void follow(const Setup& setup) { setup_ = setup; }
    /// The epochs of a first start begin at this node's wall clock.
    Epoch clock_epoch() const;

    void collect_wakes(WakeTime& wake, const Peers& peers) const;
    bool operator==(const Recovery&) const = default;
    auto digest_fields() const {
        return std::tie(wall_clock_ms_, had_file_, hooks_before_, file_promised_max_, over_,
                        over_at_, ended_early_, floor_known_, asked_again_at_, waits_for_list_,
                        told_);
    }

private:
    struct Answers {  // HELLO_ACKs
        std::size_t all = 0;
        std::size_t with_file = 0;  // at their start
        Duration longest_promise{0};
        Duration longest_lease{0};
    };
    /// By then the members of a cluster that is started as a whole have heard each other.
    static constexpr Duration tell_after = seconds(1);
    Answers answers(const Peers& peers, bool again) const;
    /// So many that have kept their files know of every epoch that this node has granted.
    std::size_t enough_with_file() const;

    Setup setup_;
    std::uint64_t wall_clock_ms_ = 0;
    bool had_file_ = false;
    bool hooks_before_ = false;
    Duration file_promised_max_{0};
    bool over_ = false;
    Instant over_at_ = never;
    bool ended_early_ = false;
    bool floor_known_ = false;
    Instant asked_again_at_ = never;
    bool waits_for_list_ = false;
    bool told_ = false;
};

}  // namespace bullring::protocol
