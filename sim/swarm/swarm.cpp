#include "sim/swarm/swarm.hpp"

#include <algorithm>
#include <array>

#include "protocol/values/algorithms.hpp"
#include "protocol/values/dialling.hpp"
#include "protocol/values/rng.hpp"
#include "sim/swarm/client_plan.hpp"
#include "sim/swarm/fault_plan.hpp"
#include "sim/swarm/member_plan.hpp"
#include "sim/swarm/neighbour_plan.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

class Draw {
public:
    explicit Draw(Rng& rng) : rng_(rng) {}

    bool percent(std::uint64_t p) { return rng_.below(100) < p; }
    Time time(Time min, Time max) {
        return min + static_cast<Time>(rng_.below(static_cast<std::uint64_t>(max - min) + 1));
    }
    template <class T>
    T one_of(std::initializer_list<T> all) {
        return all.begin()[rng_.below(all.size())];
    }
    Algorithm algorithm() {
        return algorithm_table[rng_.below(100) * algorithm_table.size() / 100].algorithm;
    }
    NodeId id(const std::vector<NodeId>& ids) { return ids[rng_.below(ids.size())]; }

private:
    Rng& rng_;
};

Settings draw_settings(std::uint64_t seed, const SwarmOptions& options, Rng& rng) {
    Draw draw(rng);
    Settings s;
    s.seed = seed;
    s.ids.clear();
    const std::uint64_t n = draw.one_of<std::uint64_t>({1, 2, 3, 3, 3, 4, 5, 5, 5, 6, 7});
    for (std::uint64_t id = 1; id <= n; ++id) s.ids.push_back({id});
    if (options.ids) s.ids = *options.ids;
    s.algorithm = draw.algorithm();
    if (options.algorithm) s.algorithm = *options.algorithm;
    s.profile = draw.one_of({Profile::realtime, Profile::fast, Profile::fast, Profile::lan,
                             Profile::lan, Profile::lan, Profile::cloud});
    if (options.profile) s.profile = *options.profile;

    // A message takes at most half of the round trip that the profile assumes.
    TimingRequest request;
    request.profile = s.profile;
    const Time longest = make_timing(request, n, s.algorithm).round_trip.ns / 2;
    s.delay = draw.one_of<Range>(
        {{0, 0}, {0, longest}, {longest / 10, longest / 3}, {longest / 2, longest}});
    if (draw.percent(20)) s.loss_ppm = draw.one_of<std::uint32_t>({100, 1000, 20'000});
    s.fsync = draw.one_of<Range>({{0, 0}, {500 * us, 2 * ms}, {ms, 30 * ms}});
    s.rho_ppm = draw.one_of<std::uint32_t>({1000, 1000, 10'000, 100'000});
    s.drift_ppm = draw.percent(20) ? 0 : s.rho_ppm;
    s.unread_max = draw.one_of<std::uint64_t>({2, 8, 64});
    s.outbox_max = draw.one_of<std::uint64_t>({2, 8, 64});
    s.translated = draw.percent(5);

    s.preempt_delay = Duration{draw.time(100 * ms, 2 * sec)};
    s.hand_over_hold_off = Duration{draw.time(200 * ms, sec)};
    s.bootstrap_wait = Duration{draw.time(300 * ms, 2 * sec)};
    const Duration lease = make_timing(request, n, s.algorithm).lease;
    s.lease_max = Duration{draw.time(lease.ns * 2, lease.ns * 4)};
    if (draw.percent(40)) s.preempt = draw.percent(50);
    if (draw.percent(15)) s.first_epoch = FirstEpoch::zero;
    if (draw.percent(15)) s.fast_release = FastRelease::off;
    if (draw.percent(30)) s.fast_release = FastRelease::notice;
    if (draw.percent(10)) s.tie = false;
    if (!s.tie) s.hooks = draw.percent(50);
    if (draw.percent(30))
        s.task_ending = draw.one_of<Range>({{0, 5 * ms}, {0, lease.ns}, {0, 5 * sec}});
    for (const NodeId id : s.ids) {
        if (draw.percent(10)) s.priorities[id] = Priority{static_cast<std::int32_t>(rng.below(3))};
        if (n > 2 && draw.percent(4)) s.priorities[id] = Priority::never();
        if (draw.percent(5)) s.leases[id] = lease * 2;
        if (draw.percent(3)) s.leases_max[id] = lease + lease / 2;
        if (draw.percent(5)) {
            const std::int64_t most = s.lease_max.ns / lease.ns;
            s.heartbeats[id] = make_timing(request, n, s.algorithm).heartbeat *
                               (2 + static_cast<std::int64_t>(draw.time(0, most - 2)));
        }
    }
    // The clocks by which the epochs of a lost disk go on differ by less than a leadership's
    // length.
    if (draw.percent(40))
        for (const NodeId id : s.ids) s.wall_clocks[id] = Duration{draw.time(0, lease.ns / 2)};
    return s;
}

/// A cluster that is being upgraded. From a source of its own, so that all other seeds' histories
/// stay what they were.
void draw_wires(Settings& s, std::uint64_t seed) {
    Rng rng(seed ^ 0x3C6E'F372'FE94'F82BULL);
    Draw draw(rng);
    if (!draw.percent(20)) return;
    for (const NodeId id : s.ids)
        if (draw.percent(50))
            s.wires[id] =
                static_cast<std::uint16_t>(draw.percent(50) ? version_lowest : version_highest - 1);
}

/// No node could ever be elected, or a setting is not sound: the seed is used without its extras.
void make_sound(Settings& s) {
    const auto can_lead = [&](NodeId id) {
        const auto found = s.priorities.find(id);
        return found == s.priorities.end() || !found->second.is_never();
    };
    if (std::none_of(s.ids.begin(), s.ids.end(), can_lead)) s.priorities.clear();
    if (!problems(s).empty()) {
        s.leases.clear();
        s.leases_max.clear();
        s.heartbeats.clear();
    }
    if (!problems(s).empty()) s.profile = Profile::lan;
    if (!problems(s).empty()) {
        s.rho_ppm = 1000;
        s.drift_ppm = std::min<std::uint32_t>(s.drift_ppm, 1000);
    }
}

bool is_never(const Settings& s, NodeId id) {
    const auto found = s.priorities.find(id);
    return found != s.priorities.end() && found->second.is_never();
}

Command command(Verb verb, Time duration = -1) {
    Command c;
    c.relative = true;
    c.verb = verb;
    c.duration = duration;
    return c;
}

/// Whether node i is granted its lease by a majority, where `linked` says whom it reaches.
template <class Linked>
bool can_win(const Settings& s, std::size_t i, Linked linked) {
    if (is_never(s, s.ids[i])) return false;
    const Duration lease = config_of(s, s.ids[i]).timing.lease;
    std::size_t granting = 1;
    for (std::size_t v = 0; v < s.ids.size(); ++v)
        if (v != i && linked(i, v) && lease <= config_of(s, s.ids[v]).timing.lease_max) ++granting;
    return granting >= s.ids.size() / 2 + 1;
}

/// Somebody is granted its lease by a majority where all reach each other.
void make_winnable(Settings& s) {
    for (std::size_t i = 0; i < s.ids.size(); ++i)
        if (can_win(s, i, [](std::size_t, std::size_t) { return true; })) return;
    s.leases.clear();
    s.heartbeats.clear();
}

/// Draws a graph of links; true when a node that may lead is connected to a majority in it.
bool draw_graph(const Settings& s, Rng& rng, Command& graph) {
    Draw draw(rng);
    const std::uint64_t density = 20 + rng.below(70);
    for (std::size_t a = 0; a < s.ids.size(); ++a)
        for (std::size_t b = a + 1; b < s.ids.size(); ++b)
            if (draw.percent(density)) graph.links.emplace_back(s.ids[a], s.ids[b]);
    const auto linked = [&](std::size_t a, std::size_t b) {
        const std::pair link{s.ids[std::min(a, b)], s.ids[std::max(a, b)]};
        return std::find(graph.links.begin(), graph.links.end(), link) != graph.links.end();
    };
    for (std::size_t i = 0; i < s.ids.size(); ++i)
        if (can_win(s, i, linked)) return true;
    return false;
}

Duration longest_lease(const Settings& s) {
    Duration longest{0};
    for (const NodeId id : s.ids) longest = std::max(longest, config_of(s, id).timing.lease);
    return longest;
}

/// How long a node may be silent before some other suspects it.
Duration longest_silence(const Settings& s) {
    Duration longest{0};
    for (const NodeId id : s.ids) {
        const Timing timing = config_of(s, id).timing;
        longest = std::max({longest, timing.suspect_after, timing.heartbeat * 3});
    }
    return longest;
}

/// Until preemption has brought the best node to the lead, and nobody stands back any more.
Time settling(const Settings& s) {
    const Timing timing = config_of(s, s.ids.front()).timing;
    const auto n = static_cast<Time>(s.ids.size());
    // A node that waits for its own task is not handed the lead before the task has ended. Then the
    // leader's task ends; the last one perhaps long after its successor was elected without RESIGN.
    const Time handover =
        s.preempt_delay.ns + std::min(s.task_ending.max, timing.step_down_timeout.ns);
    return (n + 1) * handover + 2 * s.task_ending.max + 12 * s.hand_over_hold_off.ns +
           2 * timing.promise(longest_lease(s)).ns + longest_silence(s).ns;
}

/// A majority without its best node, of nodes that all grant each other's leases.
bool fails_over(const Settings& s) {
    return s.ids.size() >= 3 && s.fast_release == FastRelease::fin && s.tie && !s.translated &&
           s.leases.empty() && s.leases_max.empty() && s.heartbeats.empty() &&
           std::none_of(s.ids.begin(), s.ids.end(), [&](NodeId id) { return is_never(s, id); });
}

/// A node has lost its file, or has ended before the cluster, which is started as a whole, has
/// surely founded itself: then it has no vote until enough others, or a leader, reach it (C8).
bool somebody_may_have_no_file(const Scenario& scenario) {
    const Settings& s = scenario.settings;
    const Time founded = s.bootstrap_wait.ns + 2 * s.lease_max.ns + 2 * sec;
    return std::any_of(scenario.commands.begin(), scenario.commands.end(), [&](const Command& c) {
        const bool ends =
            c.verb == Verb::crash || c.verb == Verb::power_off || c.verb == Verb::stop;
        return loses_disk(c) || (ends && c.at < founded);
    });
}

}  // namespace

Time leader_bound(const Settings& s) {
    Timing t = config_of(s, s.ids.front()).timing;
    const auto n = static_cast<Time>(s.ids.size());
    const Time promises = t.promise(s.lease_max).ns;
    const Time l1 = t.promise(longest_lease(s)).ns + longest_silence(s).ns + 2 * t.ring_wait.ns;
    const Time restart = promises + s.bootstrap_wait.ns + 2 * s.fsync.max;
    const Time dialling = connect_max(t).ns + unacknowledged_max(t).ns + redial_max.ns;
    const Time stand_back = t.reservation().ns + t.coordinator_wait.ns;
    const Time retries = (6 + n) * (t.campaign_wait.ns + t.coordinator_wait.ns + t.ring_wait.ns +
                                    n * t.poll_wait.ns + t.promise(t.campaign_lease).ns);
    const Time losses = s.loss_ppm == 0 ? 0 : 8 * s.resend.max;
    return (l1 + restart + dialling + stand_back + retries + losses + s.preempt_delay.ns +
            s.task_ending.max) *
           11 / 10;
}

Time failover_bound(const Settings& s) {
    const Timing t = config_of(s, s.ids.front()).timing;
    // FIN and a round trip; in the Ring a token's walk and the coordinator token's. A FIN that
    // comes late to the others costs them a parked request, not a timer.
    const auto trips = static_cast<Time>(algorithm_row(s.algorithm).failover_delays(s.ids.size()));
    return trips * s.delay.max + 2 * t.stagger.ns + ms;
}

namespace {

void require_neighbours_leader(Scenario& scenario) {
    Command lead = command(Verb::expect_leader, leader_bound(scenario.settings));
    lead.a.site = Site::neighbour;
    scenario.commands.push_back(lead);
}

void require_failover(Scenario& scenario) {
    Command crash = command(Verb::crash);
    crash.a.kind = Target::Kind::leader;
    scenario.commands.push_back(crash);
    Command next = command(Verb::expect_leader, failover_bound(scenario.settings));
    next.check = "L4";
    scenario.commands.push_back(next);
}

}  // namespace

Scenario draw_scenario(std::uint64_t seed, const SwarmOptions& options) {
    Rng rng(seed * 0x9E37'79B9'7F4A'7C15ULL + 1);
    Draw draw(rng);
    Scenario scenario;
    scenario.about = {"drawn from seed " + std::to_string(seed)};
    Settings& s = scenario.settings = draw_settings(seed, options, rng);
    // From a source of its own, so that all other seeds' histories stay what they were.
    Rng textbook(~seed);
    constexpr std::uint64_t textbook_percent = 4;
    const bool none = textbook.below(100) < textbook_percent;
    s.quorum = options.quorum.value_or(none ? QuorumMode::none : QuorumMode::majority);
    draw_wires(s, seed);
    make_sound(s);
    make_winnable(s);
    const Time faults_end = options.duration.value_or(draw.time(2 * sec, 12 * sec));
    scenario.commands = plan_faults(s, options.faults, faults_end, rng);
    constexpr std::uint64_t half_rolled_percent = 3;
    Rng half_rolled(seed ^ 0x5DEE'CE66'D123'4567ULL);
    if (!options.faults && s.ids.size() >= 3 && s.quorum == QuorumMode::majority &&
        half_rolled.below(100) < half_rolled_percent)
        scenario.commands = plan_half_rolled_address(s, faults_end, half_rolled);

    const bool members_change = draws_members(s, seed, options.members);
    const bool keeps = !members_change || plan_members(scenario, seed, faults_end);
    const auto beside = plan_neighbours(scenario, seed, faults_end, options.neighbours);
    const bool disks_stay = keeps && beside.disks_stay;
    const bool clients = plan_clients(scenario, seed, faults_end, options.clients);

    Command calm = command(Verb::calm);
    calm.relative = false;
    calm.at = faults_end;
    scenario.commands.push_back(calm);
    // A node that was asked to stop before ends after its task, and is started again.
    Command start = command(Verb::start);
    start.at = s.task_ending.max + 3 * sec;
    start.a.kind = Target::Kind::all;
    bool leader_possible = true;
    const bool frozen = s.ids.size() >= 3 && draw.percent(30) && s.quorum == QuorumMode::majority &&
                        !members_change;
    const auto stops = [](const Command& c) { return c.verb == Verb::stop; };
    const bool some_stop = std::any_of(scenario.commands.begin(), scenario.commands.end(), stops);
    if (frozen) {
        Command graph = command(Verb::graph);
        leader_possible = draw_graph(s, rng, graph);
        if (somebody_may_have_no_file(scenario)) {
            if (some_stop) scenario.commands.push_back(start);
            scenario.commands.push_back(command(Verb::wait, leader_bound(s)));
        }
        scenario.commands.push_back(graph);
    }
    if (some_stop) scenario.commands.push_back(start);
    if (beside.they_lead) require_neighbours_leader(scenario);
    if (!disks_stay) {
        scenario.commands.push_back(command(Verb::wait, leader_bound(s)));
        return scenario;
    }
    if (!leader_possible) {
        // Once all earlier promises and leases have run out, no node can lead.
        const Timing t = config_of(s, s.ids.front()).timing;
        Command lapse = command(Verb::expect_no_leader, 2 * sec);
        lapse.at = t.promise(s.lease_max).ns * 2 + s.task_ending.max;
        scenario.commands.push_back(lapse);
        return scenario;
    }
    scenario.commands.push_back(command(Verb::expect_leader, leader_bound(s)));
    const bool one_leads = clients && !frozen && !members_change && clients_lead(s);
    if (one_leads) {
        Command attach = command(Verb::attach);
        attach.a = {Target::Kind::id, draw.id(s.ids)};
        scenario.commands.push_back(attach);
    }
    scenario.commands.push_back(command(Verb::wait, settling(s)));
    scenario.commands.push_back(command(Verb::expect_leader, leader_bound(s)));
    if (one_leads) scenario.commands.push_back(command(Verb::expect_holder, leader_bound(s)));
    scenario.commands.push_back(command(Verb::expect_steady, 2 * sec));
    // A process that outlives its node keeps its lease.
    if (!frozen && !members_change && !clients && fails_over(s)) require_failover(scenario);
    return scenario;
}

}  // namespace bullring::sim
