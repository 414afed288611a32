// I1: at most one valid lease at any instant. I2: the epochs of elections only rise. I3: a valid
// leader has the newest epoch.
//
// A lease begins or grows only when it is published, and otherwise only runs out; so an overlap
// begins with a Publish, and that is where to look.
#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

void Checks::check_published(const World& world, HostIndex h, const Publish& publish) {
    check_deadline(world, h, publish);
    if (!publish.epoch || !lease_valid(world.clock(h), publish.deadline)) return;
    for (HostIndex o = 0; o < world.hosts(); ++o) {
        if (o == h || !world.leads(o)) continue;
        fail(world, "I1",
             fmt::format("node {} leads in epoch {} while node {} still leads in epoch {}",
                         world.host(h).id.value, publish.epoch.value, world.host(o).id.value,
                         world.host(o).published.epoch.value));
    }
    if (publish.epoch < newest_epoch_)
        fail(world, "I3",
             fmt::format("node {} has a valid lease of epoch {}, but epoch {} of node {} is newer",
                         world.host(h).id.value, publish.epoch.value, newest_epoch_.value,
                         newest_leader_.value));
    check_no_other_task(world, h);
}

void Checks::check_elected(const World& world, HostIndex h, const Elected& elected) {
    ++elections_;
    note_leadership(world, h);
    last_elected_at_ = world.now();
    of_[h].elected_in = elected.epoch;
    elected_in_.note(elected.epoch, world.host(h).node->member().own_key());
    // A node that was stopped while it published this leads no more, if its lease is over.
    if (!world.leads(h) && world.settings().quorum == QuorumMode::majority) return;
    if (elected.epoch <= newest_epoch_)
        fail(world, "I2",
             fmt::format("node {} is elected in epoch {} after node {} was in epoch {}",
                         world.host(h).id.value, elected.epoch.value, newest_leader_.value,
                         newest_epoch_.value));
    if (newest_epoch_ < elected.epoch) {
        newest_epoch_ = elected.epoch;
        newest_leader_ = world.host(h).id;
    }
}

}  // namespace bullring::sim
