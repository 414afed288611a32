#include "src/node/metrics/step_counter.hpp"

#include <type_traits>
#include <variant>

#include "protocol/values/names.hpp"

namespace bullring {

using protocol::Instant;

StepCounter::StepCounter(protocol::NodeId self, Instant started, NodeCounts& counts)
    : self_(self), counts_(counts) {
    counts_.leaderless_since_ns.store(started.boottime_ns);
}

void StepCounter::add(const protocol::Event& event, const std::vector<protocol::Action>& actions,
                      const std::vector<LeaderTurn>& turns) {
    if (const auto* received = std::get_if<protocol::Receive>(&event)) {
        counts_.received.add(protocol::name(received->message));
    } else if (std::holds_alternative<protocol::HelloReceived>(event)) {
        counts_.received.add("HELLO");
    }
    auto turn = turns.begin();
    for (const protocol::Action& action : actions) {
        if (std::holds_alternative<protocol::LeaderChanged>(action))
            count(*turn++);
        else
            count(action);
    }
}

void StepCounter::count(const protocol::Action& action) {
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
            } else if constexpr (std::is_same_v<What, protocol::HandshakeRefused>) {
                count_refusal(what);
            }
        },
        action);
}

void StepCounter::count(const LeaderTurn& turn) {
    const protocol::NodeId leader = turn.what.leader;
    if (!leader) {
        counts_.leaderless_since_ns.store(turn.unled_since.boottime_ns);
        return;
    }
    if (standing_ && leader != self_) {
        counts_.elections.add("lost");
        standing_ = false;
    }
    const bool was_led = counts_.leaderless_since_ns.exchange(0) == 0;
    counts_.leaderless_ns.add(
        static_cast<std::uint64_t>(protocol::elapsed(turn.unled_since, turn.at).ns));
    if (!turn.before) return;
    counts_.leader_changes.add(name(*turn.before));
    const auto gap = turn.gap();
    const bool took_over_at_once = was_led && gap && gap->ns == 0;
    if (gap && !took_over_at_once) counts_.failovers.add(*gap);
}

void StepCounter::count_refusal(const protocol::HandshakeRefused& refusal) {
    if (!refusal.by_us) return;
    // The word comes from a message, so it is looked up and not believed.
    const auto what = protocol::named<protocol::Difference>(refusal.difference.field);
    counts_.refused.add(what ? protocol::name(*what) : "other");
}

}  // namespace bullring
