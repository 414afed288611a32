// L2, where it can be judged without a fault: nobody is suspected before three of its own
// heartbeats are missing, and a better node that does not keep the leadership is not handed it
// again at once. And the other side of suspicion, for L1: nobody is counted on for longer than §6
// allows.
#include <algorithm>

#include <fmt/format.h>

#include "protocol/tenure/leaders.hpp"
#include "sim/check/checks.hpp"

namespace bullring::sim {

using namespace protocol;

namespace {

/// How many periods the heartbeats of member `of` are apart at member `at`, under its list (§6).
/// `leads`: `at` follows it; `follows`: it says that it follows `at`.
std::int64_t periods_between(const Membership& list, Index at, Index of, bool leads, bool follows) {
    const bool votes = list.voters().contains(at);
    const bool its_votes = list.voters().contains(of);
    const std::int64_t least = votes && (its_votes || leads) ? 1 : 2;
    if (leads || follows) return least;
    const auto with = static_cast<std::int64_t>(list.voters().size());
    const auto without = static_cast<std::int64_t>(list.size()) - with;
    const bool neither = !votes && !its_votes;
    return std::max(least, neither ? (without + 1) / 2 : (with + 15) / 16);
}

}  // namespace

void Checks::check_suspicion(const World& world, HostIndex h, Instant now) {
    const Parts& node = world.host(h).node->parts();
    const Timing& own = world.config(h).timing;
    for (HostIndex o = 0; o < world.members(); ++o) {
        const auto known = node.setup.members().index(world.host(o).id);
        if (!known || *known == node.me() || !node.peers[*known].accepted) continue;
        const Index index = *known;
        const Peer& peer = node.peers[index];
        const Duration silence = elapsed(peer.heard_at, now);
        const Duration period = std::min(world.config(o).timing.heartbeat, own.lease_max / 5);
        const LeaderView leader = first_hand(node, now);
        const bool leads = node.fenced() && leader.announced && leader.leader == world.host(o).id;
        const Heartbeat& last = peer.heartbeat;
        const bool follows_it =
            peer.has_heartbeat && last.leader_announced && last.leader == world.host(h).id;
        const std::int64_t periods =
            node.fenced()
                ? periods_between(node.setup.members(), node.me(), index, leads, follows_it)
                : 1;
        const Duration allowed = std::max(own.suspect_after, period * periods * 3);
        if (node.peers.heard(index, now)) {
            if (silence > own.suspect_after) coverage_.count(Seen::slow_peer_awaited);
            // While it follows a leader that is heard itself, and that vouches for the other.
            const bool follows =
                node.fenced() && leader.announced && !leads && leader.leader != world.host(h).id;
            const Duration longest = follows ? std::max(allowed, period * 6) : allowed;
            if (silence >= longest)
                fail(world, "L1",
                     fmt::format("node {} counts on node {} after a silence of {} ns",
                                 world.host(h).id.value, world.host(o).id.value, silence.ns));
            continue;
        }
        if (silence < allowed)
            fail(world, "L2",
                 fmt::format("node {} suspects node {} after {} ns, which may be silent for {} ns",
                             world.host(h).id.value, world.host(o).id.value, silence.ns,
                             allowed.ns));
    }
}

namespace {
// By whatever clock a node measures, it takes neither more nor less than this of real time.
constexpr Time fastest(Time time) { return time / 10 * 13; }
constexpr Time slowest(Time time) { return time / 10 * 7; }
}  // namespace

/// Node `h` has just been elected.
void Checks::note_leadership(const World& world, HostIndex h) {
    if (world.host(h).site != Site::own) return;
    const Time stable = world.config(h).timing.preempt_delay.ns;
    const bool kept = fastest(world.now() - last_elected_at_) >= stable;
    for (OfHost& of : of_)
        if (kept) of.held_off.erase(last_elected_);
    // R5.18: whoever has no work lets one that has some have it again.
    for (HostIndex o = 0; o < world.hosts(); ++o)
        if (world.host(o).running() && world.host(o).node->parts().gate.work() == Work::none)
            of_[o].held_off.erase(world.host(h).id);
    for (auto& [to, since] : of_[h].held_off) {
        if (since >= 0) continue;
        since = world.now();
        coverage_.count(Seen::hold_off_begun);
    }
    last_elected_ = world.host(h).id;
}

/// Node `h` has just handed the leadership over to a better one.
void Checks::check_handover(const World& world, HostIndex h) {
    if (world.host(h).site != Site::own) return;
    OfHost& of = of_[h];
    const auto before = of.held_off.find(of.handed_over_to);
    const Time hold_off = world.config(h).timing.hand_over_hold_off.ns;
    if (before != of.held_off.end() && before->second >= 0 &&
        world.now() - before->second < slowest(hold_off))
        fail(world, "L2",
             fmt::format("node {} hands over to node {} {} ns after it was elected because that "
                         "one had not kept the leadership",
                         world.host(h).id.value, of.handed_over_to.value,
                         world.now() - before->second));
    of.held_off[of.handed_over_to] = -1;
}

}  // namespace bullring::sim
