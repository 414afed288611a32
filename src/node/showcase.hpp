// Owns: what a node's loop and the thread that serves HTTP say to each other. Neither takes a lock
// or waits: each writes what the other reads when it comes to it, and rings its bell.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/values/actions.hpp"
#include "protocol/values/view.hpp"
#include "src/base/os/bell.hpp"
#include "src/base/os/latest.hpp"
#include "src/node/leaders/leader_log.hpp"
#include "src/node/metrics/node_counts.hpp"
#include "src/node/report/recent_failovers.hpp"
#include "src/node/report/task_record.hpp"
#include "src/security/shown_credential.hpp"
#include "src/task/task_host.hpp"
#include "src/watch/lease_page.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

/// As the loop saw it at an instant.
struct ShownView {
    protocol::Instant at = protocol::long_ago;
    protocol::View view;
    bool sound = true;  // false: something has to be mended, which `view.why` says
};

/// The last changes of leader. A reader that comes often enough misses none.
struct RecentChanges {
    static constexpr std::size_t kept = 32;
    std::uint64_t count = 0;            // of all that there have been
    std::array<LeaderTurn, kept> last;  // that of number n at n % kept

    /// Calls `visit(turn)` for those with numbers from `from` on, as far as they are kept.
    template <class Visit>
    void each_from(std::uint64_t from, Visit visit) const {
        const std::uint64_t oldest = count > kept ? count - kept : 0;
        for (std::uint64_t n = std::max(from, oldest); n < count; ++n) visit(last[n % kept]);
    }
};

/// Round trips to the members that this node is connected to, as the kernel has measured them.
using PeerRtts = std::vector<std::pair<protocol::NodeId, protocol::Duration>>;

/// Facts for which the loop is asked.
struct Connected {
    PeerRtts rtts;
    SessionCredentials credentials;
    std::optional<ShownTask> task{};
};

class Showcase {
public:
    Showcase(protocol::Instant started_at, const protocol::Config& config,
             protocol::Incarnation incarnation)
        : started_at_(started_at), failovers_(config, incarnation) {}

    protocol::Instant started_at() const { return started_at_; }
    NodeCounts& counts() { return counts_; }

    // ---- The loop's thread.

    /// Before the reader's thread is there. Outlives this.
    void watch_by(LoopPulse& pulse) { pulse_ = &pulse; }
    /// Before any message of the step leaves.
    void publish(const protocol::Publish& publish);
    /// One step, after its messages. A change of leader is published with its view, so that a
    /// notified reader sees the change.
    void remember(protocol::Instant now, const protocol::Event& event,
                  const std::vector<protocol::Action>& actions,
                  const std::vector<LeaderTurn>& turns);
    /// After what the messages of the step make others do.
    void show(protocol::Instant now, protocol::View view, bool sound = true);
    /// The Unix socket may be gone.
    void socket_removed() {
        socket_removed_.store(true);
        changed_.ring();
    }
    void resign_answered(const protocol::ResignAnswer& answer);
    /// Rings when something is asked.
    const Bell& asked() const { return asked_; }
    /// The questions up to now are answered. Returns a request to resign, if there is a new one.
    std::optional<protocol::ResignRequested> answer(Connected connected);

    // ---- The reader's thread.

    const ShownView& view() { return views_.read(); }
    const RecentChanges& changes() { return changes_.read(); }
    const Failovers& failovers() { return failovers_.read(); }
    /// nullopt while the loop is stopped in the middle of a change.
    std::optional<LeaseSnapshot> lease() const { return lease_.read(); }
    /// An answer is about to say that this node leads at `now`.
    void says_that_it_leads(protocol::Instant now) {
        if (pulse_ != nullptr) pulse_->say(now.boottime_ns);
    }
    /// Since it was last asked.
    bool was_socket_removed() { return socket_removed_.exchange(false); }
    /// Rings after a change of leader, when an answer is there, and when the socket is gone.
    const Bell& changed() const { return changed_; }

    /// Asks the loop for a turn. The number of the question.
    std::uint64_t ask();
    /// The loop has turned since question `number` was asked.
    bool is_answered(std::uint64_t number) const { return answered_.load() >= number; }
    const Connected& connected() { return connected_.read(); }
    /// One at a time. The number that its answer will have.
    std::uint64_t ask_to_resign(protocol::NodeId to);
    /// The last one.
    const protocol::ResignAnswer& resign_answer() { return resign_answers_.read(); }

private:
    protocol::Instant started_at_;
    NodeCounts counts_;
    LeasePage lease_;
    LoopPulse* pulse_ = nullptr;
    Latest<ShownView> views_;
    RecentChanges recent_;             // the loop's own copy
    std::uint64_t shown_changes_ = 0;  // how many of them the reader has seen
    Latest<RecentChanges> changes_;
    RecentFailovers failovers_;
    Latest<Connected> connected_;
    Latest<protocol::ResignAnswer> resign_answers_;
    Bell changed_;

    std::atomic<bool> socket_removed_{false};
    std::atomic<std::uint64_t> questions_{0};
    std::atomic<std::uint64_t> answered_{0};
    Latest<protocol::ResignRequested> resigns_;
    std::uint64_t resigns_asked_ = 0;  // the reader's
    std::uint64_t resigns_seen_ = 0;   // the loop's
    Bell asked_;
};

}  // namespace bullring
