#include "protocol/tenure/tenure.hpp"

#include "protocol/values/assert.hpp"

namespace bullring::protocol {

void Tenure::become_candidate(Step& step, Epoch epoch) {
    BULLRING_ASSERT(role_ == Role::follower && epoch > epoch_);
    role_ = Role::candidate;
    epoch_ = epoch;
    step.act(RoleChanged{role_, epoch_});
}

void Tenure::become_leader(Step& step) {
    BULLRING_ASSERT(role_ == Role::candidate);
    role_ = Role::leader;
    elected_at_ = step.now;
    step.act(RoleChanged{role_, epoch_});
}

void Tenure::become_stepping_down(Step& step, const StepDown& how) {
    BULLRING_ASSERT(role_ == Role::leader);
    role_ = Role::stepping_down;
    step_down_ = how;
    // R5.1: users see the end of it first.
    if (published_) step.act(Publish{Epoch{}, long_ago, long_ago});
    step.act(RoleChanged{role_, epoch_});
}

void Tenure::become_follower(Step& step) {
    role_ = Role::follower;
    elected_at_ = never;
    published_ = false;
    step.act(RoleChanged{role_, epoch_});
}

void Tenure::publish(Step& step, const Publish& lease, MemberSet grants) {
    step.act(lease);
    if (published_) return;
    published_ = true;
    task_running_ = true;
    step.act(Elected{epoch_, grants});
    step.act(StartTask{epoch_});
}

bool Tenure::stop_task(Step& step) {
    if (task_running_) step.act(StopTask{epoch_, step_down_.reason});
    return task_running_;
}

}  // namespace bullring::protocol
