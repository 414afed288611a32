// Disks of a cluster of the same name that has ended before this one began (PROTOCOL A9, C12.2).
#include <algorithm>
#include <utility>

#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

void World::find_old_disk(HostIndex h) {
    Host& host = hosts_[h];
    if (host.running() || host.own_disk || !host.disk.file) return;
    for (const Host& other : hosts_)
        if (other.disk.written_at == Site::predecessor) return;  // one cluster was here before
    Epoch highest;
    Epoch today;
    Tag newest;
    for (HostIndex o = 0; o < hosts_.size(); ++o) {
        const Host& other = hosts_[o];
        if (other.site != host.site || (other.impostor && !other.running())) continue;
        // A9: those who have no id can't tell, nor can those who can't say theirs.
        if (other.own_disk || !has_settled_id(other) ||
            configs_[o].wire_highest < version_with_named_lists)
            return;
        if (other.running()) today = std::max(today, other.node->parts().max_seen);
        for (const Durable* file : {&*other.disk.file, other.writing ? &*other.writing : nullptr})
            if (file != nullptr) {
                highest = std::max(highest, file->hw);
                newest = std::max(newest, *file->members.tag());
            }
    }
    Durable old = *host.disk.file;
    std::vector<NodeId> others = old.members.founders();
    std::erase(others, host.id);
    if (others.empty()) return;
    // Perhaps the only one with a vote.
    const bool alone = rng_.below(3) == 0;
    std::vector<MemberEntry> entries{{host.id, 0, true, {}}};
    const std::size_t first = rng_.below(others.size());
    const std::size_t count = 1 + rng_.below(others.size());
    for (std::size_t i = 0; i < count; ++i) {
        const bool votes = !alone && (i == 0 || rng_.below(4) != 0);
        entries.push_back(
            {others[(first + i) % others.size()], static_cast<Index>(i + 1), votes, {}});
    }
    // Perhaps with the tag of a list that today's leader will write.
    const Tag before = newest;
    if (rng_.below(4) == 0)
        newest.epoch = {newest.epoch.value + rng_.below(highest.value - newest.epoch.value + 1)};
    else
        newest.epoch = std::max(newest.epoch, today);
    newest.version = static_cast<std::uint32_t>(rng_.below(2));
    if (newest.epoch == before.epoch) newest.version += before.version + 1;
    old.hw = highest;
    old.members = Membership(newest, std::move(entries), old.members.founders());
    old.identity = {};
    if (rng_.below(4) == 0) old.identity = {{rng_.next()}, newest.epoch, false};
    old.directory = {rng_.next()};
    old.met.clear();
    host.not_before = now_ + old.promised_max.ns * 11 / 10;
    host.own_disk = std::exchange(host.disk, Disk{});
    host.disk.file = std::move(old);
    host.disk.written_at = Site::predecessor;
}

/// That is of today's cluster.
bool World::has_list(const Host& host, const Membership& list) const {
    if (host.disk.written_at == Site::predecessor) return false;
    const auto is_it = [&](const Membership& one) {
        return one.tag() == list.tag() && one.entries() == list.entries();
    };
    return (host.disk.file && is_it(host.disk.file->members)) ||
           (host.writing && is_it(host.writing->members)) ||
           (host.running() && is_it(host.node->parts().holder.newest()));
}

/// A9: an empty directory meets its own cluster's nodes alone.
void World::forget_predecessor() {
    for (HostIndex h = 0; h < hosts_.size(); ++h)
        if (hosts_[h].disk.written_at == Site::predecessor) {
            die(h, Death::killed);
            return_disk(h);
        }
}

void World::write(Host& host, const Durable& durable) {
    const bool joins = host.disk.written_at == Site::predecessor &&
                       std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& other) {
                           return other.site == host.site && has_list(other, durable.members);
                       });
    host.disk.write(durable, host.site);
    if (!joins) return;
    host.disk.written_at = host.site;
    host.disk.history.clear();
    host.own_disk.reset();
}

}  // namespace bullring::sim
