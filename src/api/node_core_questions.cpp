// What a user can ask at any time, from any thread.
#include <utility>

#include "src/api/node_core.hpp"
#include "src/runtime/clock.hpp"

namespace bullring {

namespace {

/// How often who waits for the loop looks whether there still is one.
constexpr std::chrono::milliseconds look_for_loop_every{20};

}  // namespace

std::optional<Leader> NodeCore::leader() const {
    const std::lock_guard lock(mutex_);
    return leader_;
}

Subscription NodeCore::subscribe(ChangeCallback callback) {
    Change now;
    now.at = std::chrono::nanoseconds(read_clock().boottime_ns);
    const std::lock_guard lock(mutex_);
    now.leader = leader_;
    now.epoch = leader_ ? leader_->epoch : 0;
    return subscribers_->add(std::move(callback), std::move(now));
}

Resignation NodeCore::resign(std::uint64_t to, std::chrono::nanoseconds timeout) {
    const bool waits = !must_not_wait();
    Resignation result{false, false, "not within the time that was given"};
    std::unique_lock lock(mutex_);
    if (life_ != Life::running || !runtime_) return {false, true, "the node does not run"};
    const std::uint64_t request = ++last_resign_;
    if (waits) resigns_[request] = &result;
    runtime_->tell(protocol::ResignRequested{{to}, request});
    if (!waits) return {false, false, "asked for; the leadership ends when the task has returned"};
    changed_.wait_for(lock, timeout, [&] { return !resigns_.contains(request); });
    resigns_.erase(request);
    return result;
}

Status NodeCore::status() const {
    struct Answer {
        std::mutex mutex;
        std::condition_variable changed;
        std::optional<Status> status;
    };
    Status none;
    none.role = "stopped";
    none.why = "not started, or stopped";
    const auto answer = std::make_shared<Answer>();
    {
        const std::lock_guard lock(mutex_);
        if (life_ != Life::running || !runtime_) return none;
        runtime_->run_soon([runtime = runtime_.get(), answer] {
            const StatusInput input = runtime->status();
            Status status;
            status.role = protocol::name(input.view.role);
            if (input.view.role == protocol::Role::stepping_down) status.role = "follower";
            if (input.view.leader)
                status.leader =
                    Leader{input.view.leader.value, input.view.epoch.value, input.view.advertised};
            status.lease_left = std::chrono::nanoseconds(input.view.lease_left.ns);
            for (const protocol::NodeId id : input.members.ids())
                if (const auto index = input.members.index(id);
                    index && input.view.connected.contains(*index))
                    status.peers_up.push_back(id.value);
            status.why = input.view.why;
            const std::lock_guard answered(answer->mutex);
            answer->status = std::move(status);
            answer->changed.notify_all();
        });
    }
    std::unique_lock lock(answer->mutex);
    while (!answer->status) {
        answer->changed.wait_for(lock, look_for_loop_every);
        const std::lock_guard own(mutex_);
        if ((life_ != Life::running || loop_ended_) && !answer->status) return none;
    }
    return *answer->status;
}

}  // namespace bullring
