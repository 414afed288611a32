// The list of members (PROTOCOL C1 to C8): who is dealt with, how a leader changes the list, and
// how a newer one is taken.
#include <algorithm>
#include <string>
#include <utility>

#include "protocol/engine/engine.hpp"

namespace bullring::protocol {

// ---- Whom this node deals with.

Membership Engine::known_members() const {
    if (!tenure_.follows()) {
        const auto& next = holder_.lease().next();
        return with_self(next ? joined(holder_.base(), next->list()) : holder_.base(),
                         setup_.self());
    }
    if (!list().empty()) return with_self(list(), setup_.self());
    // C8: a list that was shown is an address book, and nothing else.
    if (!changes_.shown.empty()) return with_self(changes_.shown, setup_.self());
    return with_self(config().members, setup_.self());
}

const Membership& Engine::deciding() const {
    if (!tenure_.follows()) return holder_.base();
    return list().empty() ? setup_.members() : list();
}

// ---- C6.1: on sight.

void Engine::on_word(Step& step, const Word& word) {
    on_shown(step, word.list);
    // C8.1: one that has none itself keeps others from founding.
    if (list().empty()) on_shown(step, word.shown);
}

void Engine::on_shown(Step& step, const Membership& shown) {
    if (is_of_other_cluster(shown)) return;  // C1.5
    if (list().empty() && shown.is_of_other_cluster_than(config().members)) {
        note_other_founding(step, shown);
        if (hears_a_founder(step.now)) return;  // C12.3
    }
    // R9.1: of an epoch that is not believed it is ignored.
    if (!shown.changed() || !learn_epoch(step.now, shown.tag()->epoch)) return;
    // C12.3: one of its own founders comes before those of others (C1.4).
    const bool of_others = shown.is_of_other_cluster_than(config().members);
    const bool knew_others = changes_.shown.is_of_other_cluster_than(config().members);
    const bool other_founders = !changes_.shown.empty() && of_others != knew_others;
    if (other_founders ? knew_others : shown.tag() > changes_.shown.tag()) changes_.shown = shown;
}

bool Engine::hears_a_founder(Instant now) const {
    for (const Index i : setup_.others())
        if (peers_.heard(i, now) && peers_[i].founders == config().members.founders()) return true;
    return false;
}

bool Engine::is_of_other_cluster(const Membership& shown) const {
    return shown.is_of_other_cluster_than(reserve_.newest_members());
}

// C8.1
void Engine::note_other_founding(Step& step, const Membership& shown) {
    const Instant before =
        std::exchange(changes_.founded_elsewhere, step.now + setup_.longest_promise());
    if (!promise_over(step.now, before)) return;  // told already
    const bool added = shown.find(setup_.self()) != nullptr;
    if (added && shown.changed()) return;  // it is told the list
    step.act(Note{Note::Level::warning, nobody,
                  "a cluster of this name was founded by " + protocol::ids_text(shown.founders()) +
                      ", and not by " + protocol::ids_text(config().members.founders()) +
                      ", which peers has: this node founds none, and waits " +
                      (added ? "for a start with those founders in peers"
                             : "for being added there (member add)")});
}

void Engine::take_shown(Instant now) {
    if (tenure_.follows() && !recovering() && !bound(now)) reserve_.want(changes_.shown);
}

// ---- C2: a leader changes the list.

namespace {

/// So long a list may be on its way before it is undone, in leases of the leader.
constexpr std::int64_t leases_to_settle = 2;

std::string node(NodeId id) { return "node " + std::to_string(id.value); }

}  // namespace

void Engine::on_members_requested(Step& step, const MembersRequested& event) {
    const auto answer = [&](bool done, std::string why, bool lasting = false) {
        if (event.request.asker != Asker::none)
            step.act(MembersAnswer{event.request, done, std::move(why), lasting});
    };
    if (!tenure_.leads() || !own_lease_valid(step.now))
        return answer(false, node(setup_.self()) + " does not lead");
    if (changes_.pending || holder_.lease().next())
        return answer(false, "a change is under way; ask again when it is done");
    if (is_so_already(holder_.base(), event.change)) return answer(true, {});
    if (std::string why = contradiction(step.now, event.change); !why.empty())
        return answer(false, std::move(why), true);
    if (std::string why = hindrance(step.now, event.change); !why.empty())
        return answer(false, std::move(why));
    changes_.pending = PendingChange{event.change, event.request};
}

/// The reason that no waiting helps against; empty: there is none.
std::string Engine::contradiction(Instant now, const MemberChange& change) const {
    using What = MemberChange::What;
    const Membership& base = holder_.base();
    const MemberEntry* const member = base.find(change.id);
    if (change.what == What::add) {
        if (member != nullptr)
            return node(change.id) + " is a member already, at " + member->address +
                   "; its address is changed by member address";
        if (base.size() == members_max)
            return "the cluster has " + std::to_string(members_max) +
                   " members, which is the most; remove one, or let further instances watch";
    } else if (member == nullptr) {
        return node(change.id) + " is not a member; it is added by member add";
    }
    if (!change.address.empty())
        for (const MemberEntry& other : base.entries())
            if (other.address == change.address && other.id != change.id &&
                (!says_it_is_at(change.id, change.address) ||
                 answers_at_its_address(now, other.id)))
                return node(other.id) + " has the address " + change.address;
    if (const auto older = who_cannot_follow_lists())
        return node(*older) +
               " speaks a version of the wire format without lists that change, or without the "
               "cluster's id; upgrade all members first";
    if (!with(base, change, {})) return node(change.id) + " is the last voter";
    return {};
}

// C11.3
std::optional<NodeId> Engine::who_cannot_follow_lists() const {
    const std::uint16_t needed = identity().id ? version_with_identity : version_with_tags;
    for (const Index i : setup_.others())
        if (const auto version = version_with(i); version != 0 && version < needed) return id(i);
    return std::nullopt;
}

std::string Engine::hindrance(Instant now, const MemberChange& change) const {
    using What = MemberChange::What;
    if (change.what == What::remove && change.id == setup_.self())
        return node(change.id) + " leads; a leader hands over before it is removed";
    if (change.what == What::promote) {
        const Index i = holder_.base().find(change.id)->slot;
        if (i != me() && peers_[i].refused)
            return node(change.id) + " refuses this node; the logs of both say why";
        if (i != me() && !peers_.connected(i, now)) return node(change.id) + " is not connected";
        if (i != me() && peers_[i].heartbeat.recovering)
            return node(change.id) + " is silent after its start; ask again when it votes";
    }
    const Membership next = *with(holder_.base(), change, {});
    // Those who would have a vote, are connected and give their vote now.
    MemberSet there;
    for (const Index i : next.voters())
        if (i == me() || (peers_.connected(i, now) && !peers_[i].heartbeat.recovering))
            there.insert(i);
    if (!next.is_majority(there))
        return "no majority of the new voters would be connected: " + std::to_string(there.size()) +
               " of " + std::to_string(next.voters().size());
    return {};
}

void Engine::forget_who_has(const Membership& one) {
    for (const Index i : setup_.others())
        if (peers_[i].tag == one.tag()) peers_[i].tag.reset();
}

void Engine::propose(Instant now, const Membership& next) {
    forget_who_has(next);  // nobody: what is called so there is of another cluster
    holder_.propose(next, now);
    holder_.renew_at_once(now);
}

Tag Engine::next_tag() const {
    const Tag newest = *holder_.newest().tag();
    return newest.epoch == epoch() ? Tag{epoch(), newest.version + 1} : Tag{epoch(), 0};
}

void Engine::manage_list(Step& step) {
    if (!tenure_.leads() || !own_lease_valid(step.now)) {
        if (changes_.pending)
            end_change(step, false, "the leadership has ended; ask the next leader");
        return;
    }
    if (holder_.settle_if_held(step.now)) list_settled(step);
    const auto& next = holder_.lease().next();
    if (next) {
        // C2.3: it can only be undone.
        const bool late = due(step.now, holder_.proposed_at() + timing().lease * leases_to_settle);
        if (late && changes_.pending && changes_.pending->proposed && !changes_.pending->undone) {
            changes_.pending->undone = true;
            propose(step.now, retagged(holder_.base(), next_tag()));
        }
        return;
    }
    if (identity_is_awaited()) return;
    forget_who_is_gone(step);
    // C2.1: only on top of a list of its own epoch. C6.1: and above one that was shown. C8.4: and
    // for who has none.
    const bool own = holder_.base().tag()->epoch == epoch();
    const bool restates = !own && (changes_.pending || somebody_is_ahead(step.now) ||
                                   somebody_is_to_be_told(step.now));
    if (!restates && !changes_.pending) return;
    if (who_cannot_follow_lists()) {
        if (changes_.pending)
            end_change(step, false, contradiction(step.now, changes_.pending->change));
        return;
    }
    if (restates) return propose(step.now, retagged(holder_.base(), next_tag()));
    // C2.2
    if (std::string why = hindrance(step.now, changes_.pending->change); !why.empty())
        return end_change(step, false, std::move(why));
    changes_.pending->proposed = true;
    propose(step.now, *with(holder_.base(), changes_.pending->change, next_tag()));
}

// C6.1
bool Engine::somebody_is_ahead(Instant now) const {
    for (const Index i : peers_.connected(now)) {
        const auto& tag = peers_[i].tag;
        if (tag > holder_.base().tag() && tag->epoch < epoch()) return true;
    }
    return false;
}

// C8.4
bool Engine::somebody_is_to_be_told(Instant now) const {
    const Membership& base = holder_.base();
    for (const Index i : base.all())
        if (i != me() && !base.voters().contains(i) && peers_.heard(i, now) &&
            peers_[i].heartbeat.recovering && !peers_[i].tag)
            return true;
    return false;
}

void Engine::list_settled(Step& step) {
    if (!changes_.pending || !changes_.pending->proposed) return;
    const bool undone = changes_.pending->undone;
    if (changes_.pending->forgets && !undone)
        tell_who_is_forgotten(step, changes_.pending->change.id);
    end_change(step, !undone,
               undone ? "too few of the new voters have answered; the list is as it was" : "");
}

void Engine::end_change(Step& step, bool done, std::string why) {
    if (changes_.pending->request.asker != Asker::none)
        step.act(MembersAnswer{changes_.pending->request, done, std::move(why)});
    changes_.pending.reset();
}

// C5.4: its own disk gets the next list as all others do, by its own request, and only when its
// vote is the last that is missing: a list that nobody else has dies with its leader.
const Membership& Engine::list_for_own_vote(Instant now) const {
    const auto& next = holder_.lease().next();
    if (!next) return holder_.base();
    MemberSet granting = next->voters(now);
    granting.insert(me());
    const bool has_it = list().tag() > holder_.base().tag();
    return has_it || next->list().is_majority(granting) ? next->list() : holder_.base();
}

// ---- C8: a node without a file is told its list.

bool Engine::may_be_told(Index from, const Coordinator& request) const {
    if (!recovering() || recovery_.had_file() || !request.renew) return false;
    if (!is_of_answered_cluster(from, request.identity)) return false;
    // C8.3: the sessions of before the end of its silence are closed: what they brought is not
    // read.
    if (recovery_.waits_for_list()) return true;
    // C8.4: it has no vote in a list that was settled in the epoch of its leader.
    const MemberEntry* const self =
        request.members ? request.members->find(setup_.self()) : nullptr;
    return request.settled && request.tag.epoch == request.epoch && self != nullptr && !self->votes;
}

void Engine::take_told(Step& step, const Coordinator& request) {
    const bool founders = request.tag == Tag{} && !request.members;
    const Membership& told = founders ? config().members : request.members.value_or(Membership{});
    if (told.find(setup_.self()) == nullptr || told.tag() != request.tag) return;
    if (is_of_other_cluster(told) || !learn_epoch(step.now, request.epoch)) return;
    meet_again(step, told);
    go_on_with(step, told, request.identity.value_or(Identity{}));
    voter_.raise_floor(max_seen_);
}

// C1.5: two that had no list agreed when they met, and one of the two may be told that of another
// cluster.
void Engine::meet_again(Step& step, const Membership& told) {
    for (const Index i : setup_.others()) {
        if (peers_[i].founders == told.founders()) continue;
        while (const AcceptedSession* found = sessions_.any_accepted(i))
            close_accepted(step, *found);
        dial_again(step, i);
    }
}

void Engine::go_on_with(Step& step, const Membership& list, const Identity& identity) {
    recovery_.floor_is_known();
    reserve_.want(list);
    learn_identity(step, identity);
    // The list shown before was an address book, and nothing else; until the disk has it, so is
    // this.
    changes_.shown = list;
}

}  // namespace bullring::protocol
