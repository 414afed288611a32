#include "protocol/engine/engine.hpp"

#include <algorithm>

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

Engine::Engine(const Config& config, const Start& start)
    : Member(config, start),
      voter_(max_seen_),
      recovery_(setup_, start),
      reserve_(start.file, setup_.config().hooks) {
    reserve_.want(DirectoryId{Rng(~start.seed).next()});
}

LeaderView Engine::first_hand(Instant now) const {
    if (own_lease_valid(now)) return {setup_.self(), epoch(), lease_end(), tenure_.published()};
    const Promise& mine = promise();
    if (mine.live_to_other(now, own_key()))
        return {mine.key().id, mine.epoch(), mine.end(), mine.to_leader()};
    return {};
}

bool Engine::silent(Instant now) const { return recovering() || !promise_over(now, twin_over()); }

bool Engine::others_awaited(Instant now) const {
    // Votes that cannot be had yet are not asked for.
    if (!majority_votes(now)) return false;
    // A cold start elects the highest: wait for those of higher rank that are still silent, or that
    // cannot be asked yet: their heartbeat may be here before the answer to our greeting.
    if (election_timer_.leader_ever_known()) return true;
    if (due(now, recovery_.over_at() + timing().promise(timing().lease))) return true;
    const Instant poll_over = recovery_.over_at() + timing().poll_wait;
    const MemberSet connected = peers_.connected(now);
    // One that asks again without a file (R6) is out of reach for a moment, and still silent.
    for (const Index i : setup_.others()) {
        const Heartbeat& last = peers_[i].heartbeat;
        if (peers_.rank(i) < own_rank() || peers_[i].introduction.priority.is_never()) continue;
        if (last.recovering && last.eligible) return false;
        // One that has answered a node whose silence has just ended early is about to be heard.
        const bool just_begun = recovery_.ended_early() && !due(now, poll_over);
        if (just_begun && peers_[i].has_ack && !connected.contains(i)) return false;
    }
    return can_send_to_all(peers_.connected_higher(now));
}

bool Engine::lease_refused(Instant now) const {
    bool refused = false;
    MemberSet granting;
    granting.insert(me());
    for (const Index i : setup_.others()) {
        if (peers_[i].has_ack && timing().lease > peers_[i].ack.lease_max)
            refused = true;
        else if (peers_.connected(i, now))
            granting.insert(i);
    }
    // Where some refuse our lease as too long, enough others must be there: a node that stands for
    // ever, and never wins, keeps those below it from standing.
    return refused && !is_majority(granting);
}

void Engine::check_lapse(Step& step) {
    // R3.9: an end that has come is found before anything else is done.
    if (tenure_.leads()) {
        if (lease_valid(step.now, lease_end() - timing().kill_margin)) return;
        if (!tenure_.published() && lease_valid(step.now, lease_end())) return;
        // R3.9: lapse is final, whatever grants arrive later.
        tenure_.become_stepping_down(step, {DeposedReason::lease_expired, nobody, false, never});
        if (!tenure_.stop_task(step)) finish_step_down(step);
        return;
    }
    if (role() != Role::stepping_down || !tenure_.step_down().renewing) return;
    // R5.1: renewals end with the step-down timeout or with D, the task or not.
    if (due(step.now, tenure_.step_down().give_up_at) || !lease_valid(step.now, lease_end()))
        tenure_.end_renewals();
}

void Engine::on_follower(Epoch given_up) {
    holder_.end();
    voter_.release_own(own_key(), given_up);
}

bool Engine::on_resigned(const AcceptedSession& from, Epoch epoch) {
    return voter_.on_resigned(from, {id(from.peer), from.incarnation}, epoch);
}

// R4.1: an end of file releases. R4.2: no other end does. R4.3: nor where it is not allowed.
void Engine::on_accepted_ended(Step& step, const AcceptedSession& session, SessionEnd how) {
    voter_.on_session_ended(session, how == SessionEnd::eof && session.release_ok, step.now);
}

void Engine::on_buried(Step& step, HolderKey key) {
    // N3: a candidate that stood in vain, the promises not being over yet, waits no longer.
    if (voter_.on_died(key) && tenure_.follows()) election_timer_.retry_at(step.now);
}

// R5.4: until then a session that a counted grant is tied to stays open, or its FIN would release.
bool Engine::keeps_open(SessionId dialled, Instant now) const {
    return !tenure_.follows() && lease_valid(now, holder_.lease().tied_until(dialled));
}

