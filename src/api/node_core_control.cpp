// How the control thread acts on the events of the loop.
#include <utility>

#include <fmt/format.h>

#include "protocol/values/timing.hpp"
#include "src/api/node_core.hpp"
#include "src/base/log/logging.hpp"
#include "src/base/os/clock.hpp"

namespace bullring {

using protocol::Epoch;
using protocol::Instant;

namespace {

std::optional<Leader> leader_of(const protocol::LeaderChanged& change) {
    if (!change.leader) return std::nullopt;
    return Leader{change.leader.value, change.epoch.value, change.advertised};
}

}  // namespace

void NodeCore::on_start(Epoch epoch) {
    const std::lock_guard lock(mutex_);
    current_ = std::make_shared<Leadership::State>(page_, epoch);
    taken_ = false;
    changed_.notify_all();
}

void NodeCore::on_stop(Epoch epoch) {
    StatePtr state;
    bool works = false;
    {
        const std::lock_guard lock(mutex_);
        if (!current_ || current_->epoch != epoch) return;  // given back already
        state = current_;
        works = taken_;
        if (!works) current_.reset();
    }
    state->stop.request_stop();
    if (!works) return runtime_->tell(protocol::TaskEnded{epoch});
    overdue_timer_.expires_after(
        std::chrono::nanoseconds(options_.node.config.timing.step_down_timeout.ns));
    overdue_timer_.async_wait([this, state](const asio::error_code& error) {
        if (error) return;
        const std::lock_guard lock(mutex_);
        if (current_ == state)
            log(LogLevel::error,
                "the task was asked to stop and has not returned; this node does not stand again "
                "until it has, and another node can lead when the lease is over");
    });
}

void NodeCore::watch_progress(const StatePtr& state) {
    const protocol::Duration stall_after = options_.stall_after;
    const std::int64_t last = state->progress_ns.load(std::memory_order_relaxed);
    const std::int64_t left = last + stall_after.ns - read_clock().boottime_ns;
    const std::lock_guard lock(mutex_);
    if (current_ != state || state->stop.stop_requested()) return;
    if (left <= 0) {
        log(LogLevel::warn, fmt::format("the task has shown no progress for {}; treating it as "
                                        "stalled",
                                        to_text(stall_after)));
        return runtime_->tell(protocol::Stalled{});
    }
    progress_timer_.expires_after(std::chrono::nanoseconds(left));
    progress_timer_.async_wait([this, state](const asio::error_code& error) {
        if (!error) watch_progress(state);
    });
}

void NodeCore::on_leader(Instant at, const protocol::LeaderChanged& change) {
    Change report;
    report.at = std::chrono::nanoseconds(at.boottime_ns);
    report.epoch = change.epoch.value;
    const std::lock_guard lock(mutex_);
    leader_ = leader_of(change);
    push_change(std::move(report));
}

void NodeCore::on_deposed(Change change) {
    const std::lock_guard lock(mutex_);
    // The loop says first that the leadership is over, and then that nobody is followed.
    if (leader_ && leader_->id == options_.node.config.self.value && leader_->epoch <= change.epoch)
        leader_.reset();
    push_change(std::move(change));
}

void NodeCore::on_elected(Change change) {
    const std::lock_guard lock(mutex_);
    // It is known before anybody is heard to follow.
    leader_ =
        Leader{options_.node.config.self.value, change.epoch, options_.node.config.advertised};
    push_change(std::move(change));
}

void NodeCore::on_members(Instant at) {
    Change change;
    change.kind = Change::Kind::members;
    change.at = std::chrono::nanoseconds(at.boottime_ns);
    const std::lock_guard lock(mutex_);
    change.epoch = reported_epoch_;
    push_change(std::move(change));
}

void NodeCore::push_change(Change change) {
    change.leader = leader_;
    if (change.kind == Change::Kind::leader) {
        reported_leader_ = change.leader;
        reported_epoch_ = change.epoch;
    }
    subscribers_->push(std::move(change));
}

void NodeCore::on_over(int status) {
    StatePtr state;
    {
        const std::lock_guard lock(mutex_);
        life_ = Life::over;
        leader_.reset();
        if (status != 0 && failure_.empty()) failure_ = "the node has ended by itself";
        state = current_;
        if (!taken_) current_.reset();
        for (auto& [request, result] : resigns_) *result = {false, true, "the node has ended"};
        resigns_.clear();
        // A node that was stopped has said already that it follows nobody.
        if (reported_leader_) {
            Change nobody;
            nobody.at = std::chrono::nanoseconds(read_clock().boottime_ns);
            nobody.epoch = reported_epoch_;
            push_change(std::move(nobody));
        }
    }
    if (state) state->stop.request_stop();
    changed_.notify_all();
}

void NodeCore::on_resign_answer(const protocol::ResignAnswer& answer) {
    const std::lock_guard lock(mutex_);
    const auto found = resigns_.find(answer.request.number);
    if (found == resigns_.end()) return;
    *found->second = {answer.done, !answer.done, answer.why};
    resigns_.erase(found);
    changed_.notify_all();
}

}  // namespace bullring
