// Judges the expectations of a scenario, and describes those that failed.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/duration_text.hpp"
#include "sim/scenario/player.hpp"
#include "sim/scenario/scenario_text.hpp"

namespace bullring::sim {

using namespace protocol;

template <class Condition>
bool Player::wait_for(Time limit, Condition condition) {
    if (condition()) return true;
    while (!checks_.violation() && world_.advance(limit))
        if (condition()) return true;
    return false;
}

std::string Player::leader_text() const {
    std::string text;
    for (HostIndex h = 0; h < world_.hosts(); ++h)
        if (world_.leads(h))
            text += fmt::format("{}node {} leads in epoch {}", text.empty() ? "" : "; ",
                                world_.host(h).id.value, world_.host(h).published.epoch.value);
    if (text.empty()) text = "nobody leads";
    for (HostIndex h = 0; h < world_.hosts(); ++h) {
        const Host& host = world_.host(h);
        text += fmt::format("; {}: {}", host.id.value,
                            !host.running() ? "not running"
                            : !host.awake() ? "stands still"
                                            : host.node->view(world_.clock(h)).why);
    }
    return text;
}

void Player::unmet(const Command& command, const char* check, const std::string& found) {
    if (!options_.judge) return;
    checks_.fail(world_, command.check.empty() ? check : command.check.c_str(),
                 fmt::format("'{}', but {}", to_text(command), found));
}

void Player::expect_leader(const Command& command) {
    const Time began = world_.now();
    const Time limit = began + std::max<Time>(command.duration, 0);
    const auto wanted = host_of(command.a);
    const bool met = wait_for(limit, [&] {
        const auto leader = world_.leader(command.a.site);
        return leader && (command.a.kind == Target::Kind::none || leader == wanted);
    });
    if (checks_.violation()) return;
    if (met && command.duration >= 0)
        outcome_.waited.push_back(
            {command.check.empty() ? "L1" : command.check, world_.now() - began, command.duration});
    if (!met) unmet(command, "L1", leader_text());
}

void Player::expect_holder(const Command& command) {
    const auto wanted = host_of(command.a);
    const bool met = wait_for(world_.now() + std::max<Time>(command.duration, 0), [&] {
        const auto& all = world_.clients();
        return std::any_of(all.begin(), all.end(), [&](const Client& client) {
            return client.lives && (!wanted || client.host == *wanted) &&
                   world_.page_is_valid(client);
        });
    });
    if (!met && !checks_.violation()) unmet(command, "L7", leader_text());
}

void Player::expect(const Command& command) {
    const auto leader = world_.leader();
    const Epoch epoch = leader ? world_.host(*leader).published.epoch : Epoch{};
    const Time limit = world_.now() + std::max<Time>(command.duration, 0);
    switch (command.verb) {
        case Verb::expect_leader: return expect_leader(command);
        case Verb::expect_holder: return expect_holder(command);
        case Verb::expect_no_leader:
            if (wait_for(limit, [&] { return world_.leader().has_value(); }))
                unmet(command, "expect", leader_text());
            return;
        case Verb::expect_steady: {
            const auto changes = [&] { return checks_.elections() + checks_.depositions(); };
            const std::uint64_t before = changes();
            // Without a majority nothing but the protocol's peace makes the leader the only one.
            const auto leaders = [&] {
                std::size_t count = 0;
                for (HostIndex h = 0; h < world_.hosts(); ++h)
                    if (world_.host(h).site == Site::own && world_.leads(h)) ++count;
                return count;
            };
            if (wait_for(limit, [&] { return changes() != before || leaders() > 1; }))
                unmet(command, "L2", leader_text());
            return;
        }
        case Verb::expect_elections: {
            const auto since = static_cast<std::int64_t>(checks_.elections() - mark_.elections);
            if (since > command.number)
                unmet(command, "expect", fmt::format("there were {}", since));
            return;
        }
        case Verb::expect_same_leader:
            if (leader != mark_.leader || epoch != mark_.epoch)
                unmet(command, "expect", leader_text());
            return;
        case Verb::expect_higher_epoch:
            if (epoch <= mark_.epoch) unmet(command, "expect", leader_text());
            return;
        case Verb::expect_epoch:
            if (epoch.value != static_cast<std::uint64_t>(command.number))
                unmet(command, "expect", leader_text());
            return;
        case Verb::expect_no_fsync:
            if (persists_ != mark_.persists)
                unmet(command, "I11", fmt::format("there were {}", persists_ - mark_.persists));
            return;
        case Verb::expect_deposed: {
            const auto who = host_of(command.a);
            const bool found =
                std::any_of(mark_.deposed.begin(), mark_.deposed.end(), [&](const auto& deposed) {
                    return deposed.first == who && name(deposed.second) == command.word;
                });
            if (!found) unmet(command, "expect", leader_text());
            return;
        }
        case Verb::expect_members: {
            const std::string found =
                leader ? ids_text(world_.host(*leader).node->parts().holder.base()) : "";
            if (found != command.word)
                unmet(command, "expect", fmt::format("they are {}; {}", found, leader_text()));
            return;
        }
        default: return;
    }
}

}  // namespace bullring::sim
