#include "protocol/values/timing.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/values/algorithms.hpp"

namespace bullring::protocol {

namespace {

/// Longer than anybody means; short enough that no sum or small multiple below can overflow.
constexpr Duration longest = forever / 16;
constexpr std::uint32_t rho_ppm_max = 100'000;
constexpr std::int64_t million = 1'000'000;

struct ProfileRow {
    Profile profile = Profile::lan;
    Timing timing;
};

constexpr Duration tenths_of_ms(std::int64_t count) { return microseconds(count * 100); }

// One row of the table of PROTOCOL §12, in its order.
constexpr Timing row(std::array<std::int64_t, 12> tenths) {
    Timing timing{};
    timing.heartbeat = tenths_of_ms(tenths[0]);
    timing.suspect_after = tenths_of_ms(tenths[1]);
    timing.lease = tenths_of_ms(tenths[2]);
    timing.campaign_lease = tenths_of_ms(tenths[3]);
    timing.poll_wait = tenths_of_ms(tenths[4]);
    timing.campaign_wait = tenths_of_ms(tenths[5]);
    timing.coordinator_wait = tenths_of_ms(tenths[6]);
    timing.hop_wait = tenths_of_ms(tenths[7]);
    timing.ring_wait = tenths_of_ms(tenths[8]);
    timing.stagger = tenths_of_ms(tenths[9]);
    timing.round_trip = tenths_of_ms(tenths[10]);
    timing.pause = tenths_of_ms(tenths[11]);
    return timing;
}

// In tenths of a millisecond: h, T_s, L, L_c, T_ok, T_camp, T_coord, T_hop, T_ring, δ, RTT, pause.
constexpr std::array<ProfileRow, 5> profiles{{
    {Profile::realtime, row({40, 120, 200, 120, 20, 50, 80, 30, 140, 5, 5, 50})},
    {Profile::fast, row({200, 800, 2000, 1200, 200, 400, 800, 200, 1200, 20, 20, 300})},
    {Profile::lan, row({500, 2000, 5000, 2500, 300, 1000, 1600, 400, 2500, 50, 50, 1000})},
    {Profile::cloud, row({1000, 4000, 10000, 4000, 500, 1500, 2500, 600, 4000, 100, 100, 2000})},
    {Profile::wan,
     row({2500, 10000, 30000, 15000, 3000, 7000, 12000, 3000, 25000, 1000, 1000, 5000})},
}};

const ProfileRow& row_of(Profile profile) {
    const auto* found = std::find_if(profiles.begin(), profiles.end(),
                                     [&](const ProfileRow& r) { return r.profile == profile; });
    return found == profiles.end() ? profiles[2] : *found;
}

/// ⌊value · numerator / denominator⌋, or `forever` where that is less, or 0 where it is negative,
/// which validate() then refuses. Neither `value` nor `denominator` exceeds 3·10⁹ ns (the table),
/// so the product with the remainder fits.
Duration scaled(Duration value, Duration numerator, Duration denominator) {
    if (numerator.ns <= 0) return {0};
    const std::int64_t whole = numerator.ns / denominator.ns;
    const std::int64_t rest = numerator.ns % denominator.ns;
    if (whole >= forever.ns / value.ns) return forever;
    return {value.ns * whole + value.ns * rest / denominator.ns};
}

void scale(Timing& timing, const TimingRequest& request) {
    const Timing& table = row_of(request.profile).timing;
    std::pair<Duration, Duration> k{{1}, {1}};
    if (request.lease) {
        k = {*request.lease, table.lease};
    } else if (request.heartbeat) {
        k = {*request.heartbeat, table.heartbeat};
    } else if (request.suspect_after) {
        k = {*request.suspect_after, table.suspect_after};
    }
    const auto by_k = [&](Duration value) { return scaled(value, k.first, k.second); };
    timing.lease = request.lease.value_or(by_k(table.lease));
    timing.heartbeat = request.heartbeat.value_or(by_k(table.heartbeat));
    timing.suspect_after = request.suspect_after.value_or(by_k(table.suspect_after));
    timing.campaign_lease = by_k(table.campaign_lease);
}

/// Once around the ring.
Duration lap_of(const Timing& timing, std::size_t members) {
    return timing.round_trip * static_cast<std::int64_t>(std::max<std::size_t>(members, 1) - 1);
}

/// A token needs a hop for each member, so the waits of a long ring grow with it, and what must
/// outlast them grows along. Only the lease that the user has given himself stays.
void stretch_for_walks(Timing& timing, std::size_t members, bool lease_given) {
    const Duration lap = lap_of(timing, members);
    timing.ring_wait = timing.ring_wait_of(members);
    const Duration campaign_wait = timing.hop_wait + lap * 3;
    if (campaign_wait <= timing.campaign_wait) return;
    timing.campaign_wait = campaign_wait;
    timing.coordinator_wait =
        std::max(timing.coordinator_wait, campaign_wait + timing.round_trip * 2);
    timing.campaign_lease =
        std::max(timing.campaign_lease, campaign_wait + timing.round_trip * 2 + timing.pause);
    if (!lease_given) timing.lease = std::max(timing.lease, timing.campaign_lease);
}

/// A quantity in a constraint: its words and its value, which are reported together.
struct Term {
    std::string words;
    Duration value;
    bool known = true;
};

Term operator*(std::int64_t factor, const Term& term) {
    return {std::to_string(factor) + " × " + term.words, term.value * factor, term.known};
}

Term operator+(const Term& a, const Term& b) {
    return {a.words + " + " + b.words, a.value + b.value, a.known && b.known};
}

std::string told(const Term& term) { return term.words + " (" + to_text(term.value) + ")"; }

class Constraints {
public:
    void positive(const Term& term) {
        if (term.known && term.value.ns <= 0)
            problems_.push_back(told(term) + " must be more than 0");
        too_long(term);
    }
    void not_negative(const Term& term) {
        if (term.known && term.value.ns < 0)
            problems_.push_back(told(term) + " must not be negative");
        too_long(term);
    }
    void at_most(const Term& low, const Term& high, const char* advice = "") {
        if (low.known && high.known && low.value > high.value) {
            problems_.push_back(told(low) + " must be ≤ " + told(high) + advice);
        }
    }
    void less(const Term& low, const Term& high) {
        if (low.known && high.known && low.value >= high.value)
            problems_.push_back(told(low) + " must be < " + told(high));
    }
    void add(std::string problem) { problems_.push_back(std::move(problem)); }
    bool summable() const { return summable_; }
    std::vector<std::string> problems() && { return std::move(problems_); }

private:
    void too_long(const Term& term) {
        if (term.value >= Duration{-longest.ns} && term.value <= longest) return;
        summable_ = false;
        if (term.known && term.value > longest) {
            problems_.push_back(told(term) + " must be ≤ " + to_text(longest));
        }
    }

