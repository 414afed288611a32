// What must hold after every step; a node in which it does not stops rather than lead wrongly.
#include "protocol/assert.hpp"
#include "protocol/core.hpp"

namespace bullring::protocol {

void Core::check_invariants(Instant now) const {
    if (textbook()) return;
    // I11: nothing proposed or granted is beyond what the disk knows.
    BULLRING_ASSERT(promise_.epoch() <= disk_.hw || promise_.key() == HolderKey{});
    if (role_ == Role::follower) {
        // I10: who does not hold an epoch has published none and runs no task.
        BULLRING_ASSERT(!published_ && !task_running_);
        return;
    }
    BULLRING_ASSERT(epoch() <= disk_.hw);
    // I5: a lease needs a majority of voters, the holder's own promise among what it counts on.
    if (role_ == Role::leader && lease_valid(now, lease_end()))
        BULLRING_ASSERT(lease_.voters(now).size() >= majority());
    // I7: a recovering node neither stands nor leads, and one that is told of another process with
    // its id does not stand.
    BULLRING_ASSERT(!recovering_ && (role_ != Role::candidate || !silent(now)));
    // A task runs only while the role says so.
    BULLRING_ASSERT(!published_ || role_ != Role::candidate);
}

}  // namespace bullring::protocol
