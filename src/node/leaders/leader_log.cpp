#include "src/node/leaders/leader_log.hpp"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "protocol/values/durations.hpp"
#include "protocol/values/names.hpp"

namespace bullring {

using protocol::Duration;
using protocol::Instant;

namespace {

LeaderEnd end_of(protocol::DeposedReason reason) {
    switch (reason) {
        case protocol::DeposedReason::lease_expired: return LeaderEnd::lease_expired;
        case protocol::DeposedReason::higher_rank: return LeaderEnd::replaced;
        case protocol::DeposedReason::resigned:
        case protocol::DeposedReason::preempted:
        case protocol::DeposedReason::stalled:
        case protocol::DeposedReason::unhealthy:
        case protocol::DeposedReason::task_ended:
        case protocol::DeposedReason::task_failed:
        case protocol::DeposedReason::stopped: break;
    }
    return LeaderEnd::resigned;
}

}  // namespace

const char* name(LeaderEnd end) {
    switch (end) {
        case LeaderEnd::first: return "first";
        case LeaderEnd::replaced: return "replaced";
        case LeaderEnd::resigned: return "resigned";
        case LeaderEnd::died: return "died";
        case LeaderEnd::lease_expired: return "lease_expired";
    }
    return protocol::no_name;
}

std::optional<Duration> LeaderTurn::gap() const {
    if (!what.leader || !what.unled_since) return std::nullopt;
    return protocol::elapsed(*what.unled_since, at);
}

const std::vector<LeaderTurn>& LeaderLog::add(Instant now, const protocol::Event& event,
                                              const std::vector<protocol::Action>& actions) {
    turns_.clear();
    note(event);
    for (const protocol::Action& action : actions) note(now, action);
    return turns_;
}

void LeaderLog::note(const protocol::Event& event) {
    const auto* received = std::get_if<protocol::Receive>(&event);
    if (received == nullptr) return;
    // Candidates resign, too, and those that led before. Who ends its task before it resigns has
    // said that it steps down, and is followed no more.
    const auto* resign = std::get_if<protocol::Resign>(&received->message);
    if (resign != nullptr && epoch_ && resign->epoch == epoch_ && !seen_)
        seen_ = LeaderEnd::resigned;
}

void LeaderLog::note(Instant now, const protocol::Action& action) {
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::PeerDown>) {
                // If it is still followed, it was a candidate of the same epoch that has resigned.
                if (what.peer == leader_)
                    seen_ = what.reason == protocol::PeerDownReason::eof ? LeaderEnd::died
                                                                         : LeaderEnd::lease_expired;
            } else if constexpr (std::is_same_v<What, protocol::PeerUp>) {
                // It was its connection that had ended, and it leads on.
                if (what.peer == leader_) seen_.reset();
            } else if constexpr (std::is_same_v<What, protocol::Deposed>) {
                seen_ = end_of(what.reason);
            } else if constexpr (std::is_same_v<What, protocol::LeaderChanged>) {
                turn(now, what);
            }
        },
        action);
}

void LeaderLog::turn(Instant now, const protocol::LeaderChanged& to) {
    LeaderTurn turn{now, to};
    // The same leader may have been found meanwhile, and lost again before it gave a sign of life.
    turn.unled_since = later(to.unled_since.value_or(found_), found_);
    if (to.leader) {
        turn.before = followed_by(to);
        found_ = now;
    } else {
        turn.loss = loss();
    }
    leader_ = to.leader;
    turns_.push_back(std::move(turn));
}

std::optional<LeaderEnd> LeaderLog::followed_by(const protocol::LeaderChanged& to) {
    const bool is_first = !last_;
    const bool led_on = to.leader == last_ && to.epoch == epoch_;
    LeaderEnd end = seen_.value_or(leader_ ? LeaderEnd::replaced : LeaderEnd::lease_expired);
    // Its end is known now, if it had only been silent until then.
    if (to.after_end && (!seen_ || seen_ == LeaderEnd::lease_expired)) end = LeaderEnd::died;
    last_ = to.leader;
    epoch_ = to.epoch;
    seen_.reset();
    if (led_on) return std::nullopt;
    return is_first ? LeaderEnd::first : end;
}

const char* LeaderLog::loss() const {
    if (!seen_) return "it leads no more";
    switch (*seen_) {
        case LeaderEnd::resigned: return "it has resigned";
        case LeaderEnd::died: return "it has died";
        case LeaderEnd::replaced: return "another one leads";
        case LeaderEnd::lease_expired:
        case LeaderEnd::first: break;
    }
    return "nothing is heard of it";
}

std::string after_gap(Duration gap) {
    const Duration shown = gap / 1000 * 1000;  // in whole microseconds
    if (shown.ns <= 0) return "";
    return fmt::format(", after {} without a leader", protocol::to_text(shown));
}

}  // namespace bullring
