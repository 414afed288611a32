// Counts each fault and each reaction of a run. A sweep in which one of them never happened has not
// tested it, and fails.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bullring::sim {

enum class Seen : std::uint8_t {
    // ---- Faults.
    crash,
    crash_within_a_step,
    crash_by_reset,
    power_off,
    stop,
    start,
    pause,
    pause_within_a_step,
    suspend,
    slow_cpu,
    clock_rate_change,
    cut_one_way,
    cut_two_ways,
    heal,
    session_reset,
    session_forgotten,
    fin_forged,
    bit_flipped,
    disk_lost,
    disk_torn,
    disk_older,
    disk_slow,
    disk_failing,
    task_hangs,
    task_ends,
    task_fails,
    health_lost,
    health_lost_everywhere,
    stall,
    resign_asked,
    second_process,
    readdressed,
    other_heartbeat,
    wires_differ,
    wall_clocks_differ,
    best_node_flaps,
    members_asked,
    address_mistaken,
    disk_copied,
    disk_of_predecessor,
    client_attached,
    client_done,
    client_killed,
    client_forked,
    client_closed,
    client_stopped,
    client_deaf,
    client_ended_with_its_node,
    // ---- Reactions.
    elected,
    elected_by_clock_epoch,
    elected_successor,
    elected_without_quorum,
    candidacy_abandoned,
    release_by_fin,
    release_by_notice,
    release_by_resign,
    request_parked,
    parked_request_served,
    renewal_below_floor,
    grant_after_disk,
    token_sent_again,
    session_lingers,
    lingering_session_closed,
    nack_busy,
    nack_stale,
    nack_recovering,
    nack_reserved,
    nack_too_long,
    nack_unknown_holder,
    told_of_twin,
    recall_none,
    recall_held,
    promise_resumed,
    slow_peer_awaited,
    probation_cut_short,
    hold_off_begun,
    deposed_resigned,
    deposed_preempted,
    deposed_lapsed,
    deposed_stalled,
    deposed_unhealthy,
    deposed_task_ended,
    deposed_task_failed,
    deposed_stopped,
    deposed_by_higher_rank,
    end_by_eof,
    end_by_reset,
    end_by_timeout,
    end_by_protocol,
    end_by_overflow,
    handshake_refused,
    message_ok,
    message_decline,
    message_leader,
    message_token,
    message_coordinator_token,
    list_proposed,
    forgotten,
    list_installed,
    list_refused_as_stale,
    list_told,
    list_told_without_vote,
    members_done,
    members_refused,
    identity_settled,
    identity_refused,
    client_elected,
    client_told_to_end,
    frozen_graph,
    count,  // not a thing: how many there are
};

inline constexpr std::size_t seen_count = static_cast<std::size_t>(Seen::count);

std::string_view name(Seen what);
std::optional<Seen> seen_named(std::string_view name);

class Coverage {
public:
    void count(Seen what) { ++counts_[static_cast<std::size_t>(what)]; }
    std::uint64_t of(Seen what) const { return counts_[static_cast<std::size_t>(what)]; }
    void add(Seen what, std::uint64_t times) { counts_[static_cast<std::size_t>(what)] += times; }
    void add(const Coverage& other) {
        for (std::size_t i = 0; i < seen_count; ++i) counts_[i] += other.counts_[i];
    }
    bool operator==(const Coverage&) const = default;

private:
    std::array<std::uint64_t, seen_count> counts_{};
};

}  // namespace bullring::sim
