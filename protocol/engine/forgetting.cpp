// Members without a vote that are gone (PROTOCOL C9): instances that were scaled in, or have died.
// Their leader takes them out of the list, which no majority depends on.
#include "protocol/engine/engine.hpp"
#include "protocol/values/durations.hpp"

namespace bullring::protocol {

/// Its last word to this leader; or, if that is later, the begin of the leadership or of what the
/// two have to do with each other.
Instant Engine::missed_since(Index i) const {
    return later(later(peers_[i].heard_at, peers_[i].met_at), tenure_.elected_at());
}

// C9.1
bool Engine::may_be_forgotten(Instant now, Index i) const {
    return config().forget_after.ns > 0 && i != me() && !holder_.base().voters().contains(i) &&
           !peers_.heard(i, now) && due(now, missed_since(i) + config().forget_after);
}

void Engine::forget_who_is_gone(Step& step) {
    if (changes_.pending) {
        // It may have come back before the list without it was proposed.
        const MemberEntry* const member = holder_.base().find(changes_.pending->change.id);
        const bool is_back = member == nullptr || !may_be_forgotten(step.now, member->slot);
        if (changes_.pending->forgets && is_back) end_change(step, false, {});
        return;
    }
    for (const Index i : holder_.base().all()) {
        if (!may_be_forgotten(step.now, i)) continue;
        const MemberChange change{MemberChange::What::remove, holder_.base().id(i), {}};
        if (!hindrance(step.now, change).empty()) return;
        changes_.pending = PendingChange{.change = change, .request = {}, .forgets = true};
        return;
    }
}

void Engine::tell_who_is_forgotten(Step& step, NodeId member) {
    step.act(Note{Note::Level::info, member,
                  "node " + std::to_string(member.value) +
                      ", which has no vote and was not heard for " +
                      to_text(config().forget_after) + " (--forget-after), is no member any more"});
}

void Engine::collect_forgetting(WakeTime& wake) const {
    if (config().forget_after.ns == 0) return;
    for (const Index i : setup_.others())
        if (!holder_.base().voters().contains(i))
            wake.timer(missed_since(i) + config().forget_after);
}

}  // namespace bullring::protocol