void Engine::fill_hello(Hello& hello) const {
    hello.recovering = recovering();
    hello.had_file_at_start = recovery_.had_file();
    hello.directory = reserve_.directory();
    if (list().empty() && changes_.shown.changed()) {
        hello.shown = changes_.shown;
        hello.version_lowest = version_with_tags;
    }
}

void Engine::answer_hello(Instant now, const Hello& hello, HelloAck& ack) {
    ack.promised_max = reserve_.promised_max();
    ack.had_file_at_start = recovery_.had_file();
    ack.recovering = recovering();
    if (list().empty() && changes_.shown.changed() && ack.version >= version_with_tags)
        ack.shown = changes_.shown;
    // C11.5: what is given, too, which a lost disk may have been one of the few to have.
    const Identity& has = reserve_.newest_identity();
    if (has.id && !hello.had_file_at_start && ack.version >= version_with_named_lists)
        ack.identity = has;
    if (!hello.recovering) return;
    // R6.13: two that begin without a file send each other their wall clocks.
    if (!hello.had_file_at_start && recovering() && !recovery_.had_file() &&
        config().first_epoch == FirstEpoch::clock)
        ack.clock_epoch = recovery_.clock_epoch();
    const Index i = *setup_.members().index(hello.id);
    ack.recall = recall(now, i, hello);
    // R3.6: older requests count no more once that voter's earlier runs are answered for.
    holder_.set_barrier(i);
}

void Engine::greet(Step& step, Index i) {
    // With a stamp of now.
    const bool votes = deciding().voters().contains(i);
    if (role() == Role::candidate && votes) send(step, i, candidacy(step.now));
    if (!own_lease_valid(step.now) || !renews()) return;
    holder_.asked(step.now);
    send(step, i, renewal(step.now));
}

void Engine::advance_engine(Step& step) {
    if (recovering()) advance_recovery(step);
    take_shown(step.now);
    manage_identity(step);
    manage_list(step);
    deal_with(step, known_members());
    // R3.11: at T_camp.
    if (role() == Role::candidate && due(step.now, holder_.candidate_until()))
        abandon(step, Duration{0});
    serve_waiting(step);
    serve_parked(step);
}

void Engine::on_persisted(Step& step, const Persisted& event) {
    const auto before = list().tag();
    reserve_.on_persisted(event.durable);
    if (list().tag() == before) return;
    // C1.5: who has said to have that one when nobody here knew it may have another one.
    if (tenure_.follows()) forget_who_has(list());
    step.act(MembersChanged{list(), cluster_id()});
    // C5: a list that its own vote settles has waited for this.
    if (tenure_.leads()) holder_.renew_at_once(step.now);
}

void Engine::settle(Step& step) {
    serve_parked(step);  // the selector or a preemption may just have freed its own promise
    keep_reserve(step);
}

void Engine::keep_reserve(Step& step) {
    // Nothing is written before the floor is known: an hw on the disk says that all that this node
    // has ever granted is at most that.
    if (recovering() && !recovery_.floor_known()) return;
    // R7.4: on a clean stop exactly the epochs used. R7.2: else ahead of them, in the background.
    if (leaving())
        reserve_.want_exactly(std::max(promise().vmax(), epoch()));
    else
        reserve_.keep_ahead_of(max_seen_);
    if (!recovering()) reserve_.there_are_hooks(config().hooks);
    // Once the node has run for as long as its longest promise, only what it gave in this run
    // counts, and what its peers will ask for.
    const Duration on_disk = reserve_.on_disk().promised_max;
    Duration needed = std::max(timing().promise(timing().lease), voter_.longest_given());
    if (!recovering() && needed < on_disk && promise_over(step.now, setup_.started() + on_disk)) {
        for (const Index i : setup_.others()) needed = std::max(needed, expected_promise(i));
        reserve_.lower_promised_max(needed);
    }
    reserve_.write(step, leaving());
}

bool Engine::all_written() const {
    return reserve_.all_written() || (recovering() && !recovery_.floor_known());
}

void Engine::collect_wakes(WakeTime& wake) const {
    Member::collect_wakes(wake);
    voter_.collect_wakes(wake, timing().campaign_wait);
    recovery_.collect_wakes(wake, peers_);
    wake.promise(changes_.twin_over);
    if (recovering()) wake.promise(changes_.founded_elsewhere);
    if (recovery_.over()) {
        wake.timer(recovery_.over_at() + timing().poll_wait);
        wake.timer(recovery_.over_at() + timing().promise(timing().lease));
    }
    for (const DialledSession& session : sessions_.all_dialled())
        if (session.state == DialledState::lingering)
            wake.lease(holder_.lease().tied_until(session.id));
    switch (role()) {
        case Role::follower: return;
        case Role::candidate: return wake.timer(holder_.candidate_until());
        case Role::leader:
            wake.lease(lease_end() - timing().kill_margin);
            collect_forgetting(wake);
            break;
        case Role::stepping_down:
            if (renews()) wake.timer(tenure_.step_down().give_up_at);
            break;
    }
    wake.lease(lease_end());
    if (renews()) wake.timer(holder_.next_renewal());
}

