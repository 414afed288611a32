#include "src/report/role_log.hpp"

#include <variant>

#include <fmt/format.h>

#include "src/report/logging.hpp"

namespace bullring {

using protocol::NodeId;

namespace {

std::string text(NodeId leader) { return leader ? std::to_string(leader.value) : "none"; }

}  // namespace

void RoleLog::note(const std::vector<protocol::Action>& actions) {
    const NodeId old_leader = leader_;
    protocol::Epoch epoch;
    for (const protocol::Action& action : actions) {
        if (const auto* changed = std::get_if<protocol::LeaderChanged>(&action)) {
            leader_ = changed->leader;
            epoch = changed->epoch;
        } else if (const auto* started = std::get_if<protocol::ElectionStarted>(&action)) {
            reason_ = started->reason;
        } else if (const auto* stop = std::get_if<protocol::StopTask>(&action)) {
            reason_ = protocol::name(stop->reason);
        } else if (const auto* deposed = std::get_if<protocol::Deposed>(&action)) {
            reason_ = protocol::name(deposed->reason);
        } else if (const auto* elected = std::get_if<protocol::Elected>(&action)) {
            reason_ = fmt::format("elected with {} grants", elected->grants.size());
        }
    }
    const std::string leaders = fmt::format("leader {} (was {})", text(leader_), text(old_leader));
    bool said = false;
    for (const protocol::Action& action : actions) {
        const auto* changed = std::get_if<protocol::RoleChanged>(&action);
        if (changed == nullptr || changed->role == role_) continue;
        log(LogLevel::info,
            fmt::format("{} (was {}), epoch {}, {}: {}", protocol::name(changed->role),
                        protocol::name(role_), changed->epoch.value, leaders, reason_));
        role_ = changed->role;
        said = true;
    }
    if (said || leader_ == old_leader) return;
    const char* const why = leader_ == self_ ? "leads" : leader_ ? "follows it" : "it is gone";
    log(LogLevel::info,
        fmt::format("{}, epoch {}, {}: {}", protocol::name(role_), epoch.value, leaders, why));
}

}  // namespace bullring
