#include "src/task/supervisor/supervision.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include "protocol/values/assert.hpp"
#include "protocol/values/timing.hpp"

namespace bullring {

using protocol::Duration;
using protocol::Epoch;
using protocol::TaskEnded;

int exit_status_of(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string status_text(int wait_status) {
    return WIFSIGNALED(wait_status) ? fmt::format("signal {}", WTERMSIG(wait_status))
                                    : fmt::format("exit {}", WEXITSTATUS(wait_status));
}

namespace {

std::string why_not_started(int error) {
    // Of the holder of an address only.
    if (error == EEXIST) return "it is on the interface already, and bullring has not put it there";
    return std::generic_category().message(error);
}

}  // namespace

Supervision::Orders Supervision::on_elected(Epoch epoch, Duration now) {
    BULLRING_ASSERT(phase_ == Phase::idle);
    phase_ = Phase::running;
    epoch_ = epoch;
    started_at_ = now;
    stalled_ = false;
    return {StartCommand{epoch}};
}

Supervision::Orders Supervision::on_deposed(Epoch epoch) {
    // Its end has been reported already, or is about to be.
    if (phase_ != Phase::running || epoch != epoch_) return {};
    phase_ = Phase::ending;
    return {EndCommand{epoch}};
}

Supervision::Orders Supervision::on_stalled() {
    if (phase_ != Phase::running || stalled_) return {};
    stalled_ = true;
    return {Tell{protocol::Stalled{}}};
}

Supervision::Orders Supervision::on_ended(const CommandEnd& end, Duration now) {
    if (phase_ == Phase::idle) return {};
    const bool asked = phase_ == Phase::ending;
    phase_ = Phase::idle;
    const bool by_itself = end.how == CommandEnd::How::by_itself ||
                           end.how == CommandEnd::How::not_started ||
                           end.how == CommandEnd::How::lost;
    const bool failed = end.how != CommandEnd::How::by_itself || end.status != 0;
    Orders orders;
    // First the lease is let go; who asks for the next one comes after.
    orders.emplace_back(Tell{TaskEnded{epoch_, by_itself && !asked, by_itself && failed}});
    if (leaving_ && end.how != CommandEnd::How::not_started)
        exit_status_ = exit_status_of(end.status);
    // A guard that had to be killed in the course of an end that was asked for is no failure of the
    // command.
    if (!asked || end.how != CommandEnd::How::lost || stalled_)
        after_the_end(end, now - started_at_, orders);
    return orders;
}

std::string Supervision::unasked_end(const CommandEnd& end) const {
    if (stalled_) return "it has stalled";
    if (phase_ != Phase::running || leaving_) return {};
    switch (end.how) {
        case CommandEnd::How::asked: return {};
        case CommandEnd::How::deadline: return "ended by its guard: the lease was about to end";
        case CommandEnd::How::lost: return "its guard was killed";
        case CommandEnd::How::not_started:
            return "it cannot be started: " + why_not_started(end.error);
        case CommandEnd::How::by_itself: return status_text(end.status);
    }
    return {};
}

void Supervision::after_the_end(const CommandEnd& end, Duration ran, Orders& orders) {
    const bool was_soon = ran < soon;
    if (leaving_) return;
    if (stalled_) return stand_aside_if_killed(policy_.kind + " has stalled", was_soon, orders);
    switch (end.how) {
        case CommandEnd::How::asked:
        case CommandEnd::How::deadline: return;
        case CommandEnd::How::lost:
            return stand_aside_if_killed("the guard of " + policy_.kind + " was killed", was_soon,
                                         orders);
        case CommandEnd::How::not_started:
            return stand_aside(fmt::format("{} {} cannot be started: {}", policy_.kind,
                                           policy_.command, why_not_started(end.error)),
                               true, orders);
        case CommandEnd::How::by_itself: break;
    }
    const std::string what = policy_.kind + " has ended (" + status_text(end.status) + ")";
    if (end.had_terminal && WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGINT) {
        // Ctrl-C went to the command alone, and means this program.
        exit_status_ = exit_status_of(end.status);
        leaving_ = true;
        orders.emplace_back(Leave{"SIGINT"});
    } else if (policy_.on_exit == OnExit::leave) {
        exit_status_ = exit_status_of(end.status);
        leaving_ = true;
        orders.emplace_back(Leave{what});
    } else if (policy_.on_exit == OnExit::vote) {
        orders.emplace_back(SetWilling{false, what + "; it only votes from now on"});
    } else if (WIFSIGNALED(end.status)) {
        stand_aside_if_killed(what, was_soon, orders);
    } else {
        stand_aside(what, was_soon, orders);
    }
}

void Supervision::stand_aside_if_killed(const std::string& what, bool was_soon, Orders& orders) {
    if (!policy_.restart_delay_if_killed) return stand_aside(what, was_soon, orders);
    wait_to_restart(what, *policy_.restart_delay_if_killed, orders);
}

void Supervision::stand_aside(const std::string& what, bool was_soon, Orders& orders) {
    if (!was_soon) {
        delay_ = policy_.restart_delay;
        restarts_in_a_row_ = 0;
    }
    if (policy_.max_restarts && restarts_in_a_row_ >= *policy_.max_restarts) {
        gave_up_ = true;
        orders.emplace_back(SetWilling{
            false, fmt::format("{}{}; it only votes from now on", what,
                               restarts_in_a_row_ == 0
                                   ? std::string()
                                   : fmt::format(" {} times in a row", restarts_in_a_row_ + 1))});
        return;
    }
    ++restarts_in_a_row_;
    wait_to_restart(what, delay_, orders);
    delay_ = std::min(delay_ * 2, policy_.longest_restart_delay);
}

void Supervision::wait_to_restart(const std::string& what, Duration delay, Orders& orders) {
    orders.emplace_back(SetWilling{
        false, fmt::format("{}; it stands again after {}", what, protocol::to_text(delay))});
    orders.emplace_back(WaitToRestart{delay});
}

Supervision::Orders Supervision::on_restart_due() {
    if (std::exchange(gave_up_, false)) {
        delay_ = policy_.restart_delay;
        restarts_in_a_row_ = 0;
    }
    return {SetWilling{true, ""}};
}

}  // namespace bullring
