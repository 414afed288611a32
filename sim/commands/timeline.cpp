#include "sim/commands/timeline.hpp"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

namespace bullring::sim {

using namespace protocol;

namespace {

std::string walk_text(const Walk& walk) {
    return fmt::format(" of node {}, hop {}", walk.owner.value, walk.step);
}

/// The part of a message that an election is followed by.
std::string details(const Message& message) {
    return std::visit(
        [](const auto& m) -> std::string {
            using What = std::decay_t<decltype(m)>;
            if constexpr (std::is_same_v<What, Coordinator>) {
                return fmt::format(" of epoch {}{}", m.epoch.value, m.renew ? ", a renewal" : "");
            } else if constexpr (std::is_same_v<What, Grant>) {
                return fmt::format(" of epoch {}", m.epoch.value);
            } else if constexpr (std::is_same_v<What, Nack>) {
                return fmt::format(" of epoch {}: {}", m.epoch.value, name(m.reason));
            } else if constexpr (std::is_same_v<What, Resign>) {
                return fmt::format(" of epoch {}", m.epoch.value) +
                       (m.successor ? fmt::format(" for node {}", m.successor.value) : "");
            } else if constexpr (std::is_same_v<What, Token>) {
                return walk_text(m.walk);
            } else if constexpr (std::is_same_v<What, CoordinatorToken>) {
                return walk_text(m.walk) + fmt::format(" for epoch {} with {} grants",
                                                       m.request.epoch.value, m.grants.size());
            } else {
                return "";
            }
        },
        message);
}

std::uint64_t other_end(const World& world, SessionId session) {
    const Side other_side = other(World::side_of(session));
    return world.host(world.connection_of(session).ends[other_side].host).id.value;
}

/// Details for who goes through a history move by move.
std::string by_hand_text(const World& world, Instant now, const Action& action) {
    if (const auto* send = std::get_if<Send>(&action))
        return fmt::format("sends {} to {}{}", name(send->message), other_end(world, send->session),
                           details(send->message));
    if (const auto* close = std::get_if<CloseSession>(&action))
        return fmt::format("closes its session with {}", other_end(world, close->session));
    if (const auto* persist = std::get_if<Persist>(&action))
        return fmt::format("asks its disk to keep hw {}", persist->durable.hw.value);
    if (const auto* stop = std::get_if<StopTask>(&action))
        return fmt::format("asks its task to end ({})", name(stop->reason));
    const auto* publish = std::get_if<Publish>(&action);
    if (publish == nullptr) return "";
    if (!publish->epoch) return "publishes that it does not lead";
    return fmt::format("publishes epoch {} for {}", publish->epoch.value,
                       to_text(lease_left(now, publish->deadline)));
}

}  // namespace

void Timeline::line(const World& world, HostIndex h, const std::string& text) {
    const Host& host = world.host(h);
    fmt::print(out_, "{:>14.6f} s  {}{:<4} {}\n", static_cast<double>(world.now()) / 1e9,
               host.impostor ? "impostor " : "", host.id.value, text);
}

void Timeline::on_incident(const World& world, const Incident& incident) {
    const bool is_move = incident.kind == move_incident;
    std::string text = fmt::format("** {}", is_move ? incident.detail : incident.kind);
    if (incident.has_peer) text += fmt::format(" with {}", world.host(incident.peer).id.value);
    line(world, incident.host, text);
}

void Timeline::on_action(const World& world, HostIndex h, Instant now, const Action& action) {
    const std::string text = world.by_hand() ? by_hand_text(world, now, action) : "";
    if (!text.empty()) line(world, h, text);
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, Elected>) {
                line(world, h, fmt::format("elected in epoch {}", what.epoch.value));
            } else if constexpr (std::is_same_v<What, Deposed>) {
                line(world, h,
                     fmt::format("deposed from epoch {}: {}", what.epoch.value, name(what.reason)));
            } else if constexpr (std::is_same_v<What, LeaderChanged>) {
                line(world, h,
                     what.leader ? fmt::format("follows {} in epoch {}", what.leader.value,
                                               what.epoch.value)
                                 : std::string("follows nobody"));
            } else if constexpr (std::is_same_v<What, ElectionStarted>) {
                line(world, h, fmt::format("election: {}", what.reason));
            } else if constexpr (std::is_same_v<What, PeerDown>) {
                line(world, h, fmt::format("has lost {}: {}", what.peer.value, name(what.reason)));
            } else if constexpr (std::is_same_v<What, MembersChanged>) {
                line(world, h,
                     fmt::format("has the members {}, list {}", ids_text(what.members),
                                 to_text(*what.members.tag())));
            } else if constexpr (std::is_same_v<What, MembersAnswer>) {
                line(world, h,
                     what.done ? std::string("the change of members is done")
                               : "the change of members is refused: " + what.why);
            } else if constexpr (std::is_same_v<What, Note>) {
                line(world, h, what.text);
            }
        },
        action);
}

}  // namespace bullring::sim
