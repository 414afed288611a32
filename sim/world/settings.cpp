#include "sim/world/settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/values/algorithms.hpp"

namespace bullring::sim {

using namespace protocol;

Config config_of(const Settings& settings, NodeId id, Site site) {
    Config config;
    config.self = id;
    const bool beside = site == Site::neighbour;
    if (beside && !settings.neighbours_have_this_name) config.cluster = "neighbours";
    const auto astray = settings.founders_of.find(id);
    const std::vector<NodeId>& founders = beside ? settings.neighbours
                                          : astray != settings.founders_of.end() ? astray->second
                                          : settings.founders.empty()            ? settings.ids
                                                                      : settings.founders;
    // A node that does not found the cluster has no list, and is told one (C8).
    if (std::find(founders.begin(), founders.end(), id) != founders.end())
        config.members = Membership(founders);
    config.algorithm = settings.algorithm;
    config.quorum = settings.quorum;
    config.preempt = settings.preempt.value_or(algorithm_row(settings.algorithm).preempts);
    config.fast_release = settings.fast_release;
    config.tie = settings.tie;
    config.hooks = settings.hooks;
    config.bootstrap_wait = settings.bootstrap_wait;
    config.first_epoch = settings.first_epoch;
    config.forget_after = settings.forget_after;
    if (const auto found = settings.priorities.find(id); found != settings.priorities.end())
        config.priority = found->second;
    config.advertised = "";
    if (const auto found = settings.wires.find(id); found != settings.wires.end())
        config.wire_highest = found->second;

    TimingRequest request;
    request.profile = settings.profile;
    request.lease = settings.lease;
    request.heartbeat = settings.heartbeat;
    request.suspect_after = settings.suspect_after;
    request.lease_max = settings.lease_max;
    if (const auto found = settings.leases_max.find(id); found != settings.leases_max.end())
        request.lease_max = found->second;
    request.preempt_delay = settings.preempt_delay;
    if (const auto found = settings.leases.find(id); found != settings.leases.end())
        request.lease = found->second;
    if (const auto found = settings.heartbeats.find(id); found != settings.heartbeats.end())
        request.heartbeat = found->second;
    config.timing = make_timing(request, settings.ids.size(), settings.algorithm);
    config.timing.rho_ppm = settings.rho_ppm;
    config.timing.hand_over_hold_off = settings.hand_over_hold_off;
    config.timing.hand_over_hold_off_max =
        std::max(settings.hand_over_hold_off, settings.hand_over_hold_off * 4);
    config.timing.kill_margin = settings.kill_margin;
    return config;
}

std::vector<std::string> problems(const Settings& settings) {
    std::vector<std::string> found;
    if (settings.ids.empty() || settings.ids.size() > members_max)
        return {fmt::format("{} members: 1 to {} are possible", settings.ids.size(), members_max)};
    for (std::size_t i = 0; i < settings.ids.size(); ++i) {
        if (!settings.ids[i]) found.emplace_back("an id of 0: ids begin with 1");
        if (i > 0 && settings.ids[i - 1] >= settings.ids[i])
            found.push_back(fmt::format("id {} twice, or not in order", settings.ids[i].value));
    }
    if (settings.by_hand && settings.ids.back().value != settings.ids.size())
        found.emplace_back("by-hand: the ids are 1, 2, 3 and so on");
    if (!found.empty()) return found;
    const auto range = [&](const char* name, Range r) {
        if (r.min < 0 || r.max < r.min) found.push_back(fmt::format("{} is no range", name));
    };
    range("delay", settings.delay);
    range("fsync", settings.fsync);
    range("resend", settings.resend);
    range("task-ending", settings.task_ending);
    if (settings.loss_ppm > 1'000'000) found.emplace_back("loss: at most 1000000 ppm");
    if (settings.drift_ppm > 200'000) found.emplace_back("drift: at most 200000 ppm");
    if (settings.drift_ppm > settings.rho_ppm && !settings.beyond_rho)
        found.push_back(
            fmt::format("drift of {} ppm is more than the rho of {} ppm: mark the run "
                        "with 'beyond rho'",
                        settings.drift_ppm, settings.rho_ppm));
    for (const NodeId id : settings.ids) {
        const Timing timing = config_of(settings, id).timing;
        for (const std::string& text : validate(timing, settings.ids.size(), settings.algorithm))
            found.push_back(fmt::format("node {}: {}", id.value, text));
    }
    for (const auto& [id, priority] : settings.priorities)
        if (!std::binary_search(settings.ids.begin(), settings.ids.end(), id))
            found.push_back(fmt::format("priority of {}: no member", id.value));
    for (const auto& [id, version] : settings.wires)
        if (version < version_lowest || version > version_highest)
            found.push_back(fmt::format("wire {} of {}: {} to {} are known", version, id.value,
                                        version_lowest, version_highest));
    for (const NodeId id : settings.founders)
        if (std::find(settings.ids.begin(), settings.ids.end(), id) == settings.ids.end())
            found.push_back(fmt::format("founder {} has no node", id.value));
    for (const auto& [id, founders] : settings.founders_of)
        if (std::find(founders.begin(), founders.end(), id) == founders.end())
            found.push_back(fmt::format("founders-of {}: it is none of them", id.value));
    if (!std::is_sorted(settings.neighbours.begin(), settings.neighbours.end()))
        found.emplace_back("neighbours: their ids are not in order");
    for (const NodeId id : settings.neighbours)
        if (std::find(settings.ids.begin(), settings.ids.end(), id) == settings.ids.end())
            found.push_back(fmt::format("neighbour {}: no node here has that id", id.value));
    if (settings.quorum == QuorumMode::none &&
        !(settings.founders.empty() && settings.founders_of.empty()))
        found.emplace_back("founders: with quorum none the members never change");
    const auto check_members = [&](const char* what, const auto& of_members) {
        for (const auto& [id, value] : of_members)
            if (!std::binary_search(settings.ids.begin(), settings.ids.end(), id))
                found.push_back(fmt::format("{} of {}: no member", what, id.value));
    };
    check_members("lease", settings.leases);
    check_members("lease-max", settings.leases_max);
    check_members("heartbeat", settings.heartbeats);
    check_members("wire", settings.wires);
    check_members("wall clock", settings.wall_clocks);
    check_members("founders", settings.founders_of);
    return found;
}

}  // namespace bullring::sim
