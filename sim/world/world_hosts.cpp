// Processes and machines: how they start, stand still, go on and end.
#include <algorithm>
#include <utility>

#include "sim/world/world.hpp"

namespace bullring::sim {

using namespace protocol;

void World::start(HostIndex h) {
    Host& host = hosts_[h];
    if (host.running() || host.disk.state == DiskState::torn) return;
    // A state file is bound to the name of its cluster.
    if (cluster_of(h) != host.site && !settings_.neighbours_have_this_name) return;
    // A9: who can't tell them apart itself is told right addresses.
    if (settings_.neighbours_have_this_name && !has_settled_id(host)) {
        forget_mistakes_about(h);
        forget_copies_beside(h);
    }
    if (!host.disk.file) forget_predecessor();
    // To start takes longer than the wall clock's resolution, from which a lost disk counts on.
    if (!by_hand() && (now_ < host.started_at + 2 * ms || now_ < host.not_before)) return;
    host.started_at = now_;
    if (!host.machine_up) {
        host.machine_up = true;
        if (!by_hand()) host.clock.reboot(now_);
        for (HostIndex peer = 0; peer < hosts_.size(); ++peer)
            if (peer != h) unstall(peer, h);
    }
    ++host.run;
    host.paused = host.suspended = false;
    host.clock.set_suspended(now_, false);
    host.busy_until = 0;
    host.wake_at = end_of_time;
    host.published = {};
    host.task = {};
    host.healthy = true;
    host.interruption = {};
    host.unfinished.clear();
    host.local.clear();
    host.unheard.clear();
    host.to_tell.clear();
    host.works_under = {};
    host.look_at = end_of_time;
    host.writing.reset();
    host.introduced.clear();
    host.called_from.clear();
    host.dialling.assign(members(), {});
    Start start;
    start.now = clock(h);
    start.incarnation = host.incarnation =
        by_hand() ? run_by_hand(h, host.run) : Incarnation{rng_.next()};
    start.seed = by_hand() ? host.run : rng_.next();
    if (settings_.quorum == QuorumMode::majority) start.file = host.disk.file;
    const auto ahead = settings_.wall_clocks.find(host.id);
    const Time wall =
        (by_hand() ? 0 : now_) + (ahead == settings_.wall_clocks.end() ? 0 : ahead->second.ns);
    start.wall_clock_ms = 1'700'000'000'000 + static_cast<std::uint64_t>(wall / ms);
    Config config = configs_[h];
    config.listens = std::to_string(h);  // as addresses are written here
    const bool astray = settings_.founders_of.contains(host.id);
    if (!start.file && !astray && !may_found(host.site, config.members))
        config.members = {};  // it is told
    host.node.emplace(std::move(config), start);
    tell({.kind = "start", .host = h, .detail = {}});
    host.dials = host.node->parts().setup.members();
    const bool works = !settings_.workless.contains(host.id);
    host.candidacies.emplace(configs_[h].timing, works, settings_.hooks);
    for (HostIndex peer = 0; peer < members(); ++peer)
        if (settings_.ids[peer] != host.id && dials(host, peer))
            dial_after(h, peer, draw({0, us * 100}));
    step(h, Wake{});
    if (!host.running()) return;
    obey(h, host.candidacies->on_open());
    tell_node(h);
}

// PROTOCOL A8: an operator gives an empty directory no list without a majority of today's voters.
bool World::may_found(Site site, const Membership& founders) const {
    const auto outdated = [&](const Membership& list) {
        MemberSet named;
        for (const MemberEntry& member : list.entries())
            if (founders.find(member.id) != nullptr) named.insert(member.slot);
        return list.changed() && !list.is_majority(named);
    };
    return std::none_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
        if (host.site != site || host.own_disk) return false;
        return (host.disk.file && outdated(host.disk.file->members)) ||
               (host.writing && outdated(host.writing->members)) ||
               (host.running() && outdated(host.node->parts().holder.newest()));
    });
}

bool World::dials(const Host& host, HostIndex peer) const {
    return host.dials.find(settings_.ids[peer]) != nullptr;
}

void World::deal_with(HostIndex h, const Membership& members) {
    Host& host = hosts_[h];
    host.dials = members;
    for (HostIndex peer = 0; peer < host.dialling.size(); ++peer)
        if (settings_.ids[peer] != host.id && dials(host, peer)) dial_after(h, peer, 0);
}

