// The list of members. I14: who counts a voter's grant is in the list on that voter's disk. I15: no
// two lists have one tag, and a node's tag falls only with its disk. I16: a grant bears the tag on
// the disk. I17: a leader changes a list of its own epoch, one vote at a time, when nothing is
// under way. I18: of all lists under which somebody can still be elected, each two majorities share
// a voter. I19: a node stays in its cluster, and no grant is counted in another one. I21: a member
// is removed because an operator has asked for it, or has no vote and was silent for long. L6: a
// voter does not refuse the newest list of the holder that it is promised to.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

std::string text(const Membership& list) {
    return to_text(list.tag().value_or(Tag{})) + " {" + ids_text(list) + "}";
}

std::set<NodeId> voters_of(const Membership& list) {
    std::set<NodeId> voters;
    for (const MemberEntry& member : list.entries())
        if (member.votes) voters.insert(member.id);
    return voters;
}

/// Each majority of the one shares a voter with each of the other.
bool majorities_meet(const Membership& a, const Membership& b) {
    std::set<NodeId> all = voters_of(a);
    all.merge(voters_of(b));
    return a.majority() + b.majority() > all.size();
}

}  // namespace

bool Checks::echoes(const World& world, HostIndex holder, const ReceivedGrant& grant) {
    const Parts& node = world.host(holder).node->parts();
    if (grant.perhaps) return false;
    if (!node.fenced()) return true;
    return grant.tag == node.holder.base().tag() || grant.tag == node.holder.newest().tag();
}

void Checks::note_list(const World& world, Site site, const Membership& list) {
    if (list.empty() || site == Site::predecessor) return;  // nobody here has seen its lists
    const Founding of{site, list.founders()};
    const auto [at, is_new] = clusters_[of].lists.try_emplace(*list.tag(), list);
    if (is_new) return check_lists(world, of);
    // Addresses of a list that nobody has changed are each node's own.
    if (at->second.entries() != list.entries() && list.changed())
        fail(world, "I15", fmt::format("{} and {}", text(at->second), text(list)));
}

/// I19: a list that was changed comes from a leader of this cluster.
void Checks::check_provenance(const World& world, HostIndex h, const Membership& list) {
    const auto& lists = clusters_[{world.cluster_of(h), list.founders()}].lists;
    const auto known = lists.find(*list.tag());
    if (!list.changed() || (known != lists.end() && known->second.entries() == list.entries()))
        return;
    // Its own, which it has sent to nobody yet.
    const Holder& holder = world.host(h).node->parts().holder;
    if (list == holder.newest() || list == holder.base()) return;
    fail(world, "I19",
         fmt::format("the list of node {} is {}, which nobody of its cluster has proposed",
                     world.host(h).id.value, text(list)));
}

/// I22: a node keeps it for as long as it has its disk, and where nobody has lost his all have one.
void Checks::check_identity(const World& world, HostIndex h) {
    const auto& disk = world.host(h).disk.file;
    const Identity before = std::exchange(identities_[h], disk ? disk->identity : Identity());
    disk_was_lost_ = disk_was_lost_ || (!disk && before.id);
    if (identities_[h] == before || !identities_[h].settled) return;
    if (world.settings().beyond_disk) return;  // A6
    const Founding own{world.cluster_of(h), disk->members.founders()};
    ClusterId& known = clusters_[own].id;
    const std::string says =
        fmt::format("node {} of cluster {} has settled on the id {}", world.host(h).id.value,
                    ids_text(own.second), to_text(disk->identity.id));
    if (!known) coverage_.count(Seen::identity_settled);
    const bool may_differ = disk_was_lost_ && before.known() != known;
    if (known && known != disk->identity.id && !may_differ)
        fail(world, "I22", fmt::format("{}, and another one on {}", says, to_text(known)));
    known = disk->identity.id;
    for (const auto& [other, cluster] : clusters_)
        if (other != own && cluster.id == known)
            fail(world, "I22", fmt::format("{}, which is that of another cluster", says));
}

/// Somebody has it: on a disk, or as the holder of a lease or of a candidacy.
bool Checks::is_alive(const World& world, Site site, const Membership& list) const {
    const auto is_it = [&](const Membership& one) {
        return one.tag() == list.tag() && one.founders() == list.founders();
    };
    for (HostIndex h = 0; h < world.hosts(); ++h) {
        const Host& host = world.host(h);
        if (world.cluster_of(h) != site) continue;
        if (host.disk.file && is_it(host.disk.file->members)) return true;
        if (host.writing && is_it(host.writing->members)) return true;
        if (!host.running() || host.node->parts().role() == Role::follower) continue;
        const Holder& holder = host.node->parts().holder;
        if (is_it(holder.base()) || is_it(holder.newest())) return true;
    }
    return false;
}