void Engine::fill_view(View& view, Instant now) const {
    if (promise().live(now)) view.promised_to = promise().key().id;
    view.cluster_id = cluster_id();
    view.recovering = recovering();
    view.votes = !silent(now) && !leaving() && !removed();
}

std::string Engine::why_leading(Instant now) const {
    return " with grants of " + ids_text(grants(now));
}

std::string Engine::why_silent(Instant now) const {
    if (!recovering())
        return "silent: another process with id " + std::to_string(setup_.self().value) +
               " is or was connected elsewhere, " + time_text(promise_left(now, twin_over())) +
               " left";
    return recovery_.had_file() ? why_silent_with_file(now) : why_silent_without_file(now);
}

// Its silence is over by time, or by what others say, and then there is the disk to be waited for.
std::string Engine::why_silent_with_file(Instant now) const {
    const std::string silent = "silent after a restart, ";
    const Instant until = recovery_.silence(now, peers_).until;
    if (promise_over(now, until)) return silent + "until its state is on the disk";
    const std::string left = silent + time_text(promise_left(now, until)) + " left";
    if (recovery_.hooks_before()) return left + ": hooks of before may still run";
    MemberSet asked;
    for (const Index i : setup_.others())
        if (told_by(i) == Recall::Answer::cannot_tell) asked.insert(i);
    return asked.empty() ? left : left + ", or until " + ids_text(asked) + " can tell its promises";
}

std::string Engine::why_silent_without_file(Instant now) const {
    const std::string none = "has no state file";
    const std::string for_leader = "waits for a leader that has it in its list of members";
    if (recovery_.floor_known()) return none + " yet: it is being written";
    const Instant longest = recovery_.longest_silence();
    if (recovery_.waits_for_list() || promise_over(now, longest))
        return none + " and " + for_leader;
    const std::string then =
        ": silent, " + time_text(promise_left(now, longest)) + " left, and then " + for_leader;
    if (!may_found(now))
        return none + (changes_.shown.empty() ? "" : ", and the members were changed") + then;
    MemberSet asked;
    for (const Index i : setup_.others())
        if (recovery_.asked_again() ? !peers_[i].answered_again : !peers_[i].has_ack)
            asked.insert(i);
    const Recovery::Silence quiet = recovery_.silence(now, peers_);
    if (!quiet.known) {
        const Instant until = setup_.started() + config().bootstrap_wait;
        return none + " and waits to hear from " + ids_text(asked) + ", for at most " +
               time_text(elapsed(now, until));
    }
    if (!recovery_.asked_again() && !promise_over(now, quiet.until))
        return "silent after a restart, " + time_text(promise_left(now, quiet.until)) +
               " left; it has no state file";
    if (asked.empty()) return none + then;
    return none + " and asks " + ids_text(asked) + " again for their epochs, for at most " +
           time_text(promise_left(now, longest));
}

std::string Engine::why_bound(Instant now) const {
    if (!promise().live_to_other(now, own_key())) return {};
    return " promised to " + std::to_string(promise().key().id.value);
}

void Engine::check_invariants(Instant now) const {
    // I11: nothing proposed or granted is beyond what the disk knows.
    const Epoch hw = reserve_.on_disk().hw;
    BULLRING_ASSERT(promise().epoch() <= hw || promise().key() == HolderKey{});
    BULLRING_ASSERT(promise().vmax() <= max_seen_);
    if (tenure_.follows()) {
        // I10: who does not hold an epoch has published none and runs no task.
        BULLRING_ASSERT(!tenure_.published() && !tenure_.task_running());
        return;
    }
    BULLRING_ASSERT(epoch() <= hw && epoch() == holder_.lease().epoch());
    // I5: a lease needs a majority of voters, its own promise among what it counts on.
    if (tenure_.leads() && lease_valid(now, lease_end())) BULLRING_ASSERT(is_majority(grants(now)));
    // I7: a recovering node neither stands nor leads, and one to which a peer has reported another
    // process with its id does not stand.
    BULLRING_ASSERT(!recovering() && (role() != Role::candidate || !silent(now)));
    // A task runs only while the role says so.
    BULLRING_ASSERT(!tenure_.published() || role() != Role::candidate);
}

}  // namespace bullring::protocol
