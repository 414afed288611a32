#include "src/node/metrics/step_counter.hpp"

#include <type_traits>
#include <variant>

#include "protocol/values/names.hpp"

namespace bullring {

using protocol::Instant;

StepCounter::StepCounter(protocol::NodeId self, Instant started, NodeCounts& counts)
    : self_(self), counts_(counts), since_(started) {
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
    const bool was_led = static_cast<bool>(leader_);
    leader_ = change.leader;
    if (!change.leader) {
        if (!was_led) return;
        since_ = now;
        counts_.leaderless_since_ns.store(now.boottime_ns);
        return;
    }
    if (standing_ && change.leader != self_) {
        counts_.elections.add("lost");
        standing_ = false;
    }
    const char* const reason = end_.reason();  // none: it has led all along
    if (!was_led) {
        const protocol::Duration without = protocol::elapsed(since_, now);
        counts_.leaderless_since_ns.store(0);
        counts_.leaderless_ns.add(static_cast<std::uint64_t>(without.ns));
        if (reason != nullptr && reason != std::string_view(LeaderEnd::first))
            counts_.failovers.add(without);
    }
    if (reason != nullptr) counts_.leader_changes.add(reason);
}

void StepCounter::count_refusal(const protocol::HandshakeRefused& refusal) {
    if (!refusal.by_us) return;
    // The word comes from a message, so it is looked up and not believed.
    const auto what = protocol::named<protocol::Difference>(refusal.difference.field);
    counts_.refused.add(what ? protocol::name(*what) : "other");
}

}  // namespace bullring
