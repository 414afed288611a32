#include "sim/explore/tell_action.hpp"

#include <fmt/format.h>

#include "protocol/values/timing.hpp"
#include "sim/explore/world_state.hpp"

namespace bullring::sim::explore {

using namespace protocol;

namespace {

/// The part of a message that its name shows, to follow an election.
struct MessageDetails {
    std::string operator()(const Coordinator& m) const {
        return fmt::format(" of epoch {}{}", m.epoch.value, m.renew ? ", a renewal" : "");
    }
    std::string operator()(const Grant& m) const {
        return fmt::format(" of epoch {}", m.epoch.value);
    }
    std::string operator()(const Nack& m) const {
        return fmt::format(" of epoch {}: {}", m.epoch.value, name(m.reason));
    }
    std::string operator()(const Resign& m) const {
        return fmt::format(" of epoch {}", m.epoch.value) +
               (m.successor ? fmt::format(" for node {}", m.successor.value) : "");
    }
    std::string operator()(const Token& m) const { return walk(m.walk); }
    std::string operator()(const CoordinatorToken& m) const {
        return walk(m.walk) +
               fmt::format(" for epoch {} with {} grants", m.request.epoch.value, m.grants.size());
    }
    template <class Other>
    std::string operator()(const Other&) const {
        return "";
    }

    static std::string walk(const Walk& walk) {
        return fmt::format(" of node {}, hop {}", walk.owner.value, walk.step);
    }
};

struct Words {
    Instant now;

    std::string operator()(const Send& a) const {
        const SessionName on = session_name(a.session);
        const std::size_t to = is_dialler_end(a.session) ? on.acceptor : on.dialler;
        return fmt::format("sends {} to {}{}", name(a.message), to + 1,
                           std::visit(MessageDetails{}, a.message));
    }
    std::string operator()(const CloseSession& a) const {
        const SessionName on = session_name(a.session);
        return fmt::format("closes its session with {}",
                           (is_dialler_end(a.session) ? on.acceptor : on.dialler) + 1);
    }
    std::string operator()(const Persist& a) const {
        return fmt::format("asks its disk to keep hw {}", a.durable.hw.value);
    }
    std::string operator()(const StartTask&) const { return "starts its task"; }
    std::string operator()(const StopTask& a) const {
        return fmt::format("asks its task to end ({})", name(a.reason));
    }
    std::string operator()(const Publish& a) const {
        if (!a.epoch) return "publishes that it does not lead";
        return fmt::format("publishes epoch {} for {}", a.epoch.value,
                           to_text(lease_left(now, a.deadline)));
    }
    std::string operator()(const ElectionStarted& a) const {
        return fmt::format("starts an election: {}", a.reason);
    }
    std::string operator()(const LeaderChanged& a) const {
        if (!a.leader) return "follows nobody";
        return fmt::format("follows {} in epoch {}", a.leader.value, a.epoch.value);
    }
    std::string operator()(const Elected& a) const {
        return fmt::format("is elected, epoch {}", a.epoch.value);
    }
    std::string operator()(const RoleChanged& a) const {
        return fmt::format("becomes {}, epoch {}", name(a.role), a.epoch.value);
    }
    template <class Other>
    std::string operator()(const Other&) const {
        return "";
    }
};

}  // namespace

void tell_action(std::vector<std::string>& lines, std::size_t node, Instant now,
                 const Action& action) {
    const std::string words = std::visit(Words{now}, action);
    if (!words.empty()) lines.push_back(fmt::format("{} {}", node + 1, words));
}

}  // namespace bullring::sim::explore
