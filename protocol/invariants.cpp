#include "protocol/invariants.hpp"

#include "protocol/tenure/standing.hpp"
#include "protocol/values/assert.hpp"

namespace bullring::protocol {

void check_invariants(const Parts& node, Instant now) {
    if (!node.fenced()) return;
    // I11: nothing proposed or granted is beyond what the disk knows.
    const Epoch hw = node.reserve.on_disk().hw;
    BULLRING_ASSERT(node.voter.promise().epoch() <= hw ||
                    node.voter.promise().key() == HolderKey{});
    BULLRING_ASSERT(node.voter.promise().vmax() <= node.max_seen);
    if (node.tenure.follows()) {
        // I10: who does not hold an epoch has published none and runs no task.
        BULLRING_ASSERT(!node.tenure.published() && !node.tenure.task_running());
        return;
    }
    BULLRING_ASSERT(node.epoch() <= hw && node.epoch() == node.holder.lease().epoch());
    // I5: a lease needs a majority of voters, its own promise among what it counts on.
    if (node.tenure.leads() && lease_valid(now, node.lease_end()))
        BULLRING_ASSERT(node.is_majority(node.grants(now)));
    // I7: a recovering node neither stands nor leads, and one to which a peer has reported another
    // process with its id does not stand.
    BULLRING_ASSERT(!node.recovering() && (node.role() != Role::candidate || !silent(node, now)));
    // A task runs only while the role says so.
    BULLRING_ASSERT(!node.tenure.published() || node.role() != Role::candidate);
}

}  // namespace bullring::protocol