    std::vector<std::string> problems_;
    bool summable_ = true;
};

struct Terms {
    explicit Terms(const Timing& t)
        : heartbeat{"heartbeat", t.heartbeat},
          suspect_after{"suspect-after", t.suspect_after},
          lease{"lease", t.lease},
          lease_max{"lease-max", t.lease_max},
          campaign_lease{"campaign lease", t.campaign_lease},
          poll_wait{"poll wait", t.poll_wait},
          campaign_wait{"campaign wait", t.campaign_wait},
          coordinator_wait{"coordinator wait", t.coordinator_wait},
          hop_wait{"hop wait", t.hop_wait},
          ring_wait{"ring wait", t.ring_wait},
          stagger{"stagger", t.stagger},
          round_trip{"round trip", t.round_trip},
          pause{"pause", t.pause},
          preempt_delay{"preempt-delay", t.preempt_delay},
          kill_margin{"kill margin", t.kill_margin} {}

    /// Only these are, by their words.
    void know(const std::vector<std::string_view>& known) {
        for (Term* term : {&heartbeat, &suspect_after, &lease, &lease_max, &campaign_lease,
                           &poll_wait, &campaign_wait, &coordinator_wait, &hop_wait, &ring_wait,
                           &stagger, &round_trip, &pause, &preempt_delay, &kill_margin})
            term->known = std::find(known.begin(), known.end(), term->words) != known.end();
    }