void World::die(HostIndex h, Death death) {
    Host& host = hosts_[h];
    if (host.running()) {
        tell({.kind = death == Death::power_off ? "power_off" : "crash", .host = h, .detail = {}});
        // A write on its way may have reached the disk or not.
        if (host.writing && host.disk.state == DiskState::good && !by_hand() &&
            rng_.below(2) == 0) {
            write(host, *host.writing);
        }
        const std::uint32_t run = host.run;
        if (death != Death::power_off) send_notices(h);
        host.node.reset();
        host.candidacies.reset();
        host.published = {};
        host.task = {};
        host.paused = false;
        if (host.suspended) host.clock.set_suspended(now_, false);
        host.suspended = false;
        if (death == Death::power_off) host.machine_up = false;
        for (std::size_t number = 0; number < connections_.size(); ++number)
            for (const Side side : {dialler_side, acceptor_side}) {
                const End& end = connections_[number].ends[side];
                if (end.host == h && end.run == run) let_go(number, side, death);
            }
    } else if (death == Death::power_off) {
        host.machine_up = false;
    }
    if (host.machine_up) return;
    lose_clients(h);
    for (HostIndex peer = 0; peer < hosts_.size(); ++peer)
        if (peer != h) stall_link(peer, h);
}

void World::stop(HostIndex h) {
    if (!hosts_[h].running()) return;
    tell({.kind = "stop", .host = h, .detail = {}});
    give(h, StopRequested{});
}

void World::pause(HostIndex h) {
    Host& host = hosts_[h];
    if (!host.awake()) return;
    tell({.kind = "pause", .host = h, .detail = {}});
    host.paused = true;
}

void World::suspend(HostIndex h) {
    Host& host = hosts_[h];
    if (!host.running() || host.suspended) return;
    tell({.kind = "suspend", .host = h, .detail = {}});
    host.suspended = true;
    host.clock.set_suspended(now_, true);
    for (HostIndex peer = 0; peer < hosts_.size(); ++peer)
        if (peer != h) stall_link(peer, h);
}

void World::resume(HostIndex h) {
    Host& host = hosts_[h];
    if (!host.running() || host.awake()) return;
    tell({.kind = "resume", .host = h, .detail = {}});
    host.paused = false;
    if (host.suspended) {
        host.suspended = false;
        host.clock.set_suspended(now_, false);
        for (HostIndex peer = 0; peer < hosts_.size(); ++peer)
            if (peer != h) {
                unstall(peer, h);
                unstall(h, peer);
            }
    }
    if (by_hand()) return;
    // Unread bytes of different sessions are read in any order, and timers come in between.
    for (std::size_t number = 0; number < connections_.size(); ++number)
        for (const Side side : {dialler_side, acceptor_side}) {
            const End& end = connections_[number].ends[side];
            Pipe& incoming = connections_[number].ends[other(side)].outgoing;
            if (end.host != h || end.run != host.run || !end.open) continue;
            const Time at = now_ + draw({0, 200 * us});
            for (std::size_t i = 0; i < incoming.size() && incoming[i].arrival <= now_; ++i)
                queue_.push(at, Happening::parcel, number, side);
        }
    const std::uint32_t run = host.run;
    if (!host.unfinished.empty()) carry_out_rest(h, std::exchange(host.unfinished, {}));
    tell_node(h);
    for (const Event& event : std::exchange(host.local, {}))
        if (is_run(h, run)) give(h, event);
    for (const auto& [number, what] : std::exchange(host.unheard, {})) hear(number, run, what);
    look(h, run);
    if (!is_run(h, run)) return;
    const Time at = now_ + draw({0, 200 * us});
    host.wake_at = at;
    queue_.push(at, Happening::wake, h, run);
}

void World::interrupt(HostIndex h, Interruption interruption) {
    if (hosts_[h].running()) hosts_[h].interruption = interruption;
}

void World::set_rates(HostIndex h, Rates rates) { hosts_[h].clock.set_rates(now_, rates); }

bool World::roll_back_disk(HostIndex h) {
    Disk& disk = hosts_[h].disk;
    if (disk.history.empty()) return false;
    disk.file = disk.history[rng_.below(disk.history.size())];
    return true;
}

void World::lose_disk(HostIndex h) {
    hosts_[h].own_disk.reset();
    Disk& disk = hosts_[h].disk;
    disk.file.reset();
    disk.history.clear();
    disk.state = DiskState::good;
    disk.written_at = hosts_[h].site;
}

