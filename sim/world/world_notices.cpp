// Undertakers: processes that outlive a node by a moment and report its end to the others
// (PROTOCOL R4). What they say can't be forged, but be late, be lost, and be said again.
#include <algorithm>

#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

void World::send_notices(HostIndex h) {
    Host& host = hosts_[h];
    // One in ten is killed together with its node, or before.
    if (configs_[h].fast_release != FastRelease::notice || chance(100'000)) return;
    Time clients_live = 0;
    if (const auto works = host.candidacies->works()) {
        Client& client = clients_[works->value - 1];
        // Attached to it a process may work on: it is silent.
        if (!client.guarded) return;
        clients_live = end_with_node(client);
    }
    const Timing& timing = configs_[h].timing;
    ended_.push_back({h, {host.id, host.incarnation}, now_ + timing.promise(timing.lease_max).ns});
    // Some stand still before they say it, and each has connections of its own.
    const Time stands_still =
        clients_live + (chance(100'000) ? draw({0, 5 * sec}) : draw({0, 200 * us}));
    for (HostIndex other = 0; other < hosts_.size(); ++other)
        if (other != h)
            queue_.push(now_ + stands_still + draw(settings_.delay), Happening::notice, other, 0,
                        ended_.size() - 1);
}

void World::notice(HostIndex h, std::size_t which) {
    const Ended ended = ended_[which];
    if (now_ > ended.until || !hosts_[ended.host].machine_up) return;
    // Its connection is made anew, or what it has said lies unread.
    if (!two_way(ended.host, h) || !hosts_[h].awake() || chance(settings_.loss_ppm))
        return queue_.push(now_ + draw({ms, 50 * ms}), Happening::notice, h, 0, which);
    // A node on the way that has heard the notice may repeat it, for ever: it stays true.
    if (chance(200'000)) queue_.push(now_ + draw({0, 2 * sec}), Happening::notice, h, 0, which);
    if (hosts_[h].introduced.contains(ended.run))
        step(h, Died{ended.run.id, ended.run.incarnation});
}

}  // namespace bullring::sim
