// The voter's side. I2: an epoch is granted to one holder only, and the highest never falls. I4: a
// live promise lets no other holder in. I6: a promise outlives every lease that counts it, whatever
// the clocks do within rho. I7: who has forgotten its promises is silent until they are over, and
// the disk records how long that is. I8: only EOF of the tied session and RESIGN of that epoch
// release. I13: who ends a silence early is bound to whoever counts its earlier runs. L3: a
// candidacy binds a voter for no longer than P(L_c).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

void Checks::check_given(const World& world, HostIndex h, Instant now, const GivenPromise& given) {
    const Host& host = world.host(h);
    if (host.node->parts().recovering())
        fail(world, "I7",
             fmt::format("node {} grants epoch {} to {} while it recovers", host.id.value,
                         given.epoch.value, given.holder.id.value));
    if (given.epoch <= ledger_.resigned(h, given.holder.incarnation))
        fail(world, "I8",
             fmt::format("node {} grants epoch {} to {}, which it has read to be resigned",
                         host.id.value, given.epoch.value, given.holder.id.value));
    // The grant of a held token was given earlier, when the token arrived.
    const Duration length = Ledger::promise(given.lease, world.settings().rho_ppm);
    if (given.end == host.clock.unbroken(now) + length) check_twin_silence(world, h, now);
    check_conflicts(world, h, now, given.holder);
    check_cover(world, h, given.holder);
    check_one_holder(world, h, given.epoch, given.holder);
    check_silence_to_come(world, h, length);
    check_disk(world, h, given.epoch);
    for (const GivenPromise& old : ledger_.given(h)) {
        if (old.holder != given.holder || old.run != host.run || old.epoch <= given.epoch) continue;
        if (promise_over(host.clock.unbroken(now), old.end)) continue;
        fail(world, "I8",
             fmt::format("node {} goes back to epoch {} of {}, whose epoch {} it has granted",
                         host.id.value, given.epoch.value, given.holder.id.value, old.epoch.value));
    }
}

/// Two holders of one epoch could both be elected in it. A renewal comes from whoever has been. A
/// voter that has lost its disk may be asked for an epoch again that it gave to a run that has
/// ended, without being elected, and that nobody else has heard of (R1.5).
void Checks::check_one_holder(const World& world, HostIndex h, Epoch epoch, HolderKey holder) {
    if (world.cluster_of(h) == Site::predecessor) return;
    const auto& elected_in = clusters_[founding(world, h)].elected_in;
    const EpochHolders::Held* const elected = elected_in.find(epoch);
    if (elected != nullptr && elected->holder == holder) return;
    const EpochHolders::Held* const before = voted_[h].find(epoch);
    const auto has_ended = [&](const HolderKey& key) {
        const auto run = world.host_of(key.incarnation);
        return !run || !world.host(*run).running() ||
               world.host(*run).incarnation != key.incarnation;
    };
    const bool nobody_knows =
        before != nullptr && before->forgotten && elected == nullptr && has_ended(before->holder);
    if (before == nullptr || nobody_knows) {
        voted_[h].note(epoch, holder);
    } else if (before->holder != holder) {
        fail(world, "I2",
             fmt::format("node {} grants epoch {} to {}, incarnation {:x}, and has granted it to "
                         "{}, incarnation {:x}",
                         world.host(h).id.value, epoch.value, holder.id.value,
                         holder.incarnation.value, before->holder.id.value,
                         before->holder.incarnation.value));
    }
}

/// A restart is silent for as long as the disk says.
void Checks::check_silence_to_come(const World& world, HostIndex h, Duration promised) {
    const Host& host = world.host(h);
    if (world.settings().hooks && !(host.disk.file && host.disk.file->hooks))
        fail(world, "I7",
             fmt::format("node {} has hooks and promises, but its disk does not tell of hooks",
                         host.id.value));
    const Duration on_disk = host.disk.file ? host.disk.file->promised_max : Duration{0};
    if (on_disk < promised)
        fail(world, "I7",
             fmt::format("node {} promises itself for {} ns, but its disk says {} at most",
                         host.id.value, promised.ns, on_disk.ns));
}