bool Checks::can_elect(const World& world, Site site, const Membership& list,
                       std::optional<HostIndex> given) const {
    if (!is_alive(world, site, list)) return false;
    MemberSet granting;
    for (const MemberEntry& member : list.entries()) {
        const auto h = world.host_of(member.id, site);
        if (!h || world.cluster_of(*h) != site) continue;
        if (h == given) granting.insert(member.slot);
        const auto& disk = world.host(*h).disk.file;
        if (disk && disk->members.founders() == list.founders() &&
            disk->members.tag() <= list.tag())
            granting.insert(member.slot);
    }
    return list.is_majority(granting);
}

/// I18, by brute force over all lists that somebody has.
void Checks::check_lists(const World& world, const Founding& of) {
    const Cluster& cluster = clusters_[of];
    for (auto a = cluster.lists.begin(); a != cluster.lists.end(); ++a) {
        if (!can_elect(world, of.first, a->second)) continue;
        for (auto b = std::next(a); b != cluster.lists.end(); ++b)
            if (!majorities_meet(a->second, b->second) && can_elect(world, of.first, b->second))
                fail(world, "I18",
                     fmt::format("by {} and by {} somebody can be elected, and they have disjoint "
                                 "majorities",
                                 text(a->second), text(b->second)));
    }
}

void Checks::check_list_written(const World& world, HostIndex h) {
    const auto& disk = world.host(h).disk.file;
    const Membership before =
        std::exchange(on_disk_[h], disk ? disk->members : Membership());  // else it is lost
    const Membership& list = on_disk_[h];
    check_identity(world, h);
    if (list.empty() || list == before || world.cluster_of(h) == Site::predecessor) return;
    check_provenance(world, h, list);
    if (list.is_of_other_cluster_than(before))
        fail(world, "I19",
             fmt::format("the list of node {} is {}, of another cluster than {}",
                         world.host(h).id.value, text(list), text(before)));
    if (list.tag() < before.tag())
        fail(
            world, "I15",
            fmt::format("the list of node {} goes back to {}", world.host(h).id.value, text(list)));
    if (list.tag() == before.tag()) return;
    // A node without a file is told a list that has been changed by a leader alone (C8).
    if (before.empty() && list.changed()) coverage_.count(Seen::list_told);
    coverage_.count(Seen::list_installed);
    note_list(world, world.cluster_of(h), list);
    check_lists(world, {world.cluster_of(h), list.founders()});
    check_counted_by_members(world, h);
}

/// I14: also of the list that is being written there.
void Checks::check_counted_by_members(const World& world, HostIndex voter) {
    const Host& host = world.host(voter);
    if (!host.disk.file || host.impostor) return;
    for (HostIndex o = 0; o < world.homes(); ++o) {
        if (o == voter || !world.host(o).running() || !counts(world, o, voter, Until::end_by_one))
            continue;
        // A grant that it gave with its own disk says nothing of the one that it has now.
        const auto is_of_this_run = [&](const ReceivedGrant& grant) {
            return grant.by == host.incarnation;
        };
        if (host.own_disk &&
            std::none_of(ledger_.received(o).begin(), ledger_.received(o).end(), is_of_this_run))
            continue;
        if (founding(world, o) !=
            Founding{world.cluster_of(voter), host.disk.file->members.founders()})
            fail(world, "I19",
                 fmt::format("node {} counts a grant of node {}, which is of another cluster",
                             world.host(o).id.value, host.id.value));
        for (const Membership* list :
             {&host.disk.file->members, host.writing ? &host.writing->members : nullptr})
            if (list != nullptr && list->find(world.host(o).id) == nullptr)
                fail(world, "I14",
                     fmt::format("node {} counts a grant of node {}, whose list is {}",
                                 world.host(o).id.value, host.id.value, text(*list)));
    }
}

void Checks::check_grant_tag(const World& world, HostIndex h, const Grant& grant) {
    const Host& host = world.host(h);
    if (!host.disk.file || grant.tag != host.disk.file->members.tag())
        fail(world, "I16",
             fmt::format("node {} grants under {}, and its disk has {}", host.id.value,
                         to_text(grant.tag),
                         host.disk.file ? text(host.disk.file->members) : "no list"));
}

