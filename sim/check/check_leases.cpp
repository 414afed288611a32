// I1: at most one valid lease at any instant. I2: the epochs of elections only rise. I3: a valid
// leader has the newest epoch. Each within one cluster.
//
// A lease begins or grows only when it is published, and otherwise only runs out; so an overlap
// begins with a Publish, and that is where to look.
#include <algorithm>

#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

/// Of the cluster that it is a member of; no founders: it has no list yet, and with quorum none.
Checks::Founding Checks::founding(const World& world, HostIndex h) {
    const Parts& node = world.host(h).node->parts();
    return {world.cluster_of(h), node.fenced() ? node.list().founders() : std::vector<NodeId>()};
}

Epoch Checks::newest_epoch() const {
    Epoch newest;
    for (const auto& [founding, cluster] : clusters_)
        newest = std::max(newest, cluster.newest_epoch);
    return newest;
}

void Checks::check_published(const World& world, HostIndex h, const Publish& publish) {
    check_deadline(world, h, publish);
    if (!publish.epoch || !lease_valid(world.clock(h), publish.deadline)) return;
    const Founding own = founding(world, h);
    const Cluster& cluster = clusters_[own];
    for (HostIndex o = 0; o < world.hosts(); ++o) {
        if (o == h || !world.leads(o) || founding(world, o) != own) continue;
        fail(world, "I1",
             fmt::format("node {} leads in epoch {} while node {} still leads in epoch {}",
                         world.host(h).id.value, publish.epoch.value, world.host(o).id.value,
                         world.host(o).published.epoch.value));
    }
    check_no_page_elsewhere(world, h);
    if (publish.epoch < cluster.newest_epoch)
        fail(world, "I3",
             fmt::format("node {} has a valid lease of epoch {}, but epoch {} of node {} is newer",
                         world.host(h).id.value, publish.epoch.value, cluster.newest_epoch.value,
                         cluster.newest_leader.value));
    check_no_other_task(world, h);
}

void Checks::check_elected(const World& world, HostIndex h, const Elected& elected) {
    note_leadership(world, h);
    if (world.host(h).site == Site::own) {
        ++elections_;
        last_elected_at_ = world.now();
    }
    of_[h].elected_in = elected.epoch;
    Cluster& cluster = clusters_[founding(world, h)];
    cluster.elected_in.note(elected.epoch, world.host(h).node->parts().own_key());
    // A node that was stopped while it published this leads no more, if its lease is over.
    if (!world.leads(h) && world.settings().quorum == QuorumMode::majority) return;
    if (elected.epoch <= cluster.newest_epoch)
        fail(world, "I2",
             fmt::format("node {} is elected in epoch {} after node {} was in epoch {}",
                         world.host(h).id.value, elected.epoch.value, cluster.newest_leader.value,
                         cluster.newest_epoch.value));
    if (cluster.newest_epoch < elected.epoch) {
        cluster.newest_epoch = elected.epoch;
        cluster.newest_leader = world.host(h).id;
    }
}

}  // namespace bullring::sim
