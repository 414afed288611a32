#include "protocol/report/silence.hpp"

#include "protocol/recovery/recall.hpp"
#include "protocol/recovery/restart.hpp"
#include "protocol/tenure/standing.hpp"

namespace bullring::protocol {

std::string time_text(Duration left) {
    const auto whole = [&](Duration unit) {
        return std::to_string((left.ns + unit.ns - 1) / unit.ns);
    };
    return left > seconds(1) ? whole(seconds(1)) + " s" : whole(milliseconds(1)) + " ms";
}

namespace {

// Its silence is over by time, or by what others say, and then there is the disk to be waited for.
std::string why_silent_with_file(const Parts& node, Instant now) {
    const std::string silent = "silent after a restart, ";
    const Instant until = node.recovery.silence(now, node.peers).until;
    if (promise_over(now, until)) return silent + "until its state is on the disk";
    const std::string left = silent + time_text(promise_left(now, until)) + " left";
    if (node.recovery.hooks_before())
        return left + ": hooks or attached processes of before may still act";
    MemberSet asked;
    for (const Index i : node.setup.others())
        if (told_by(node, i) == Recall::Answer::cannot_tell) asked.insert(i);
    return asked.empty() ? left
                         : left + ", or until " + node.ids_text(asked) + " can tell its promises";
}

std::string why_silent_without_file(const Parts& node, Instant now) {
    const std::string none = "has no state file";
    const std::string for_leader = "waits for a leader that has it in its list of members";
    if (node.recovery.floor_known()) return none + " yet: it is being written";
    const Instant longest = node.recovery.longest_silence();
    if (node.recovery.waits_for_list() || promise_over(now, longest))
        return none + " and " + for_leader;
    const std::string then =
        ": silent, " + time_text(promise_left(now, longest)) + " left, and then " + for_leader;
    if (!may_found(node, now))
        return none + (node.changes.shown.empty() ? "" : ", and the members were changed") + then;
    MemberSet asked;
    for (const Index i : node.setup.others())
        if (node.recovery.asked_again() ? !node.peers[i].answered_again : !node.peers[i].has_ack)
            asked.insert(i);
    const Recovery::Silence quiet = node.recovery.silence(now, node.peers);
    if (!quiet.known) {
        const Instant until = node.setup.started() + node.config().bootstrap_wait;
        return none + " and waits to hear from " + node.ids_text(asked) + ", for at most " +
               time_text(elapsed(now, until));
    }
    if (!node.recovery.asked_again() && !promise_over(now, quiet.until))
        return "silent after a restart, " + time_text(promise_left(now, quiet.until)) +
               " left; it has no state file";
    if (asked.empty()) return none + then;
    return none + " and asks " + node.ids_text(asked) + " again for their epochs, for at most " +
           time_text(promise_left(now, longest));
}

}  // namespace

std::string why_silent(const Parts& node, Instant now) {
    if (!node.recovering())
        return "silent: another process with id " + std::to_string(node.setup.self().value) +
               " is or was connected elsewhere, " + time_text(promise_left(now, twin_over(node))) +
               " left";
    return node.recovery.had_file() ? why_silent_with_file(node, now)
                                    : why_silent_without_file(node, now);
}

}  // namespace bullring::protocol
