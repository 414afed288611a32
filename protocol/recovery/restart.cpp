#include "protocol/recovery/restart.hpp"

#include <algorithm>
#include <string>

#include "protocol/membership/identity.hpp"
#include "protocol/membership/told.hpp"
#include "protocol/recovery/recall.hpp"
#include "protocol/sessions/ends.hpp"
#include "protocol/values/durations.hpp"

namespace bullring::protocol {

namespace {

void keep_for_recovery(Parts& node, Epoch vmax, Duration promised_max) {
    node.reserve.want(node.reserve.ahead_of(std::max(vmax, node.voter.promise().vmax())),
                      std::max(node.timing().promise(node.timing().lease), promised_max));
}

bool end_recovery(Parts& node, Step& step, Epoch vmax, Duration promised_max, bool early) {
    keep_for_recovery(node, vmax, promised_max);
    const Epoch highest = std::max(vmax, node.voter.promise().vmax());
    const Duration longest = std::max(node.timing().promise(node.timing().lease), promised_max);
    // R6.4, R7.1: not before the reserve and the promise are on the disk.
    if (!node.reserve.covers(highest + Reserve::low, longest) || !node.reserve.has_members())
        return false;
    node.recovery.end(step.now, early);
    return true;
}

void advance_with_file(Parts& node, Step& step) {
    node.recovery.floor_is_known();
    // The length of the silence is on the disk before it ends, so that a crash in it forgets
    // nothing.
    const Instant quiet_until = node.recovery.silence(step.now, node.peers).until;
    const Duration silence = elapsed(node.setup.started(), quiet_until);
    bool early = false;
    std::optional<Held> promised;
    if (!promise_over(step.now, quiet_until)) {
        keep_for_recovery(node, {}, silence);
        // R6.21: hooks hold no lock: those of an earlier run may still act, whatever the others
        // count.
        if (node.recovery.hooks_before()) return;
        // R6.2: one holds a promise of before. R6.3: or all say that there is none.
        promised = held(node);
        if (!promised && !nothing_held(node)) return;
        early = true;
    }
    const Epoch vmax = promised ? promised->promise.epoch : Epoch{};
    const Duration length = promised ? promised->promise.length : Duration{0};
    if (end_recovery(node, step, vmax, std::max(silence, length), early) && promised)
        node.voter.resume(promised->promise, promised->since);
}

void tell_who_is_missing(Parts& node, Step& step) {
    node.recovery.has_told();
    // A node that founds nothing waits for a leader, and for nobody else.
    if (node.config().members.empty()) return;
    if (node.recovery.silence(step.now, node.peers).known) return;  // nobody is waited for
    MemberSet missing;
    for (const Index i : node.setup.others())
        if (!node.peers[i].has_ack) missing.insert(i);
    if (missing.empty()) return;
    step.act(Note{Note::Level::info, nobody,
                  "no state file here, and no answer yet from node " + node.ids_text(missing) +
                      "; without it this node votes only after the longer of " +
                      to_text(node.config().bootstrap_wait) + " (--bootstrap-wait) and " +
                      to_text(node.timing().lease_max) +
                      " (--lease-max), and only if most have no file either, or a leader tells it "
                      "who the members are"});
}

bool founded_early(const Parts& node) {
    return !node.recovery.asked_again() && !node.recovery.waits_for_list();
}

// C8.2: what was said before may be of somebody who is elected by a vote that this node has
// forgotten, and who knows no more of the list than it did.
void wait_for_list(Parts& node, Step& step) {
    node.recovery.wait_for_list();
    step.act(
        Note{Note::Level::info, nobody,
             "no state file here, and its silence is over: it begins its connections anew, and "
             "waits for a leader that has it in its list of members"});
    for (const Index i : node.setup.others()) close_all_accepted(node, step, i);
}

// C8.1: nodes that this one has met without a file. That a node had none when it started, long ago,
// says nothing: it may have been away while the list changed.
bool most_have_no_file(const Parts& node) {
    MemberSet without;
    without.insert(node.me());
    for (const Index i : node.setup.others())
        if (node.peers[i].has_ack && node.peers[i].without_file == node.peers[i].ack.incarnation &&
            !node.peers[i].ack.changed)
            without.insert(i);
    return node.setup.members().is_majority(without);
}

void take_floor_from_clock(Parts& node, Step& step, const char* why) {
    // R6.13: at the first start of a cluster the members' wall clocks differ: all go on from the
    // latest.
    Epoch latest = node.recovery.clock_epoch();
    for (const Index i : node.setup.others())
        latest = std::max(latest, std::min(node.peers[i].ack.clock_epoch, EpochBound::horizon));
    node.voter.raise_floor(latest);
    node.max_seen = std::max(node.max_seen, node.voter.promise().vmax());
    step.act(Note{Note::Level::info, nobody,
                  std::string(why) + " from the wall clock, above " +
                      std::to_string(node.voter.promise().vmax().value)});
}

// R6.10: no member has a file or has met an earlier run of another.
void begin_new_cluster(Parts& node, Step& step) {
    go_on_with(node, step, node.config().members, {});
    if (node.config().first_epoch == FirstEpoch::clock)
        take_floor_from_clock(node, step, "no member had a state file at its start: epochs begin");
}

// R6.12: grants of the lost run may be counted until the silence ends, and may elect somebody. So
// what the others know before that is not enough: they are asked again, by a new HELLO.
void end_silence_without_file(Parts& node, Step& step) {
    node.recovery.ask_again(step.now);
    if (node.recovery.floor_from_clock(node.peers, false) && most_have_no_file(node)) return;
    for (const Index i : node.setup.others()) dial_again(node, step, i);
}

// R6.23, C8.1: enough others that have kept their files know of every epoch that this node has
// granted, and that their list was never changed. Where too few do the epochs go on from the wall
// clock, if enough others know the list, or most know as little as this node.
void find_floor(Parts& node, Step& step) {
    // C11.5
    const Identity theirs = answered_identity(node);
    if (!node.recovery.floor_from_clock(node.peers, true))
        return go_on_with(node, step, node.config().members, theirs);
    const bool answered =
        node.recovery.waited_again(step.now) || node.recovery.floor_from_clock(node.peers, false);
    if (!answered || !(most_have_no_file(node) || node.recovery.list_is_known(node.peers))) return;
    go_on_with(node, step, node.config().members, theirs);
    take_floor_from_clock(node, step, "no state file here, and at too few others: epochs go on");
}

void go_on_as_founder(Parts& node, Step& step) {
    if (!node.recovery.asked_again()) {
        const bool alone = node.setup.others().empty();
        if (all_are_new(node) && (!alone || node.recovery.alone_for_long_enough(step.now)))
            return begin_new_cluster(node, step);
        const Recovery::Silence quiet = node.recovery.silence(step.now, node.peers);
        if (!quiet.known || !promise_over(step.now, quiet.until)) return;
        end_silence_without_file(node, step);
    }
    find_floor(node, step);
}

void advance_without_file(Parts& node, Step& step) {
    if (node.recovery.should_tell(step.now)) tell_who_is_missing(node, step);
    if (!node.recovery.floor_known() && may_found(node, step.now)) go_on_as_founder(node, step);
    // C8.2: from here on a leader may tell it the list.
    if (!node.recovery.floor_known() && !node.recovery.waits_for_list() &&
        promise_over(step.now, node.recovery.longest_silence()))
        wait_for_list(node, step);
    if (node.recovery.floor_known()) end_recovery(node, step, {}, Duration{0}, founded_early(node));
}

}  // namespace

bool may_found(const Parts& node, Instant now) {
    return node.config().members.find(node.setup.self()) != nullptr && node.changes.shown.empty() &&
           promise_over(now, node.changes.founded_elsewhere) && answered_id(node);
}

void advance_recovery(Parts& node, Step& step) {
    if (node.recovery.had_file())
        advance_with_file(node, step);
    else
        advance_without_file(node, step);
}

}  // namespace bullring::protocol
