// The role of a node, its epoch and its task: the only place that changes the role. It reports
// every change; whether one may happen is decided before.
#pragma once

#include <tuple>

#include "protocol/values/state.hpp"
#include "protocol/values/step.hpp"
#include "protocol/values/wake_time.hpp"

namespace bullring::protocol {

/// How the present step-down goes on.
struct StepDown {
    DeposedReason reason = DeposedReason::resigned;
    NodeId successor;
    bool renewing = false;       // while the task ends (R5.1)
    Instant give_up_at = never;  // the end of renewals if the task does not end
    bool operator==(const StepDown&) const = default;
};

class Tenure {
public:
    Role role() const { return role_; }
    bool follows() const { return role_ == Role::follower; }
    bool leads() const { return role_ == Role::leader; }
    /// Of the last candidacy; never begun twice (R1).
    Epoch epoch() const { return epoch_; }
    Instant elected_at() const { return elected_at_; }
    /// The leadership was reported to users, and the task was started.
    bool published() const { return published_; }
    bool task_running() const { return task_running_; }
    const StepDown& step_down() const { return step_down_; }

    void become_candidate(Step& step, Epoch epoch);
    void become_leader(Step& step);
    /// Users see its end at once.
    void become_stepping_down(Step& step, const StepDown& how);
    void become_follower(Step& step);

    /// The lease until `end`, which users may rely on; the first one starts the task.
    void publish(Step& step, const Publish& lease, MemberSet grants);
    /// Asks the task to end. False: none is running.
    bool stop_task(Step& step);
    void task_ended() { task_running_ = false; }
    void end_renewals() { step_down_.renewing = false; }

    bool operator==(const Tenure&) const = default;
    auto digest_fields() const {
        return std::tie(role_, epoch_, elected_at_, published_, task_running_, step_down_);
    }

private:
    Role role_ = Role::follower;
    Epoch epoch_;
    Instant elected_at_ = never;
    bool published_ = false;
    bool task_running_ = false;
    StepDown step_down_;
};

}  // namespace bullring::protocol