    Term heartbeat, suspect_after, lease, lease_max, campaign_lease, poll_wait, campaign_wait,
        coordinator_wait, hop_wait, ring_wait, stagger, round_trip, pause, preempt_delay,
        kill_margin;
};

void check_ranges(const Terms& t, Constraints& constraints) {
    for (const Term* term : {&t.heartbeat, &t.suspect_after, &t.lease, &t.lease_max,
                             &t.campaign_lease, &t.poll_wait, &t.campaign_wait, &t.coordinator_wait,
                             &t.hop_wait, &t.ring_wait, &t.stagger, &t.round_trip}) {
        constraints.positive(*term);
    }
    for (const Term* term : {&t.pause, &t.preempt_delay, &t.kill_margin}) {
        constraints.not_negative(*term);
    }
}

}  // namespace

Duration Timing::ring_wait_of(std::size_t members) const {
    return std::max(ring_wait, hop_wait + lap_of(*this, members) * 6);
}

Duration Timing::reservation() const { return std::max(campaign_wait, round_trip * 3); }

// x·(1+ρ)/(1−ρ) = x + x·2ρ/(1−ρ); with x split by the denominator nothing leaves 64 bits.
Duration Timing::promise(Duration lease_length) const {
    const std::int64_t denominator = million - rho_ppm;
    if (denominator <= 0 || lease_length > longest) return forever;
    const std::int64_t x = std::max<std::int64_t>(lease_length.ns, 0);
    const std::int64_t twice_rho = 2 * std::int64_t{rho_ppm};
    const std::int64_t whole = x / denominator;
    const std::int64_t rest = x % denominator * twice_rho;
    if (whole > longest.ns / std::max<std::int64_t>(twice_rho, 1)) return forever;
    const std::int64_t rest_up = (rest + denominator - 1) / denominator;
    return {x + whole * twice_rho + rest_up + 1};
}

Timing make_timing(const TimingRequest& request, std::size_t members, Algorithm algorithm) {
    Timing timing = row_of(request.profile).timing;
    timing.lease_max = request.lease_max;
    timing.preempt_delay = request.preempt_delay;
    scale(timing, request);
    if (algorithm_row(algorithm).walks)
        stretch_for_walks(timing, members, request.lease.has_value());
    return timing;
}

std::vector<std::string> validate(const Timing& timing, std::size_t members, Algorithm algorithm,
                                  const std::optional<std::vector<std::string_view>>& known) {
    Terms t(timing);
    if (known) t.know(*known);
    Constraints constraints;
    check_ranges(t, constraints);
    if (timing.rho_ppm == 0 || timing.rho_ppm > rho_ppm_max) {
        constraints.add("rho (" + std::to_string(timing.rho_ppm) + "ppm) must be > 0 and ≤ " +
                        std::to_string(rho_ppm_max) + "ppm");
    }
    if (!constraints.summable()) return std::move(constraints).problems();

    constraints.at_most(3 * t.heartbeat, t.suspect_after);
    constraints.less(t.suspect_after, t.lease);
    constraints.at_most(5 * t.heartbeat, t.lease);
    constraints.at_most(t.campaign_wait + 2 * t.round_trip + t.pause, t.campaign_lease,
                        ", which scales with the lease: a longer lease or a faster profile");
    constraints.at_most(t.campaign_lease, t.lease);
    constraints.at_most(t.lease, t.lease_max);
    constraints.at_most(t.campaign_wait + 2 * t.round_trip, t.coordinator_wait);
    if (algorithm_row(algorithm).walks && members > 1) {
        const auto hops = static_cast<std::int64_t>(3 * (members - 1));
        constraints.at_most(t.hop_wait + hops * t.round_trip, t.ring_wait);
    }
    constraints.at_most(2 * t.round_trip, t.poll_wait);
    constraints.at_most(t.round_trip, t.stagger);
    if (timing.kill_margin.ns > 0) {
        constraints.less(t.kill_margin + 2 * t.heartbeat + t.pause, t.lease);
    }
    return std::move(constraints).problems();
}

}  // namespace bullring::protocol
