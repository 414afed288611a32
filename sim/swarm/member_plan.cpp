#include "sim/swarm/member_plan.hpp"

#include <algorithm>

#include "protocol/values/member_change.hpp"
#include "protocol/values/names.hpp"
#include "protocol/values/rng.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

constexpr std::uint64_t with_changes_percent = 20;
constexpr std::uint64_t keep_disks_percent = 70;
constexpr std::uint64_t changes_max = 12;
constexpr std::uint64_t forgets_percent = 40;

Rng source(std::uint64_t seed) { return Rng(seed ^ 0x51A7'9E3D'02B6'C84FULL); }

}  // namespace

bool loses_disk(const Command& command) {
    return command.verb == Verb::disk && (command.word == "lost" || command.word == "torn");
}

bool keep_disks(Scenario& scenario, Rng& rng) {
    const bool keeps = rng.below(100) < keep_disks_percent;
    if (keeps) std::erase_if(scenario.commands, loses_disk);
    return keeps;
}

bool draws_members(const Settings& settings, std::uint64_t seed, bool all) {
    Rng rng = source(seed);
    const bool drawn = all || rng.below(100) < with_changes_percent;
    return drawn && settings.quorum == QuorumMode::majority && settings.ids.size() > 1 &&
           !settings.beyond_disk;
}

bool plan_members(Scenario& scenario, std::uint64_t seed, Time end) {
    Rng rng = source(seed);
    rng.next();
    Settings& s = scenario.settings;
    s.wires.clear();
    s.leases.clear();
    s.leases_max.clear();
    s.heartbeats.clear();
    // Two processes of one id: one of them may be another's voter, and both may be members.
    std::erase_if(scenario.commands, [](const Command& c) {
        return c.verb == Verb::second || c.verb == Verb::readdress ||
               c.a.kind == Target::Kind::second;
    });
    const bool keeps = keep_disks(scenario, rng);

    for (const NodeId id : s.ids)
        if (rng.below(100) < 60) s.founders.push_back(id);
    const auto may_lead = [&](NodeId id) {
        const auto found = s.priorities.find(id);
        return found == s.priorities.end() || !found->second.is_never();
    };
    if (std::none_of(s.founders.begin(), s.founders.end(), may_lead)) s.founders = s.ids;

    const auto what = enumerators<MemberChange::What>();
    const std::uint64_t changes = 1 + rng.below(changes_max);
    for (std::uint64_t i = 0; i < changes; ++i) {
        Command command;
        command.at = static_cast<Time>(rng.below(static_cast<std::uint64_t>(end)));
        command.verb = Verb::members;
        command.word = name(what[rng.below(what.size())]);
        command.a = {Target::Kind::id, s.ids[rng.below(s.ids.size())]};
        command.b = {Target::Kind::leader, {}};
        if (rng.below(100) < 10) command.b = {Target::Kind::id, s.ids[rng.below(s.ids.size())]};
        scenario.commands.push_back(command);
        if (command.word != name(MemberChange::What::add) || rng.below(100) >= 60) continue;
        // As an operator does: a vote for the new member.
        command.word = name(MemberChange::What::promote);
        command.at = std::min(command.at + static_cast<Time>(rng.below(4 * sec)), end - 1);
        scenario.commands.push_back(command);
    }
    // Short enough that it comes to pass.
    Rng forgetting(seed ^ 0x2C9E'5B71'8D04'F3A6ULL);
    if (forgetting.below(100) < forgets_percent)
        s.forget_after =
            Duration{200 * ms} + Duration{static_cast<std::int64_t>(forgetting.below(1500 * ms))};
    std::stable_sort(scenario.commands.begin(), scenario.commands.end(),
                     [](const Command& x, const Command& y) { return x.at < y.at; });
    return keeps;
}

}  // namespace bullring::sim
