#include "src/report/role_log.hpp"

#include <variant>

#include <fmt/format.h>

#include "src/report/logging.hpp"

namespace bullring {

using protocol::NodeId;
using protocol::Role;

namespace {

std::string text(NodeId leader) { return leader ? std::to_string(leader.value) : "none"; }

}  // namespace

void RoleLog::note(const std::vector<protocol::Action>& actions) {
    if (const auto changed = line(actions)) log(LogLevel::info, *changed);
}

std::optional<std::string> RoleLog::line(const std::vector<protocol::Action>& actions) {
    const Role old_role = role_;
    const NodeId old_leader = leader_;
    bool given_up = false;
    for (const protocol::Action& action : actions) {
        if (const auto* changed = std::get_if<protocol::LeaderChanged>(&action)) {
            leader_ = changed->leader;
            epoch_ = changed->epoch;
        } else if (const auto* started = std::get_if<protocol::ElectionStarted>(&action)) {
            reason_ = started->reason;
        } else if (const auto* stop = std::get_if<protocol::StopTask>(&action)) {
            reason_ = protocol::name(stop->reason);
        } else if (const auto* deposed = std::get_if<protocol::Deposed>(&action)) {
            reason_ = protocol::name(deposed->reason);
        } else if (const auto* elected = std::get_if<protocol::Elected>(&action)) {
            role_ = Role::leader;
            epoch_ = elected->epoch;
            const std::size_t grants = elected->grants.size();
            reason_ = fmt::format("elected with {} grant{}", grants, grants == 1 ? "" : "s");
        } else if (const auto* moved = std::get_if<protocol::RoleChanged>(&action)) {
            epoch_ = moved->epoch;
            // Grants are a leadership only when it is published: Elected says so.
            if (moved->role == Role::leader) continue;
            const Role shown = moved->role == Role::candidate ? Role::candidate : Role::follower;
            given_up = role_ == Role::candidate && shown == Role::follower;
            role_ = shown;
        }
    }
    const std::string change =
        fmt::format("epoch {}, leader {} (was {})", epoch_.value, text(leader_), text(old_leader));
    if (role_ != old_role) {
        if (given_up) reason_ = leader_ ? "follows it" : "not elected";
        return fmt::format("{} (was {}), {}: {}", protocol::name(role_), protocol::name(old_role),
                           change, reason_);
    }
    if (leader_ == old_leader) return std::nullopt;
    const char* const why = leader_ == self_ ? "leads" : leader_ ? "follows it" : "it is gone";
    return fmt::format("{}, {}: {}", protocol::name(role_), change, why);
}

}  // namespace bullring
