// After a restart (PROTOCOL R6): the steps out of the silence, and the silence of a node that
// learns that another process has its id.
#include <algorithm>
#include <vector>

#include "protocol/engine/engine.hpp"
#include "protocol/values/dialling.hpp"
#include "protocol/values/durations.hpp"

namespace bullring::protocol {

void Engine::advance_recovery(Step& step) {
    if (recovery_.had_file())
        advance_with_file(step);
    else
        advance_without_file(step);
}

void Engine::advance_with_file(Step& step) {
    recovery_.floor_is_known();
    // The length of the silence is on the disk before it ends, so that a crash in it forgets
    // nothing.
    const Instant quiet_until = recovery_.silence(step.now, peers_).until;
    const Duration silence = elapsed(setup_.started(), quiet_until);
    bool early = false;
    std::optional<Held> promised;
    if (!promise_over(step.now, quiet_until)) {
        keep_for_recovery({}, silence);
        // R6.4: hooks hold no lock: those of an earlier run may still act, whatever the others
        // count.
        if (recovery_.hooks_before()) return;
        // R6.2: one holds a promise of before. R6.3: or all say that there is none.
        promised = held();
        if (!promised && !nothing_held()) return;
        early = true;
    }
    const Epoch vmax = promised ? promised->promise.epoch : Epoch{};
    const Duration length = promised ? promised->promise.length : Duration{0};
    if (end_recovery(step, vmax, std::max(silence, length), early) && promised)
        voter_.resume(promised->promise, promised->since);
}

void Engine::tell_who_is_missing(Step& step) {
    recovery_.has_told();
    // A node that founds nothing waits for a leader, and for nobody else.
    if (config().members.empty()) return;
    if (recovery_.silence(step.now, peers_).known) return;  // nobody is waited for
    MemberSet missing;
    for (const Index i : setup_.others())
        if (!peers_[i].has_ack) missing.insert(i);
    if (missing.empty()) return;
    step.act(Note{Note::Level::info, nobody,
                  "no state file here, and no answer yet from node " + ids_text(missing) +
                      "; without it this node votes only after the longer of " +
                      to_text(config().bootstrap_wait) + " (--bootstrap-wait) and " +
                      to_text(timing().lease_max) +
                      " (--lease-max), and only if most have no file either, or a leader tells it "
                      "who the members are"});
}

void Engine::advance_without_file(Step& step) {
    if (recovery_.should_tell(step.now)) tell_who_is_missing(step);
    if (!recovery_.floor_known() && may_found(step.now)) go_on_as_founder(step);
    // C8.2: from here on a leader may tell it the list.
    if (!recovery_.floor_known() && !recovery_.waits_for_list() &&
        promise_over(step.now, recovery_.longest_silence()))
        wait_for_list(step);
    if (recovery_.floor_known()) end_recovery(step, {}, Duration{0}, founded_early());
}

bool Engine::end_recovery(Step& step, Epoch vmax, Duration promised_max, bool early) {
    keep_for_recovery(vmax, promised_max);
    const Epoch highest = std::max(vmax, promise().vmax());
    const Duration longest = std::max(timing().promise(timing().lease), promised_max);
    // R6.4, R7.1: not before the reserve and the promise are on the disk.
    if (!reserve_.covers(highest + Reserve::low, longest) || !reserve_.has_members()) return false;
    recovery_.end(step.now, early);
    return true;
}

void Engine::keep_for_recovery(Epoch vmax, Duration promised_max) {
    reserve_.want(reserve_.ahead_of(std::max(vmax, promise().vmax())),
                  std::max(timing().promise(timing().lease), promised_max));
}

/// C8.1: it is one of the founders, and nobody has shown that their list was changed, or of late a
/// list of other founders. C11.5: and its answers are of one cluster.
bool Engine::may_found(Instant now) const {
    return config().members.find(setup_.self()) != nullptr && changes_.shown.empty() &&
           promise_over(now, changes_.founded_elsewhere) && answered_id();
}

bool Engine::founded_early() const {
    return !recovery_.asked_again() && !recovery_.waits_for_list();
}

void Engine::go_on_as_founder(Step& step) {
    if (!recovery_.asked_again()) {
        const bool alone = setup_.others().empty();
        if (all_are_new() && (!alone || recovery_.alone_for_long_enough(step.now)))
            return begin_new_cluster(step);
        const Recovery::Silence quiet = recovery_.silence(step.now, peers_);
        if (!quiet.known || !promise_over(step.now, quiet.until)) return;
        end_silence_without_file(step);
    }
    find_floor(step);
}

// C8.2: what was said before may be of somebody who is elected by a vote that this node has
// forgotten, and who knows no more of the list than it did.
void Engine::wait_for_list(Step& step) {
    recovery_.wait_for_list();
    step.act(
        Note{Note::Level::info, nobody,
             "no state file here, and its silence is over: it begins its connections anew, and "
             "waits for a leader that has it in its list of members"});
    for (const Index i : setup_.others())
        while (const AcceptedSession* found = sessions_.any_accepted(i))
            close_accepted(step, *found);
}

// R6.10: no member has a file or has met an earlier run of another.
void Engine::begin_new_cluster(Step& step) {
    go_on_with(step, config().members, {});
    if (config().first_epoch == FirstEpoch::clock)
        take_floor_from_clock(step, "no member had a state file at its start: epochs begin");
}

// R6.12: grants of the lost run may be counted until the silence ends, and may elect somebody. So
// what the others know before that is not enough: they are asked again, by a new HELLO.
void Engine::end_silence_without_file(Step& step) {
    recovery_.ask_again(step.now);
    if (recovery_.floor_from_clock(peers_, false) && most_have_no_file()) return;
    for (const Index i : setup_.others()) dial_again(step, i);
}

void Engine::dial_again(Step& step, Index i) {
    std::vector<SessionId> before;
    for (const DialledSession& session : sessions_.all_dialled())
        if (session.peer == i) before.push_back(session.id);
    for (const SessionId session : before) {
        step.act(CloseSession{session});
        sessions_.remove_dialled(session);
    }
    peers_[i].dialled = no_session;
    if (!before.empty()) step.act(DialNow{id(i)});
}

// R6.12, C8.1: enough others that have kept their files know of every epoch that this node has
// granted, and that their list was never changed. Where too few do the epochs go on from the wall
// clock, if enough others know the list, or most know as little as this node.
void Engine::find_floor(Step& step) {
    // C11.5
    const Identity theirs = answered_identity();
    if (!recovery_.floor_from_clock(peers_, true))
        return go_on_with(step, config().members, theirs);
    const bool answered =
        recovery_.waited_again(step.now) || recovery_.floor_from_clock(peers_, false);
    if (!answered || !(most_have_no_file() || recovery_.list_is_known(peers_))) return;
    go_on_with(step, config().members, theirs);
    take_floor_from_clock(step, "no state file here, and at too few others: epochs go on");
}

// C8.1: nodes that this one has met without a file. That a node had none when it started, long ago,
// says nothing: it may have been away while the list changed.
bool Engine::most_have_no_file() const {
    MemberSet without;
    without.insert(me());
    for (const Index i : setup_.others())
        if (peers_[i].has_ack && peers_[i].without_file == peers_[i].ack.incarnation &&
            !peers_[i].ack.changed)
            without.insert(i);
    return setup_.members().is_majority(without);
}

void Engine::take_floor_from_clock(Step& step, const char* why) {
    // R6.13: at the first start of a cluster the members' wall clocks differ: all go on from the
    // latest.
    Epoch latest = recovery_.clock_epoch();
    for (const Index i : setup_.others())
        latest = std::max(latest, std::min(peers_[i].ack.clock_epoch, EpochBound::horizon));
    voter_.raise_floor(latest);
    max_seen_ = std::max(max_seen_, promise().vmax());
    step.act(Note{Note::Level::info, nobody,
                  std::string(why) + " from the wall clock, above " +
                      std::to_string(promise().vmax().value)});
}

void Engine::on_ack(Step& step, Index i, const HelloAck& ack) {
    Peer& peer = peers_[i];
    // A file knows all that this node has ever granted. Without one, or after another process with
    // its id, the others have to say.
    const bool by_others = (recovering() && !recovery_.had_file()) || peer.hears_twin;
    taken_after_twin(peer, step.now);
    note_run_of(step, i);
    if (by_others) voter_.raise_floor(std::min(ack.max_seen, max_seen_));
}

// R6.14: another process with this id votes elsewhere, or did so until a moment ago. It may be one
// whose directory is not this node's, so nothing is known of its promises but that none is longer
// than lease-max. The next refusal renews this silence, and comes later when this node cannot dial
// that peer at once.
void Engine::told_of_twin(Step& step, Peer& by) {
    by.hears_twin = true;
    // R6.15
    by.twin_over = step.now + setup_.longest_promise() + redial_max;
    abandon(step, Duration{0});
}

// R6.16: now that process is gone, as far as `by` can tell. Usually it was this node's earlier run,
// whose FIN came late: what it may have promised is as long as after any restart, but from now.
void Engine::taken_after_twin(Peer& by, Instant now) {
    if (!by.hears_twin) return;
    by.hears_twin = false;
    if (promise_over(now, by.twin_over)) return;
    const Recovery::Silence quiet = recovery_.silence(now, peers_);
    const Duration forgotten =
        quiet.known ? std::max(elapsed(setup_.started(), quiet.until), reserve_.promised_max())
                    : setup_.longest_promise();
    by.twin_over = now + std::min(forgotten, setup_.longest_promise());
}

Instant Engine::twin_over() const {
    Instant over = changes_.twin_over;
    for (const Index i : setup_.others()) over = later(over, peers_[i].twin_over);
    return over;
}

}  // namespace bullring::protocol