/// I17: another list than the last one of that leadership. Whom it can be told is another matter.
void Checks::check_proposal(const World& world, HostIndex h, Instant now) {
    OfHost& of = of_[h];
    if (!world.host(h).running()) return;
    const Parts& node = world.host(h).node->parts();
    if (!node.fenced() || node.role() == Role::follower) return;
    const Epoch epoch = node.epoch();
    const Membership& newest = node.holder.newest();
    const Membership before = std::exchange(of.proposed, newest);
    const bool is_new = of.proposed_in == epoch && before.tag() != newest.tag();
    of.proposed_in = epoch;
    if (!is_new) return;
    coverage_.count(Seen::list_proposed);
    const Membership& base = node.holder.base();
    std::set<NodeId> gained = voters_of(newest);
    std::set<NodeId> lost;
    for (const NodeId id : voters_of(base))
        if (gained.erase(id) == 0) lost.insert(id);
    const bool same = gained.empty() && lost.empty();
    if (newest.tag()->epoch != epoch || gained.size() + lost.size() > 1 ||
        (base.tag()->epoch != epoch && base.entries() != newest.entries()))
        fail(world, "I17",
             fmt::format("node {} proposes {} on top of {} in epoch {}", world.host(h).id.value,
                         text(newest), text(base), epoch.value));
    check_removals(world, h, now, base, newest);
    // A list that is under way can only be undone.
    if (before.tag() > base.tag() && newest.tag() != base.tag() && !same)
        fail(world, "I17",
             fmt::format("node {} proposes {} while {} is under way", world.host(h).id.value,
                         text(newest), text(before)));
}

void Checks::note_word(const World& world, HostIndex h, Instant now, const Event& event) {
    if (const auto* asked = std::get_if<MembersRequested>(&event)) {
        if (asked->change.what == MemberChange::What::remove)
            of_[h].to_remove.insert(asked->change.id);
    } else if (const auto* receive = std::get_if<Receive>(&event)) {
        if (World::side_of(receive->session) != acceptor_side) return;
        of_[h].last_word[world.connection_of(receive->session).ends[dialler_side].host] = now;
    }
}

/// I21
void Checks::check_removals(const World& world, HostIndex h, Instant now, const Membership& base,
                            const Membership& newest) {
    const Duration forget_after = world.settings().forget_after;
    for (const MemberEntry& member : base.entries()) {
        if (newest.find(member.id) != nullptr || of_[h].to_remove.contains(member.id)) continue;
        const auto from = world.host_of(member.id, world.host(h).site);
        const auto last = from ? of_[h].last_word.find(*from) : of_[h].last_word.end();
        const Instant since = last == of_[h].last_word.end()
                                  ? of_[h].leads_since
                                  : later(of_[h].leads_since, last->second);
        const bool silent = forget_after.ns > 0 && due(now, since + forget_after);
        if (!member.votes && silent) {
            coverage_.count(Seen::forgotten);
            continue;
        }
        fail(world, "I21",
             fmt::format("node {} removes node {}, which {}, and nobody has asked for it",
                         world.host(h).id.value, member.id.value,
                         member.votes ? "has a vote" : "it has heard of late"));
    }
    // One that is added is waited for.
    for (const MemberEntry& member : newest.entries())
        if (const auto from = world.host_of(member.id, world.host(h).site);
            from && base.find(member.id) == nullptr)
            of_[h].last_word[*from] = now;
}

/// L6
void Checks::check_stale_members(const World& world, HostIndex h, Instant now, NodeId holder,
                                 const Nack& nack) {
    if (nack.reason != NackReason::stale_members) return;
    coverage_.count(Seen::list_refused_as_stale);
    if (world.cluster_of(h) == Site::predecessor) return;  // it has to, and makes no majority
    const Promise& promise = world.host(h).node->parts().voter.promise();
    if (!promise.live(now) || promise.key().id != holder || promise.epoch() != nack.epoch) return;
    const auto o = world.host_of(promise.key().incarnation);
    if (!o || !world.host(*o).running()) return;
    const Parts& node = world.host(*o).node->parts();
    if (!node.fenced() || node.role() == Role::follower || node.epoch() != nack.epoch) return;
    const auto theirs = nack.members ? nack.members->tag() : std::nullopt;
    if (theirs > node.holder.newest().tag())
        fail(world, "L6",
             fmt::format("node {} refuses the newest list of node {}, whom it is promised to, and "
                         "has {}",
                         world.host(h).id.value, holder.value, text(*nack.members)));
}

}  // namespace bullring::sim
