#include "protocol/values/state.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

Durable refounded(const Durable& before, NodeId self, Epoch clock) {
    const MemberEntry* const entry = before.members.find(self);
    BULLRING_ASSERT(entry != nullptr);
    MemberEntry alone = *entry;
    alone.votes = true;
    const Epoch epoch = std::max({before.hw, before.members.tag()->epoch, clock}) + 1;
    std::vector<MemberEntry> entries{std::move(alone)};
    Durable after = before;
    after.hw = epoch;
    // The same founders: whoever comes back with the old list is told this one, and is out.
    after.members = Membership({epoch, 0}, std::move(entries), before.members.founders());
    // Nobody is left in the list who knows what it has promised: the next run keeps silent for as
    // long as with hooks.
    after.hooks = true;
    return after;
}

}  // namespace bullring::protocol
