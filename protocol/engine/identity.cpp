// The id of the cluster (PROTOCOL C11): how a leader finds the one that there is or draws one, how
// it is settled, and whom a node leaves that learns it.
#include <string>
#include <utility>

#include "protocol/engine/engine.hpp"

namespace bullring::protocol {

// ---- Whom a node believes.

Identity Engine::identity() const {
    if (config().wire_highest < version_with_identity) return {};
    // Before the disk has it, too: lists are judged by it, and told with it.
    const bool settled = tenure_.leads() && poll_.epoch() == epoch() && poll_.given().settled;
    return settled ? poll_.given() : reserve_.newest_identity();
}

/// C12.2: of one that was asked, or that asks.
bool Engine::may_take_list_of(Index from, const std::optional<Identity>& named) const {
    const std::uint16_t version = version_with(from);
    if (!identity().id || (version != 0 && version < version_with_named_lists)) return true;
    return named && named->id && !are_of_different_clusters(cluster_id(), named->id);
}

void Engine::note_list_refused(Step& step, Index from, const Tag& tag) {
    Peer& peer = peers_[from];
    if (std::exchange(peer.list_refused, peer.incarnation) == peer.incarnation) return;
    step.act(Note{Note::Level::warning, id(from),
                  "its list of members, " + to_text(tag) +
                      ", is newer than this node's and of no cluster with an id, and this one has "
                      "the id " +
                      to_text(identity().id) +
                      ": it is not taken; if that node's state directory is an old one, end it, "
                      "delete the directory, and start it again; if it has just been upgraded, "
                      "start it with --wire 4 until there is a leader"});
}

/// Of those that have answered a node without a file: it can go on with them only if they are of
/// one cluster (C11.5). nullopt: they are not.
std::optional<ClusterId> Engine::answered_id() const {
    ClusterId found;
    for (const Index i : setup_.others()) {
        if (!peers_[i].has_ack) continue;
        const ClusterId said = peers_[i].ack.cluster_id;
        if (are_of_different_clusters(found, said)) return std::nullopt;
        if (said) found = said;
    }
    return found;
}

/// C11.5: of a leader that tells a list.
bool Engine::is_of_answered_cluster(Index from, const std::optional<Identity>& named) const {
    const auto answered = answered_id();
    if (!answered) return false;
    const std::uint16_t version = version_with(from);
    if (!*answered || (version != 0 && version < version_with_named_lists)) return true;
    return named && named->id == *answered;
}

/// C11.5: that a node goes on with whose disk is lost. Where too few have heard yet that it is
/// settled, it is the one that a leader would give: one of those that answer has it.
Identity Engine::answered_identity() const {
    if (const ClusterId settled = *answered_id()) return {settled, {}, false};
    Identity newest;
    for (const Index i : setup_.others()) {
        const std::optional<Identity>& has = peers_[i].ack.identity;
        const bool believed = peers_[i].has_ack && has && has->epoch <= max_seen_;
        if (believed && has->rank() > newest.rank()) newest = *has;
    }
    return {newest.id, newest.epoch, false};
}

void Engine::learn_identity(Step& step, const Identity& told) {
    if (config().wire_highest < version_with_identity || !told.id) return;
    const Identity before = reserve_.newest_identity();
    reserve_.want(told);
    const Identity& now = reserve_.newest_identity();
    // C12.2: it could not be judged when it was shown.
    if (now.id != before.id) changes_.shown = list();
    if (now.known() != before.known()) part_with_strangers(step);
}

/// C12.2: as one that is given: it is no leader's word.
void Engine::learn_with_list(Step& step, const std::optional<Identity>& named) {
    if (named) learn_identity(step, {named->id, named->epoch, false});
}

// C11.4: two of which one did not know its cluster yet have agreed when they met.
void Engine::part_with_strangers(Step& step) {
    for (const Index i : setup_.others())
        if (is_stranger(i)) part_with(step, i);
}

bool Engine::is_stranger(Index i) const {
    return are_of_different_clusters(cluster_id(), peers_[i].cluster_id);
}

/// They meet anew, and refuse each other.
void Engine::part_with(Step& step, Index i) {
    while (const AcceptedSession* found = sessions_.any_accepted(i)) close_accepted(step, *found);
    // The sessions that its grants may be tied to stay open, until it closes them itself.
    if (tenure_.follows()) dial_again(step, i);
}

// ---- C11.1 to C11.3: what a leader does.

/// More than the majority needs: one that has kept its disk where most have lost theirs.
bool Engine::somebody_is_to_tell(Instant now) const {
    // One that grants nothing until then tells nothing, perhaps never.
    if (due(now, tenure_.elected_at() + setup_.longest_promise())) return false;
    for (const Index i : peers_.connected(now))
        if (holder_.base().voters().contains(i) && version_with(i) >= version_with_identity &&
            !poll_.has_told(id(i)))
            return true;
    return false;
}

bool Engine::majority_knows_of_ids() const {
    if (config().wire_highest < version_with_identity) return false;
    MemberSet knowing;
    knowing.insert(me());
    for (const Index i : setup_.others())
        if (version_with(i) >= version_with_identity) knowing.insert(i);
    return holder_.base().is_majority(knowing);
}

/// A leader is one by the votes of its base: by them it is of their cluster, and of nobody else's.
void Engine::note_told(Index by, const Identity& has) {
    if (holder_.base().voters().contains(by)) poll_.note(id(by), has);
}

void Engine::manage_identity(Step& step) {
    if (!tenure_.leads() || !own_lease_valid(step.now) || !majority_knows_of_ids()) return;
    const ClusterId known_before = cluster_id();
    if (poll_.epoch() != epoch()) poll_ = IdentityPoll(epoch());
    poll_.note(setup_.self(), reserve_.on_disk().identity);
    // One that has only said HELLO may be another cluster's, at a mistaken address.
    const MemberSet supporters = grants(step.now);
    for (const Index i : setup_.others())
        if (const ClusterId said = peers_[i].cluster_id;
            said && supporters.contains(i) && is_same_run(i))
            note_told(i, {said, {}, true});
    if (!poll_.given().id) {
        const auto newest = poll_.newest();
        if (!newest) return;
        // C11.1: where a majority has none, no earlier leader has settled one.
        if (!newest->settled && !poll_.majority_has_told(holder_.base())) return;
        if (!newest->settled && somebody_is_to_tell(step.now)) return;
        ClusterId id = newest->id;
        while (!id) id = {rng_.next()};
        poll_.give(id);
        if (newest->settled) poll_.settle();
    }
    // C11.3
    if (!poll_.given().settled && poll_.held_by_majority(holder_.base())) poll_.settle();
    learn_identity(step, poll_.given());
    if (cluster_id() != known_before) part_with_strangers(step);
}

// C11.3: a list is built on one whose voters have it, so that those of the next one find it.
bool Engine::identity_is_awaited() const {
    return majority_knows_of_ids() && !poll_.held_by_majority(holder_.base());
}

Identity Engine::identity_to_tell() const {
    if (poll_.epoch() == epoch() && poll_.given().id) return poll_.given();
    const Identity& own = reserve_.on_disk().identity;
    return own.settled ? own : Identity{};
}

void Engine::on_identity_told(Step& step, Index voter, const Identity& has) {
    if (!tenure_.leads()) return;
    if (poll_.epoch() != epoch()) poll_ = IdentityPoll(epoch());
    note_told(voter, has);
    peers_[voter].cluster_id = has.known();
    if (is_stranger(voter)) part_with(step, voter);
    manage_identity(step);
}

}  // namespace bullring::protocol
