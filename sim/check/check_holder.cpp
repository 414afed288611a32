// The holder's side. I5: a deadline needs a majority of voters, counted from the sending. I9: a
// session that a counted grant is tied to stays open. I10: RESIGN comes after the leadership and
// its task, deadlines do not shrink. I12: no task of a former leader runs while another leads.
#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

void Checks::check_deadline(const World& world, HostIndex h, const Publish& publish) {
    if (!publish.epoch || world.settings().quorum == QuorumMode::none) return;
    const Host& host = world.host(h);
    if (host.published.epoch == publish.epoch &&
        (publish.deadline.boottime_ns < host.published.deadline.boottime_ns ||
         publish.deadline.raw_ns < host.published.deadline.raw_ns))
        fail(world, "I10",
             fmt::format("node {} leads in epoch {} and its deadline went back by {} ns",
                         host.id.value, publish.epoch.value,
                         host.published.deadline.boottime_ns - publish.deadline.boottime_ns));

    // The list that decides may have become another one after this was published, in the same step.
    const Membership& list = host.node->parts().holder.base();
    if (!backed(world, h, publish, list) && !backed(world, h, publish, of_[h].base_before))
        fail(world, "I5",
             fmt::format("node {} claims epoch {} for {} ns more, which no majority of the {} "
                         "voters has granted",
                         host.id.value, publish.epoch.value,
                         lease_left(world.clock(h), publish.deadline).ns, list.voters().size()));
}

/// A majority of the list's voters has granted that, under this list or a newer one.
bool Checks::backed(const World& world, HostIndex h, const Publish& publish,
                    const Membership& list) const {
    const Host& host = world.host(h);
    MemberSet by_boottime;
    MemberSet by_raw;
    const auto count = [&](HostIndex process, Instant end) {
        const auto voter = list.index(world.host(world.member_of(process)).id);
        if (!voter) return;
        if (end.boottime_ns >= publish.deadline.boottime_ns) by_boottime.insert(*voter);
        if (end.raw_ns >= publish.deadline.raw_ns) by_raw.insert(*voter);
    };
    const Parts& node = host.node->parts();
    const Promise& own = host.node->parts().voter.promise();
    // kill_margin is taken off before publishing; then more is granted than is used.
    if (!host.impostor && own.key() == node.own_key() && own.epoch() == publish.epoch)
        count(h, own.end());
    for (const ReceivedGrant& grant : ledger_.received(h))
        if (grant.epoch == publish.epoch && grant.tag >= list.tag()) count(grant.voter, grant.end);
    return list.is_majority(by_boottime) && list.is_majority(by_raw);
}

void Checks::check_close(const World& world, HostIndex h, Instant now, const CloseSession& close) {
    if (World::side_of(close.session) != dialler_side) return;
    const Host& host = world.host(h);
    const End& end = world.connection_of(close.session).ends[dialler_side];
    if (end.told && end.open) coverage_.count(Seen::lingering_session_closed);
    const Parts& node = host.node->parts();
    // No FIN can come of a socket that is in error.
    if (!end.open || node.role() == Role::follower) return;
    // After a lapse nothing is counted any more (R5).
    if (node.role() == Role::stepping_down && !node.own_lease_valid(now)) return;
    for (const ReceivedGrant& grant : ledger_.received(h)) {
        if (grant.tied != close.session || grant.epoch != node.epoch()) continue;
        if (!echoes(world, h, grant)) continue;
        if (!lease_valid(now, grant.end)) continue;
        fail(world, "I9",
             fmt::format("node {} closes a session to node {} whose grant of epoch {} it counts "
                         "for {} ns more",
                         host.id.value, world.host(grant.voter).id.value, grant.epoch.value,
                         lease_left(now, grant.end).ns));
    }
}

void Checks::check_resign(const World& world, HostIndex h, const Resign& resign) {
    const Host& host = world.host(h);
    if (resign.epoch != of_[h].elected_in) {
        coverage_.count(Seen::candidacy_abandoned);
        return;
    }
    of_[h].handed_over_to = resign.successor;
    check_pages_empty(world, h, resign.epoch);
    if (host.published.epoch)
        fail(world, "I10",
             fmt::format("node {} sends RESIGN of epoch {} while is_leader() can still be true",
                         host.id.value, resign.epoch.value));
    if (host.task.running)
        fail(world, "I10",
             fmt::format("node {} sends RESIGN of epoch {} while its task runs", host.id.value,
                         resign.epoch.value));
}

void Checks::check_request(const World& world, HostIndex h, const Coordinator& request) {
    const Host& host = world.host(h);
    if (!request.renew && host.task.running && host.task.epoch < request.epoch)
        fail(world, "I10",
             fmt::format("node {} campaigns for epoch {} while its task of epoch {} runs",
                         host.id.value, request.epoch.value, host.task.epoch.value));
    if (!request.renew) check_disk(world, h, request.epoch);
    // Its process may end within this step.
    if (host.node->parts().fenced())
        note_list(world, world.cluster_of(h), host.node->parts().holder.newest());
}

void Checks::check_no_other_task(const World& world, HostIndex h) {
    for (HostIndex o = 0; o < world.hosts(); ++o) {
        const Host& other = world.host(o);
        if (o == h || !other.running() || !other.task.running) continue;
        if (founding(world, o) != founding(world, h)) continue;
        // After a lapse a task in the same process may run on: only a guard can end it (R5).
        if (!other.node->parts().own_lease_valid(world.clock(o))) continue;
        fail(world, "I12",
             fmt::format("node {} leads while the task of node {} in epoch {} runs under a lease",
                         world.host(h).id.value, other.id.value, other.task.epoch.value));
    }
}

}  // namespace bullring::sim
