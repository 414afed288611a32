// The timing parameters of PROTOCOL §12: the named profiles, how they scale, and the inequalities
// without which a set of them is not safe or cannot be live.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/values/durations.hpp"
#include "protocol/values/messages.hpp"
#include "protocol/values/time.hpp"

namespace bullring::protocol {

enum class Profile : std::uint8_t { realtime, fast, lan, cloud, wan };

const char* name(Profile profile);

struct Timing {
    Duration heartbeat;         // h
    Duration suspect_after;     // T_s
    Duration lease;             // L
    Duration campaign_lease;    // L_c
    Duration poll_wait;         // T_ok
    Duration campaign_wait;     // T_camp
    Duration coordinator_wait;  // T_coord
    Duration hop_wait;          // T_hop
    Duration ring_wait;         // T_ring
    Duration stagger;           // δ
    Duration round_trip;        // RTT, assumed
    Duration pause;             // the longest scheduling pause that must not cost a candidacy
    std::uint32_t rho_ppm = 1000;
    Duration lease_max = seconds(10);
    Duration preempt_delay = seconds(10);  // T_stable
    Duration kill_margin{0};  // how long before the lease's end the task counts as lost
    Duration step_down_timeout = seconds(2);
    Duration hand_over_hold_off = seconds(60);
    Duration hand_over_hold_off_max = seconds(3600);
    bool operator==(const Timing&) const = default;

    /// How often followers send each other heartbeats while a leader vouches for them; and a leader
    /// its renewals to a member without a vote.
    Duration followers_pace() const { return heartbeat * 2; }
    /// After how many periods two members without a vote, of which there are `count`, send each
    /// other a heartbeat: so the cost of all grows with their number, and not with its square.
    static constexpr std::int64_t periods_without_votes(std::size_t count) {
        return static_cast<std::int64_t>(std::max<std::size_t>(2, (count + 1) / 2));
    }
    /// The same where one of the two has a vote, as have `voters` in all.
    static constexpr std::int64_t periods_of_voters(std::size_t voters) {
        return static_cast<std::int64_t>(std::max<std::size_t>(1, (voters + 15) / 16));
    }
    /// T_ring with so many members: at least that of the configuration, for a token visits all.
    Duration ring_wait_of(std::size_t members) const;
    /// T_res: how long a reservation for a successor holds.
    Duration reservation() const;
    /// P(x): the length of a promise for a lease x, so that it covers the lease for all rates
    /// within 1±ρ of real time on both sides.
    Duration promise(Duration lease_length) const;
};

/// The timings that a user may set; those that are not given are scaled by the first that is
/// (lease, heartbeat, suspect-after, in this order).
struct TimingRequest {
    Profile profile = Profile::lan;
    std::optional<Duration> lease;
    std::optional<Duration> heartbeat;
    std::optional<Duration> suspect_after;
    Duration lease_max = seconds(10);
    Duration preempt_delay = seconds(10);
};

Timing make_timing(const TimingRequest& request, std::size_t members, Algorithm algorithm);

/// All the inequalities that are broken, each as a sentence with its numbers; empty when sound.
/// `known`: the quantities whose values are no guesses, by their words in the sentences. An
/// inequality that has others is not judged. nullopt: all are known.
std::vector<std::string> validate(
    const Timing& timing, std::size_t members, Algorithm algorithm,
    const std::optional<std::vector<std::string_view>>& known = std::nullopt);

}  // namespace bullring::protocol
