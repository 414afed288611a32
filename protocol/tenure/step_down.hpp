// The beginning and the end of a leadership (PROTOCOL R5, §9). The end is strictly in its order:
// unpublish, end the task, RESIGN, and only then may sessions close.
#pragma once

#include "protocol/parts.hpp"

namespace bullring::protocol {

void become_leader(Parts& node, Step& step);
/// The lease, as far as users may rely on it.
void publish(Parts& node, Step& step);
/// With this its own promise, and all that was counted for it, is over.
void become_follower(Parts& node, Step& step);
void step_down(Parts& node, Step& step, DeposedReason reason, NodeId successor);
void on_task_ended(Parts& node, Step& step, const TaskEnded& event);
/// R3.9: an end of its lease that has come is found before anything else is done.
void check_lapse(Parts& node, Step& step);
/// A leader renews, and so does one that steps down while its task ends (R5.1).
bool renews(const Parts& node);
/// Called before the leader that was reported last is replaced: it has led until now.
void forget_hold_off(Parts& node, Instant now);

}  // namespace bullring::protocol
