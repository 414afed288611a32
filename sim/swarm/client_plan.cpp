#include "sim/swarm/client_plan.hpp"

#include <algorithm>

#include "protocol/values/rng.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

constexpr std::uint64_t with_clients_percent = 20;
constexpr std::uint64_t all_workless_percent = 60;
constexpr std::uint64_t client_incidents_max = 20;
/// The kernel slews CLOCK_BOOTTIME by no more, and a page is judged by it alone (H2.4).
constexpr std::int64_t slew_ppm_max = 100'000;

class ClientPlanner {
public:
    ClientPlanner(Settings& settings, Time end, Rng& rng)
        : settings_(settings), end_(end), rng_(rng) {}

    void draw_work() {
        const bool all = percent(all_workless_percent);
        for (const NodeId id : settings_.ids)
            if (all || percent(50)) settings_.workless.insert(id);
    }
    void strike(Time at) {
        if (percent(35)) return add(at, Verb::attach, node(), "");
        switch (rng_.below(8)) {
            case 0: return add(at, Verb::client, holder(), "done");
            case 1: return add(at, Verb::client, holder(), "leaves");
            case 2: return add(at, Verb::client, holder(), "killed");
            case 3: return add(at, Verb::client, holder(), "forks");
            case 4: return add(at, Verb::client, holder(), "closes");
            case 5: return for_a_while(at, "stopped", "goes-on");
            case 6: return for_a_while(at, "deaf", "heeds");
            default: return kill_node_too(at);
        }
    }
    /// Some of those that attach are to end with their nodes.
    void guard_some(Rng rng) {
        std::vector<Command> guards;
        for (const Command& command : plan_)
            if (command.verb == Verb::attach && rng.below(3) == 0) guards.push_back(command);
        for (Command& guard : guards) {
            guard.verb = Verb::client;
            guard.word = "guarded";
            plan_.push_back(std::move(guard));
        }
    }
    std::vector<Command> take() { return std::move(plan_); }

private:
    bool percent(std::uint64_t p) { return rng_.below(100) < p; }
    Time time(Time min, Time max) {
        return min + static_cast<Time>(rng_.below(static_cast<std::uint64_t>(max - min) + 1));
    }
    Target node() { return {Target::Kind::id, settings_.ids[rng_.below(settings_.ids.size())]}; }
    Target holder() { return percent(70) ? Target{Target::Kind::leader, {}} : node(); }
    void add(Time at, Verb verb, Target a, const char* word) {
        Command& command = plan_.emplace_back();
        command.at = std::min(at, end_ - 1);
        command.verb = verb;
        command.a = a;
        command.word = word;
    }
    void for_a_while(Time at, const char* begins, const char* ends) {
        add(at, Verb::client, holder(), begins);
        add(at + time(ms, 4 * sec), Verb::client, {Target::Kind::all, {}}, ends);
    }
    /// Within one lease, in any order.
    void kill_node_too(Time at) {
        const Target which = node();
        add(at, Verb::client, which, percent(50) ? "killed" : "stopped");
        add(at + time(0, percent(50) ? ms : 300 * ms), Verb::crash, which, "");
        const Time back = at + time(ms, 2 * sec);
        add(back, Verb::start, which, "");
        add(back + time(0, 200 * ms), Verb::attach, which, "");
        add(back + sec, Verb::client, {Target::Kind::all, {}}, "goes-on");
    }

    Settings& settings_;
    Time end_;
    Rng& rng_;
    std::vector<Command> plan_;
};

}  // namespace

bool plan_clients(Scenario& scenario, std::uint64_t seed, Time end, bool all) {
    Rng rng(seed ^ 0x1F83'D9AB'FB41'BD6BULL);
    Settings& settings = scenario.settings;
    if ((!all && rng.below(100) >= with_clients_percent) || end < 2 * ms ||
        settings.quorum == QuorumMode::none)
        return false;
    ClientPlanner planner(settings, end, rng);
    planner.draw_work();
    const std::uint64_t incidents = 2 + rng.below(client_incidents_max);
    for (std::uint64_t i = 0; i < incidents; ++i)
        planner.strike(static_cast<Time>(rng.below(static_cast<std::uint64_t>(end - 1))));
    planner.guard_some(Rng(seed ^ 0x5BE0'CD19'137E'2179ULL));
    for (Command& command : planner.take()) scenario.commands.push_back(command);
    for (Command& command : scenario.commands)
        if (command.verb == Verb::rates && !settings.beyond_rho)
            command.number = std::clamp(command.number, -slew_ppm_max, slew_ppm_max);
    std::stable_sort(scenario.commands.begin(), scenario.commands.end(),
                     [](const Command& x, const Command& y) { return x.at < y.at; });
    return true;
}

bool clients_lead(const Settings& s) {
    return s.workless.size() == s.ids.size() && !s.hooks && s.leases.empty() &&
           s.leases_max.empty() && s.heartbeats.empty() && s.wires.empty() &&
           std::none_of(s.priorities.begin(), s.priorities.end(),
                        [](const auto& one) { return one.second.is_never(); });
}

}  // namespace bullring::sim
