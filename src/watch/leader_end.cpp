#include "src/watch/leader_end.hpp"

#include <string_view>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "protocol/values/durations.hpp"
#include "protocol/values/names.hpp"

namespace bullring {

namespace {

constexpr std::string_view silence = LeaderEnd::lease_expired;

const char* way_of(protocol::DeposedReason reason) {
    switch (reason) {
        case protocol::DeposedReason::lease_expired: return LeaderEnd::lease_expired;
        case protocol::DeposedReason::higher_rank: return LeaderEnd::replaced;
        case protocol::DeposedReason::resigned:
        case protocol::DeposedReason::preempted:
        case protocol::DeposedReason::stalled:
        case protocol::DeposedReason::unhealthy:
        case protocol::DeposedReason::task_ended:
        case protocol::DeposedReason::task_failed:
        case protocol::DeposedReason::stopped: return LeaderEnd::resigned;
    }
    return protocol::no_name;
}

}  // namespace

void LeaderEnd::note(const protocol::Event& event) {
    const auto* received = std::get_if<protocol::Receive>(&event);
    if (received == nullptr) return;
    // Candidates resign, too, and those that led before. Who ends its task before it resigns has
    // said that it steps down, and is followed no more.
    const auto* resign = std::get_if<protocol::Resign>(&received->message);
    if (resign != nullptr && epoch_ && resign->epoch == epoch_ && seen_ == nullptr)
        seen_ = resigned;
}

void LeaderEnd::note(const protocol::Action& action) {
    std::visit(
        [this](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::PeerDown>) {
                // If it is still followed, it was a candidate of the same epoch that has resigned.
                if (what.peer == leader_)
                    seen_ = what.reason == protocol::PeerDownReason::eof ? died : lease_expired;
            } else if constexpr (std::is_same_v<What, protocol::PeerUp>) {
                // It was its connection that had ended, and it leads on.
                if (what.peer == leader_) seen_ = nullptr;
            } else if constexpr (std::is_same_v<What, protocol::Deposed>) {
                seen_ = way_of(what.reason);
            } else if constexpr (std::is_same_v<What, protocol::LeaderChanged>) {
                if (what.leader) follow(what);
                leader_ = what.leader;
            }
        },
        action);
}

void LeaderEnd::follow(const protocol::LeaderChanged& to) {
    // Its end, if it had only been silent until then.
    if (to.after_end && (seen_ == nullptr || seen_ == silence)) seen_ = died;
    const bool led_on = to.leader == last_ && to.epoch == epoch_;
    reason_ = led_on ? nullptr : last_ ? way() : first;
    last_ = to.leader;
    epoch_ = to.epoch;
    seen_ = nullptr;
}

const char* LeaderEnd::way() const {
    if (seen_ != nullptr) return seen_;
    return leader_ ? replaced : lease_expired;
}

const char* LeaderEnd::sentence() const {
    if (seen_ == nullptr) return "it leads no more";
    const std::string_view word = seen_;
    if (word == resigned) return "it has resigned";
    if (word == died) return "it has died";
    if (word == replaced) return "another one leads";
    return "nothing is heard of it";
}

std::string after_gap(protocol::Duration gap) {
    const protocol::Duration shown = gap / 1000 * 1000;  // in whole microseconds
    if (shown.ns <= 0) return "";
    return fmt::format(", after {} without a leader", protocol::to_text(shown));
}

}  // namespace bullring
