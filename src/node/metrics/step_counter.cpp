#include "src/node/metrics/step_counter.hpp"

#include <type_traits>
#include <variant>

#include "protocol/values/names.hpp"

namespace bullring {

using protocol::Instant;

StepCounter::StepCounter(protocol::NodeId self, Instant started, NodeCounts& counts)
    : self_(self), counts_(counts), found_(started) {
    counts_.leaderless_since_ns.store(started.boottime_ns);
}

void StepCounter::add(Instant now, const protocol::Event& event,
                      const std::vector<protocol::Action>& actions) {
    if (const auto* received = std::get_if<protocol::Receive>(&event)) {
        counts_.received.add(protocol::name(received->message));
    } else if (std::holds_alternative<protocol::HelloReceived>(event)) {
        counts_.received.add("HELLO");
    }
    end_.note(event);
    for (const protocol::Action& action : actions) {
        end_.note(action);
        count(now, action);
    }
}

void StepCounter::count(Instant now, const protocol::Action& action) {
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<What, protocol::Send>) {
                counts_.sent.add(protocol::name(what.message));
            } else if constexpr (std::is_same_v<What, protocol::ElectionStarted>) {
                if (standing_) counts_.elections.add("failed");
                standing_ = true;
            } else if constexpr (std::is_same_v<What, protocol::Elected>) {
                counts_.elections.add("won");
                standing_ = false;
            } else if constexpr (std::is_same_v<What, protocol::LeaderChanged>) {
                count(now, what);
            } else if constexpr (std::is_same_v<What, protocol::HandshakeRefused>) {
                count_refusal(what);
            }
        },
        action);
}

void StepCounter::count(Instant now, const protocol::LeaderChanged& change) {
    // The same leader may have been found meanwhile, and lost again before it gave a sign of life.
    const Instant without_since = later(change.unled_since.value_or(found_), found_);
    leader_ = change.leader;
    if (!change.leader) {
        counts_.leaderless_since_ns.store(without_since.boottime_ns);
        return;
    }
    if (standing_ && change.leader != self_) {
        counts_.elections.add("lost");
        standing_ = false;
    }
    const bool was_led = counts_.leaderless_since_ns.exchange(0) == 0;
    const char* const reason = end_.reason();  // none: it has led all along
    counts_.leaderless_ns.add(static_cast<std::uint64_t>(protocol::elapsed(without_since, now).ns));
    found_ = now;
    if (reason == nullptr) return;
    counts_.leader_changes.add(reason);
    if (!change.unled_since) return;
    const protocol::Duration gap = protocol::elapsed(*change.unled_since, now);
    const bool took_over_at_once = was_led && gap.ns == 0;
    if (!took_over_at_once) counts_.failovers.add(gap);
}

void StepCounter::count_refusal(const protocol::HandshakeRefused& refusal) {
    if (!refusal.by_us) return;
    // The word comes from a message, so it is looked up and not believed.
    const auto what = protocol::named<protocol::Difference>(refusal.difference.field);
    counts_.refused.add(what ? protocol::name(*what) : "other");
}

}  // namespace bullring