/// No promise of an earlier run can count any more: it has ended, or no holder counts it or will,
/// or only the one holder that this run is promised to counts it.
void Checks::check_silence_over(const World& world, HostIndex h, Instant now) {
    const Host& host = world.host(h);
    const bool was_recovering = std::exchange(of_[h].recovering, host.node->parts().recovering());
    if (!was_recovering || host.node->parts().recovering()) return;
    // Its own promises are on the disk that it will get back.
    if (host.own_disk) return;
    if (was_told_without_vote(world, h, now)) return void_earlier_runs(world, h, now);
    const Instant unbroken = host.clock.unbroken(now);
    const Promise& promise = host.node->parts().voter.promise();
    for (const GivenPromise& given : ledger_.given(h)) {
        if (given.run == host.run || promise_over(unbroken, given.end)) continue;
        for (HostIndex o = 0; o < world.hosts(); ++o) {
            const Host& holder = world.host(o);
            if (!holder.running() || holder.incarnation != given.holder.incarnation) continue;
            if (!counts(world, o, h, Until::end_by_both) &&
                ledger_.has_recalled(o, host.incarnation))
                continue;
            if (promise.key() == given.holder) {
                coverage_.count(Seen::promise_resumed);
                continue;
            }
            fail(world, "I13",
                 fmt::format("node {} ends its silence while its promise to {} in epoch {} from "
                             "before its restart lives for {} ns more",
                             host.id.value, given.holder.id.value, given.epoch.value,
                             promise_left(unbroken, given.end).ns));
        }
    }
    ledger_.forget_earlier_runs(world, h);
}

/// C8.4: it had no file, and was told a list in which it has no vote before all that it may have
/// promised was over.
bool Checks::was_told_without_vote(const World& world, HostIndex h, Instant now) const {
    const Host& host = world.host(h);
    const Parts& node = host.node->parts();
    const MemberEntry* const self = node.list().find(host.id);
    const bool early = !promise_over(now, node.recovery.longest_silence());
    return early && !node.recovery.had_file() && node.list().changed() && self != nullptr &&
           !self->votes;
}

/// By no list under which its earlier runs have granted something that may be counted, with its
/// vote, can anybody be elected any more.
void Checks::void_earlier_runs(const World& world, HostIndex h, Instant now) {
    const Host& host = world.host(h);
    coverage_.count(Seen::list_told_without_vote);
    const Instant unbroken = host.clock.unbroken(now);
    for (const GivenPromise& given : ledger_.given(h)) {
        if (given.run == host.run || promise_over(unbroken, given.end)) continue;
        const MemberEntry* const listed = given.list.find(host.id);
        if (listed == nullptr || !listed->votes ||
            !can_elect(world, world.cluster_of(h), given.list, h))
            continue;
        fail(world, "I13",
             fmt::format("node {} is told that it has no vote in list {}, while somebody can be "
                         "elected by list {} with a vote of it for {} in epoch {}",
                         host.id.value, to_text(*host.node->parts().list().tag()),
                         to_text(*given.list.tag()), given.holder.id.value, given.epoch.value));
    }
    ledger_.forget_earlier_runs(world, h);
    ledger_.void_earlier_runs(world, h);
    voted_[h] = {};
}

/// Whether `holder` counts a grant of that voter now, by one of its clocks at least.
bool Checks::counts(const World& world, HostIndex holder, HostIndex voter, Until until) const {
    const Parts& node = world.host(holder).node->parts();
    if (node.role() == Role::follower) return false;
    const Instant now = world.clock(holder);
    const auto lasts = [&](Instant end) {
        return until == Until::end_by_both ? !promise_over(now, end) : lease_valid(now, end);
    };
    for (const ReceivedGrant& grant : ledger_.received(holder))
        if (grant.voter == voter && grant.epoch == node.epoch() && echoes(world, holder, grant) &&
            lasts(grant.end) && !ledger_.is_void(grant))
            return true;
    return false;
}

/// An early release harms only when another node is granted in its place, which may never happen.
/// So it is found here, where the promise should still be live.
void Checks::check_kept(const World& world, HostIndex h, Instant now) {
    const Host& host = world.host(h);
    const Promise& promise = host.node->parts().voter.promise();
    if (promise.vmax() < of_[h].vmax)
        fail(world, "I2",
             fmt::format("the highest epoch that node {} has granted falls from {} to {}",
                         host.id.value, of_[h].vmax.value, promise.vmax().value));
    of_[h].vmax = promise.vmax();
    const Instant unbroken = host.clock.unbroken(now);
    const Instant kept_until = host.clock.unbroken(promise.end());
    for (const GivenPromise& given : ledger_.given(h)) {
        if (promise_over(unbroken, given.end)) continue;
        if (given.run != host.run) continue;
        if (promise.key() != given.holder || promise.epoch() < given.epoch ||
            kept_until.boottime_ns < given.end.boottime_ns ||
            kept_until.raw_ns < given.end.raw_ns) {
            fail(world, "I8",
                 fmt::format("node {} has given up its promise to {} in epoch {} {} ns too early",
                             host.id.value, given.holder.id.value, given.epoch.value,
                             promise_left(unbroken, given.end).ns));
        }
    }
}

