#include "src/node/report/role_log.hpp"

#include <variant>

#include <fmt/format.h>

#include "src/base/text/json.hpp"

namespace bullring {

using protocol::NodeId;
using protocol::Role;

namespace {

std::string name_of(NodeId leader) { return leader ? std::to_string(leader.value) : "none"; }

LogFields::value_type field(std::string_view name, NodeId id) {
    if (!id) return {name, std::monostate{}};
    return {name, id.value};
}

LogFields::value_type field(std::string_view name, const std::optional<protocol::Duration>& ms) {
    if (!ms) return {name, std::monostate{}};
    return {name, fractional_ms(*ms)};
}

}  // namespace

std::string RoleChange::text() const {
    const std::string was =
        role == old_role ? "" : fmt::format(" (was {})", protocol::name(old_role));
    return fmt::format("{}{}, epoch {}, leader {} (was {}): {}{}", protocol::name(role), was,
                       epoch.value, name_of(leader), name_of(old_leader), reason,
                       after_gap(gap.value_or(protocol::Duration{0})));
}

LogFields RoleChange::fields() const {
    return {{"role", protocol::name(role)},
            {"old_role", protocol::name(old_role)},
            {"epoch", epoch.value},
            field("leader", leader),
            field("old_leader", old_leader),
            {"reason", reason},
            field("gap_ms", gap)};
}

void RoleLog::note(const std::vector<protocol::Action>& actions,
                   const std::vector<LeaderTurn>& turns) {
    if (const auto changed = change(actions, turns))
        log(LogLevel::info, changed->text(), changed->fields());
}

std::optional<RoleChange> RoleLog::change(const std::vector<protocol::Action>& actions,
                                          const std::vector<LeaderTurn>& turns) {
    RoleChange change;
    change.old_role = role_;
    change.old_leader = leader_;
    bool given_up = false;
    for (const LeaderTurn& turn : turns)
        if (const auto gap = turn.gap()) change.gap = gap;
    for (const protocol::Action& action : actions) {
        if (const auto* changed = std::get_if<protocol::LeaderChanged>(&action)) {
            leader_ = changed->leader;
            epoch_ = changed->epoch;
        } else if (const auto* list = std::get_if<protocol::MembersChanged>(&action)) {
            removed_ = list->members.has_removed(self_);
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
    change.role = role_;
    change.leader = leader_;
    change.epoch = epoch_;
    if (role_ != change.old_role) {
        if (given_up) reason_ = leader_ ? "follows it" : "not elected";
        change.reason = reason_;
        return change;
    }
    if (turns.empty()) return std::nullopt;
    if (leader_)
        change.reason = leader_ == self_ ? "leads" : "follows it";
    else
        change.reason = removed_ ? "this node is no member any more" : turns.back().loss;
    return change;
}

}  // namespace bullring