void World::empty_left_behind() {
    std::map<std::pair<Site, ClusterId>, std::pair<std::size_t, Epoch>> known;
    const auto of = [this](HostIndex h) {
        const Identity& own = hosts_[h].disk.file->identity;
        return std::pair(std::pair(cluster_of(h), own.id), own.epoch);
    };
    for (HostIndex h = 0; h < homes(); ++h) {
        if (!has_settled_id(hosts_[h])) continue;
        auto& [nodes, epoch] = known[of(h).first];
        ++nodes;
        epoch = std::max(epoch, of(h).second);
    }
    for (HostIndex h = 0; h < homes(); ++h) {
        if (!has_settled_id(hosts_[h])) continue;
        const auto own = of(h).first;
        const bool is_left_behind = std::any_of(known.begin(), known.end(), [&](const auto& other) {
            return other.first.first == own.first && other.second > known[own];
        });
        if (!is_left_behind) continue;
        die(h, Death::killed);
        lose_disk(h);
    }
}

HostIndex World::add_impostor(NodeId id) {
    const HostIndex h = hosts_.size();
    if (h >= links_.hosts()) return h;
    Host& host = hosts_.emplace_back();
    host.id = id;
    host.impostor = true;
    host.clock = HostClock({7777 * sec, 9999 * sec}, {});
    configs_.push_back(config_of(settings_, id));
    return h;
}

bool World::can_be_told_apart() const {
    return !settings_.neighbours_have_this_name ||
           std::all_of(hosts_.begin(), hosts_.end(), [this](const Host& host) {
               return has_settled_id(host) || (host.impostor && !host.running());
           });
}

void World::mistake(Site site, HostIndex member, HostIndex target) {
    const bool other = hosts_[target].site != site;
    // A copy is not met by those who deal with the original (A1).
    if (hosts_[target].own_disk || (other && !can_be_told_apart())) return;
    for (Host& host : hosts_)
        if (host.site == site && !host.own_disk) host.readdressed[member] = target;
}

void World::forget_mistakes_about(HostIndex h) {
    hosts_[h].readdressed.clear();
    for (Host& host : hosts_)
        if (host.site != hosts_[h].site)
            std::erase_if(host.readdressed, [h](const auto& one) { return one.second == h; });
}

void World::forget_copies_beside(HostIndex h) {
    for (HostIndex o = 0; o < hosts_.size(); ++o) {
        if (o == h || !hosts_[o].own_disk || hosts_[o].site != hosts_[h].site) continue;
        die(o, Death::killed);
        return_disk(o);
    }
}

void World::copy_disk(HostIndex h, HostIndex from) {
    Host& host = hosts_[h];
    if (h == from || host.running() || host.own_disk || !hosts_[from].disk.file) return;
    if (!can_be_told_apart()) return;
    // Copies that are a majority are a second cluster that nothing tells from the first (A1).
    const auto has_copy = [](const Host& one) { return one.own_disk.has_value(); };
    if (std::any_of(hosts_.begin(), hosts_.end(), has_copy) ||
        hosts_[from].disk.file->members.majority() == 1)
        return;
    // Nobody but those of the place where it is meets what is on it now.
    forget_mistakes_about(h);
    host.own_disk = std::exchange(host.disk, hosts_[from].disk);
}

void World::return_disk(HostIndex h) {
    Host& host = hosts_[h];
    if (host.running() || !host.own_disk) return;
    host.not_before = 0;
    host.disk = *std::exchange(host.own_disk, std::nullopt);
}

void World::note_call(HostIndex h, HostIndex peer, const std::string& from) {
    if (!from.empty()) hosts_[h].called_from[peer] = std::stoull(from);
}

// A9
bool World::may_meet(const Host& a, const Host& b) const {
    if (a.site == b.site || !settings_.neighbours_have_this_name) return true;
    return has_settled_id(a) && has_settled_id(b);
}

std::optional<HostIndex> World::address_of(HostIndex h, HostIndex peer) const {
    const Host& host = hosts_[h];
    const auto called = host.called_from.find(peer);
    if (called != host.called_from.end() && host.dialling[peer].elsewhere &&
        may_meet(host, hosts_[called->second]))
        return called->second;
    const auto elsewhere = host.readdressed.find(peer);
    if (elsewhere != host.readdressed.end() && may_meet(host, hosts_[elsewhere->second]))
        return elsewhere->second;
    return host_of(settings_.ids[peer], hosts_[h].site);
}

void World::readdress(HostIndex h, HostIndex member, HostIndex target) {
    hosts_[h].readdressed[member] = target;
    hosts_[target].impostor = false;
}

void World::restore_addresses() {
    for (Host& host : hosts_) host.readdressed.clear();
}

}  // namespace bullring::sim