void Checks::check_own_promise(const World& world, HostIndex h, Instant now) {
    const Parts& node = world.host(h).node->parts();
    const Promise& promise = world.host(h).node->parts().voter.promise();
    if (promise.key() != node.own_key()) return;
    OfHost& of = of_[h];
    if (of.own_promise_end == promise.end() && of.own_promise_epoch == promise.epoch()) return;
    of.own_promise_end = promise.end();
    of.own_promise_epoch = promise.epoch();
    if (!promise.live(now)) return;
    if (world.host(h).node->parts().recovering())
        fail(world, "I7",
             fmt::format("node {} promises itself epoch {} while it recovers",
                         node.own_key().id.value, promise.epoch().value));
    check_twin_silence(world, h, now);
    check_conflicts(world, h, now, node.own_key());
    check_cover(world, h, node.own_key());
    check_one_holder(world, h, promise.epoch(), node.own_key());
    check_disk(world, h, promise.epoch());
}

void Checks::check_conflicts(const World& world, HostIndex h, Instant now, HolderKey holder) {
    const Host& host = world.host(h);
    const Instant unbroken = host.clock.unbroken(now);
    for (const GivenPromise& old : ledger_.given(h)) {
        if (old.holder == holder || promise_over(unbroken, old.end)) continue;
        const char* check = old.run != host.run ? "I7" : old.tie_lost ? "I8" : "I4";
        const char* how = old.run != host.run ? "which it gave before its restart"
                          : old.tie_lost      ? "whose session ended, but not by EOF"
                                              : "which nothing has released";
        fail(world, check,
             fmt::format("node {} promises itself to {} while its promise to {} in epoch {} lives "
                         "for {} ns more, {}",
                         host.id.value, holder.id.value, old.holder.id.value, old.epoch.value,
                         promise_left(unbroken, old.end).ns, how));
    }
    // A promise to oneself ends with one's own leadership or candidacy, or by time.
    const Parts& node = host.node->parts();
    const OfHost& of = of_[h];
    if (holder != node.own_key() && node.role() != Role::follower &&
        of.own_promise_epoch == node.epoch() && !promise_over(now, of.own_promise_end))
        fail(world, "I4",
             fmt::format("node {} promises itself to {} in the middle of its own epoch {}",
                         host.id.value, holder.id.value, node.epoch().value));
}

/// Lemma 1: while a holder counts this voter's grant, the voter is bound to it.
void Checks::check_cover(const World& world, HostIndex h, HolderKey holder) {
    if (world.host(h).impostor) return;
    for (HostIndex o = 0; o < world.hosts(); ++o) {
        const Host& other = world.host(o);
        if (o == h || !other.running() || HolderKey{other.id, other.incarnation} == holder)
            continue;
        const Parts& node = other.node->parts();
        if (node.role() == Role::follower) continue;
        for (const ReceivedGrant& grant : ledger_.received(o)) {
            if (grant.voter != h || grant.epoch != node.epoch()) continue;
            if (!echoes(world, o, grant)) continue;
            if (!lease_valid(world.clock(o), grant.end) || ledger_.is_void(grant)) continue;
            fail(world, "I6",
                 fmt::format("node {} promises itself to {} while node {} counts its grant of "
                             "epoch {} for {} ns more",
                             world.host(h).id.value, holder.id.value, other.id.value,
                             grant.epoch.value, lease_left(world.clock(o), grant.end).ns));
        }
    }
}

void Checks::check_candidacy_length(const World& world, HostIndex h, Instant now) {
    const Parts& node = world.host(h).node->parts();
    const Promise& promise = world.host(h).node->parts().voter.promise();
    OfHost& of = of_[h];
    const Instant before = std::exchange(of.promise_end, promise.end());
    if (promise.to_leader() || !promise.live(now) || promise.key() == node.own_key()) return;
    // A candidacy does not shorten the promise that the same node got as the leader.
    if (promise.end() == before) return;
    Duration longest{0};
    for (HostIndex o = 0; o < world.members(); ++o)
        longest = std::max(longest, world.config(o).timing.campaign_lease);
    const Instant limit = now + Ledger::promise(longest, world.settings().rho_ppm);
    if (promise.end().boottime_ns > limit.boottime_ns && promise.end().raw_ns > limit.raw_ns)
        fail(world, "L3",
             fmt::format("node {} is bound to candidate {} for {} ns", world.host(h).id.value,
                         promise.key().id.value, promise_left(now, promise.end()).ns));
}

}  // namespace bullring::sim
