#include "sim/swarm/neighbour_plan.hpp"

#include <algorithm>
#include <utility>

#include "protocol/values/member_change.hpp"
#include "protocol/values/names.hpp"
#include "protocol/values/rng.hpp"
#include "sim/swarm/member_plan.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

constexpr std::uint64_t with_neighbours_percent = 15;
constexpr std::uint64_t of_this_name_percent = 40;
constexpr std::uint64_t all_ids_percent = 50;
constexpr std::uint64_t incidents_max = 24;

/// After which the list of the first cluster may be one that has been changed.
bool finds_old_disk(const Command& command) {
    return command.verb == Verb::disk && command.word == "predecessor" &&
           command.a.site == Site::own;
}

Rng neighbour_source(std::uint64_t seed) { return Rng(seed ^ 0x7D1B'40C5'E98A'263FULL); }

class NeighbourPlanner {
public:
    /// `own_stay`: the machines of the first cluster go on with what they have.
    NeighbourPlanner(Settings& settings, Time end, Rng& rng, bool own_stay)
        : settings_(settings), end_(end), rng_(rng), own_stay_(own_stay) {}

    void draw_cluster() {
        settings_.neighbours_have_this_name = percent(of_this_name_percent);
        const std::vector<NodeId>& ids = settings_.ids;
        settings_.neighbours = ids;
        if (!percent(all_ids_percent)) settings_.neighbours.resize(1 + rng_.below(ids.size()));
        add(time(0, sec), Verb::start, there({Target::Kind::all, {}, {}}));
    }
    void strike(Time at) {
        switch (rng_.below(5)) {
            case 0:
            case 1: return mistake(at);
            case 2: return change(at);
            case 3: return crash(at);
            default: return percent(50) ? copy_disk(at) : find_old_disk(at);
        }
    }
    std::vector<Command> take() { return std::move(plan_); }

private:
    bool percent(std::uint64_t p) { return rng_.below(100) < p; }
    Time time(Time min, Time max) {
        return min + static_cast<Time>(rng_.below(static_cast<std::uint64_t>(max - min) + 1));
    }
    Time spell() { return time(ms, percent(50) ? 200 * ms : 4 * sec); }
    static Target there(Target target) {
        target.site = Site::neighbour;
        return target;
    }
    NodeId one_of(const std::vector<NodeId>& ids) { return ids[rng_.below(ids.size())]; }
    Target own_node() { return {Target::Kind::id, one_of(settings_.ids), {}}; }
    Target neighbour() { return there({Target::Kind::id, one_of(settings_.neighbours), {}}); }
    Command& add(Time at, Verb verb, Target a, Target b = {}) {
        Command& command = plan_.emplace_back();
        command.at = std::min(at, end_ - 1);
        command.verb = verb;
        command.a = a;
        command.b = b;
        if (verb == Verb::mistake) command.word = ">";
        return command;
    }

    /// A slip in `member add` or `member address`, or an address that is somebody else's now.
    void mistake(Time at) {
        const bool by_neighbours = percent(60);
        Target member = own_node();
        if (by_neighbours) member = there(member);
        add(at, Verb::mistake, member, by_neighbours ? own_node() : neighbour());
        if (!by_neighbours ||
            std::binary_search(settings_.neighbours.begin(), settings_.neighbours.end(), member.id))
            add(at + spell(), Verb::mistake, member, member);
        // So their lists are changed, which would be newer than an unchanged one.
        if (by_neighbours && percent(70)) change(at);
    }
    void change(Time at) {
        const auto what = enumerators<MemberChange::What>();
        Command& command =
            add(at, Verb::members, there(own_node()), there({Target::Kind::leader, {}, {}}));
        command.word = name(percent(50) ? MemberChange::What::add : what[rng_.below(what.size())]);
    }
    void crash(Time at) {
        // Each of its own: a compiler may draw arguments in any order.
        const Verb verb = percent(70) ? Verb::crash : Verb::power_off;
        add(at, verb, neighbour());
        add(at + spell(), Verb::start, there({Target::Kind::all, {}, {}}));
    }
    /// A backup of the one cluster is restored on a machine of the other.
    void copy_disk(Time at) {
        const Target a = neighbour();
        const Target b{Target::Kind::id, a.id, {}};
        const auto [to, from] = own_stay_ || percent(50) ? std::pair(a, b) : std::pair(b, a);
        add(at, Verb::crash, to);
        add(at, Verb::disk, to, from).word = "copied";
        add(at + 3 * ms, Verb::start, to);
        const Time back = at + spell() + 5 * ms;
        add(back, Verb::crash, to);
        add(back, Verb::disk, to).word = "own";
        add(back + 3 * ms, Verb::start, to);
    }

    /// A machine comes back with a directory of before the cluster was founded anew.
    void find_old_disk(Time at) {
        const Target of = own_stay_ || percent(30) ? neighbour() : own_node();
        add(at, Verb::crash, of);
        add(at, Verb::disk, of).word = "predecessor";
        const Time starts = at + time(3 * ms, sec);
        add(starts, Verb::start, of);
        if (percent(70)) {
            Target leader{Target::Kind::leader, {}, {}};
            leader.site = of.site;
            Target all{Target::Kind::all, {}, {}};
            all.site = of.site;
            const Time fails = starts + spell();
            add(fails, Verb::crash, leader);
            add(fails + spell(), Verb::start, all);
        }
        const Time back = starts + spell() + 5 * ms;
        add(back, Verb::crash, of);
        add(back, Verb::disk, of).word = "own";
        add(back + 3 * ms, Verb::start, of);
    }

    Settings& settings_;
    Time end_;
    Rng& rng_;
    bool own_stay_;
    std::vector<Command> plan_;
};

bool draws_neighbours(const Settings& settings, std::uint64_t seed, bool all) {
    Rng rng = neighbour_source(seed);
    const bool drawn = all || rng.below(100) < with_neighbours_percent;
    return drawn && settings.quorum == QuorumMode::majority && settings.ids.size() > 1 &&
           !settings.beyond_disk && !settings.beyond_rho;
}

}  // namespace

NeighboursPlanned plan_neighbours(Scenario& scenario, std::uint64_t seed, Time end, bool all) {
    if (!draws_neighbours(scenario.settings, seed, all)) return {};
    Rng rng = neighbour_source(seed);
    rng.next();
    Settings& s = scenario.settings;
    // Only who has an id can tell clusters of one name apart.
    // Two processes of one id, and one of them is started again: A1.
    const bool own_stay =
        std::any_of(scenario.commands.begin(), scenario.commands.end(),
                    [](const Command& command) { return command.verb == Verb::second; });
    NeighbourPlanner planner(s, end, rng, own_stay);
    planner.draw_cluster();
    if (s.neighbours_have_this_name) s.wires.clear();
    const std::uint64_t incidents = 1 + rng.below(incidents_max);
    for (std::uint64_t i = 0; i < incidents; ++i)
        planner.strike(static_cast<Time>(rng.below(static_cast<std::uint64_t>(end))));
    std::vector<Command> plan = planner.take();
    const bool disks_stay =
        std::none_of(plan.begin(), plan.end(), finds_old_disk) || keep_disks(scenario, rng);
    for (Command& command : plan) scenario.commands.push_back(std::move(command));
    std::stable_sort(scenario.commands.begin(), scenario.commands.end(),
                     [](const Command& x, const Command& y) { return x.at < y.at; });
    return {.they_lead = s.priorities.empty() && s.leases.empty() && s.leases_max.empty(),
            .disks_stay = disks_stay};
}

}  // namespace bullring::sim
