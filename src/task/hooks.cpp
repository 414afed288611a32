#include "src/task/hooks.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/child_variables.hpp"
#include "src/base/os/children.hpp"
#include "src/base/os/clock.hpp"
#include "src/base/os/quiet_thread.hpp"
#include "src/base/os/watch_child.hpp"
#include "src/task/shell_command.hpp"

namespace bullring {

using protocol::Epoch;
using protocol::NodeId;

namespace {

constexpr std::size_t queue_max = 64;
constexpr protocol::Duration stop_after = protocol::seconds(1);

/// As the protocol reports it of a task that has ended before it was asked to.
protocol::DeposedReason reason_of(const protocol::TaskEnded& ended) {
    if (!ended.by_itself) return protocol::DeposedReason::lease_expired;
    return ended.failed ? protocol::DeposedReason::task_failed
                        : protocol::DeposedReason::task_ended;
}

}  // namespace

Hooks::Hooks(asio::io_context& io, NodeLink& node, HookCommands commands,
             const protocol::Config& config, protocol::Duration deposed_time,
             const MakeHost& make_inner)
    : HostAround(node),
      commands_(std::move(commands)),
      self_(config.self),
      cluster_(config.cluster),
      deposed_time_(deposed_time),
      works_inside_(static_cast<bool>(make_inner)) {
    if (!timer_) throw std::system_error(errno, std::generic_category(), "cannot make a timer");
    enclose(io, make_inner);
    if (!commands_.on_change.empty()) node.listen(*this);
    thread_ = quiet_thread([this] { run(); });
}

Hooks::~Hooks() {
    {
        const std::lock_guard lock(mutex_);
        stopping_at_ = read_clock();
    }
    wake();
    thread_.join();
    end_inner();
}

void Hooks::start(Epoch epoch) {
    {
        const std::lock_guard lock(mutex_);
        leads_ = epoch;
        reason_.reset();
    }
    push(make_job(Kind::elected, epoch, self_, "leader", "elected"));
    inner().start(epoch);
}

void Hooks::stop(Epoch epoch, protocol::DeposedReason reason) {
    {
        const std::lock_guard lock(mutex_);
        reason_ = reason;
    }
    inner().stop(epoch, reason);
}

void Hooks::tell(const protocol::Event& event) {
    const auto* ended = std::get_if<protocol::TaskEnded>(&event);
    if (ended == nullptr) return node().tell(event);
    on_inner_ended(*ended);
}

void Hooks::on_inner_ended(const protocol::TaskEnded& ended) {
    protocol::DeposedReason reason = reason_of(ended);
    bool left_out = false;
    {
        const std::lock_guard lock(mutex_);
        if (ended.epoch != leads_) return;  // reported before
        leads_ = {};
        reason = reason_.value_or(reason);
        deposed_at_ = read_clock();
        // Its leadership is over before it has begun for the user.
        std::erase_if(queue_, [&](const Job& one) {
            if (one.kind != Kind::elected) return false;
            left_out = !one.command.empty();
            return true;
        });
    }
    Job job =
        make_job(Kind::deposed, ended.epoch, protocol::nobody, "follower", protocol::name(reason));
    job.ended = ended;
    if (left_out) {
        // A command has run all the same, and on-deposed may have to clear up after it.
        if (!works_inside_) job.command.clear();
        log(LogLevel::warn,
            fmt::format("epoch {} ended while an earlier hook still ran: {} left out",
                        ended.epoch.value,
                        works_inside_ ? "on-elected was" : "on-elected and on-deposed were"));
    }
    push(std::move(job));
}

void Hooks::leader_changed(protocol::Instant, const protocol::LeaderChanged& change) {
    push(make_job(Kind::change, change.epoch, change.leader,
                  change.leader == self_ ? "leader" : "follower", "change"));
}

Hooks::Job Hooks::make_job(Kind kind, Epoch epoch, NodeId leader, const char* role,
                           const char* reason) const {
    Job job{kind, "on-change", commands_.on_change, epoch, {}};
    if (kind == Kind::elected) {
        job.name = "on-elected";
        job.command = commands_.on_elected;
    } else if (kind == Kind::deposed) {
        job.name = "on-deposed";
        job.command = commands_.on_deposed;
    }
    job.environment = {
        environment_entry(variables::epoch, std::to_string(epoch.value)),
        environment_entry(variables::leader, leader ? std::to_string(leader.value) : ""),
        environment_entry(variables::role, role),
        environment_entry(variables::reason, reason),
        environment_entry(variables::node_id, std::to_string(self_.value)),
        environment_entry(variables::cluster_name, cluster_),
    };
    return job;
}

void Hooks::push(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (queue_.size() >= queue_max) {
            // Only on-change can pile up: the newest says what is true now.
            const auto oldest = std::find_if(queue_.begin(), queue_.end(), [](const Job& one) {
                return one.kind == Kind::change;
            });
            if (oldest != queue_.end()) queue_.erase(oldest);
            log(LogLevel::warn, "on-change is too slow: one change was skipped");
        }
        queue_.push_back(std::move(job));
    }
    wake();
}

void Hooks::wake() {
    changed_.notify_one();
    bell_.ring();
}

void Hooks::run() {
    while (true) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopping_at_ || !queue_.empty(); });
        if (stopping_at_) return;
        const Job job = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        if (!job.command.empty()) run_job(job);
        if (job.kind != Kind::deposed) continue;
        lock.lock();
        deposed_at_.reset();
        lock.unlock();
        node().tell(job.ended);
    }
}

void Hooks::run_job(const Job& job) {
    const auto child = start_shell_command(job.command, job.environment);
    if (!child) {
        log(LogLevel::error, fmt::format("cannot start {}: {}", job.name,
                                         std::generic_category().message(child.error())));
        return;
    }
    wait_for(*child, job);
}

void Hooks::wait_for(pid_t child, const Job& job) {
    bool ended = false;
    while (!ended) {
        protocol::Instant kill = protocol::never;
        {
            const std::lock_guard lock(mutex_);
            kill = kill_at(job);
        }
        const protocol::Instant now = read_clock();
        if (!protocol::lease_valid(now, kill)) {
            log(LogLevel::error, fmt::format("{} has not ended in time; killing it", job.name));
            break;
        }
        if (kill == protocol::never) {
            disarm_boottime_timer(timer_.get());
        } else {
            const protocol::Duration wait = protocol::lease_wait(now, kill);
            arm_boottime_timer(timer_.get(), now.boottime_ns + wait.ns);
        }
        ended = watch_child(child, {bell_.fd(), timer_.get()}, -1) == ChildWatch::ended;
        bell_.quiet();
    }
    if (!ended) ::kill(-child, SIGKILL);
    const int status = wait_for_child(child);
    if (!ended) return;
    if (WIFSIGNALED(status)) {
        log(LogLevel::warn, fmt::format("{} was ended by signal {}", job.name, WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        log(LogLevel::warn, fmt::format("{} ended with status {}", job.name, WEXITSTATUS(status)));
    }
}

protocol::Instant Hooks::kill_at(const Job& job) const {
    const protocol::Instant at = stopping_at_ ? *stopping_at_ + stop_after : protocol::never;
    if (!deposed_at_) return at;
    const bool whole = job.kind == Kind::deposed;
    return protocol::earlier(at, *deposed_at_ + (whole ? deposed_time_ : deposed_time_ / 2));
}

}  // namespace bullring
