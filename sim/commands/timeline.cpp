#include "sim/commands/timeline.hpp"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

namespace bullring::sim {

using namespace protocol;

void Timeline::line(const World& world, HostIndex h, const std::string& text) {
    const Host& host = world.host(h);
    fmt::print(out_, "{:>14.6f} s  {}{:<4} {}\n", static_cast<double>(world.now()) / 1e9,
               host.impostor ? "impostor " : "", host.id.value, text);
}

void Timeline::on_incident(const World& world, const Incident& incident) {
    std::string text = fmt::format("** {}", incident.kind);
    if (incident.has_peer) text += fmt::format(" with {}", world.host(incident.peer).id.value);
    line(world, incident.host, text);
}

void Timeline::on_action(const World& world, HostIndex h, Instant, const Action& action) {
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
