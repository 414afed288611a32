// Owns: what a node remembers of its last changes of leader: the messages and events of each, from
// a little before the loss until one heartbeat after the new leader was known. The loop collects
// them; another thread reads them, and neither ever waits for the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/trace/trace_item.hpp"
#include "protocol/trace/trace_recorder.hpp"
#include "src/base/os/latest.hpp"
#include "src/node/leaders/leader_log.hpp"

namespace bullring {

/// One change of leader. Does not change once it has been published.
struct Failover {
    std::uint64_t number = 0;  // 1, 2, … since the start of the process
    protocol::NodeId node;     // that saw it
    protocol::NodeId from;     // `nobody`: there was no leader
    protocol::NodeId to;
    protocol::Epoch epoch;                // of the new leadership
    LeaderEnd before = LeaderEnd::first;  // how the one before went
    protocol::Instant unled_since;        // the last sign of life of the one before
    protocol::Instant found;              // here it knew the new one
    std::size_t left_out = 0;             // of the items, from the middle
    std::size_t left_out_before = 0;      // which of them
    std::vector<protocol::TraceItem> items;
};

/// Oldest first.
using Failovers = std::vector<std::shared_ptr<const Failover>>;

class RecentFailovers final : private protocol::TraceSink {
public:
    static constexpr std::size_t failovers_max = 8;
    /// Of one. Besides those that are shown, the reader may hold three that are not any more, and
    /// one is being collected.
    static constexpr std::size_t bytes_max = 21'000;

    RecentFailovers(const protocol::Config& config, protocol::Incarnation incarnation);

    /// The loop's thread: one step and what LeaderLog has made of it, after its messages have left.
    /// Allocates nothing while there is no election.
    void add(protocol::Instant now, const protocol::Event& event,
             const std::vector<protocol::Action>& actions, const std::vector<LeaderTurn>& turns);

    /// The reader's thread, of which there is one. A failover appears when it is settled.
    const Failovers& read() { return published_.read(); }

private:
    /// An unrest that may turn out to be a change of leader.
    struct Unrest {
        protocol::NodeId from;
        protocol::Epoch from_epoch;
        protocol::Instant began;
        LeaderEnd before = LeaderEnd::first;
        protocol::Instant unled_since;
        std::optional<protocol::Instant> found;
        std::vector<protocol::TraceItem> head;
        std::deque<protocol::TraceItem> tail;
        std::size_t head_bytes = 0;
        std::size_t tail_bytes = 0;
        std::size_t left_out = 0;
    };

    void add(const protocol::TraceEntry& entry, const protocol::Message& message) override;
    void add(const protocol::TraceMark& mark) override;
    void on_turn(const LeaderTurn& turn);
    bool has_changed() const;
    void begin_unrest();
    void keep(protocol::TraceItem item);
    void end_unrest_if_settled();
    void publish_change();

    protocol::NodeId self_;
    protocol::Duration heartbeat_;
    protocol::Duration quiet_;  // after it an unrest that has changed nothing is over
    protocol::TraceRecorder recorder_;
    protocol::Instant now_;
    protocol::NodeId leader_;
    protocol::Epoch epoch_;
    const LeaderTurn* turn_ = nullptr;        // of the mark that is added
    std::deque<protocol::TraceMark> before_;  // what the next unrest may begin with
    std::optional<Unrest> unrest_;
    std::uint64_t count_ = 0;
    Failovers kept_;
    Latest<Failovers> published_;
};

/// Its items in the format of `--trace`; an event says where some were left out.
std::string failover_lines(const Failover& failover);

}  // namespace bullring
