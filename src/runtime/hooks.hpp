// Owns: the commands that a user has set for changes of the leadership, and the thread that runs
// them: one at a time, in order, by /bin/sh, each in a process group of its own. The end of a
// leadership is not told to anybody before on-deposed is over or dead.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "protocol/actions.hpp"
#include "src/net/owned_fd.hpp"
#include "src/options/node_options.hpp"
#include "src/runtime/task_host.hpp"

namespace bullring {

class Hooks final : public TaskHost {
public:
    Hooks(HookCommands commands, protocol::NodeId self, std::string cluster,
          protocol::Duration step_down_timeout, NodeLink& node);
    /// Gives what runs a second, then kills it; what is queued does not run.
    ~Hooks() override;

    void start(protocol::Epoch epoch) override;
    /// Commands from before get half of step_down_timeout, on-deposed the rest of it.
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override;
    void leader_changed(protocol::Instant, const protocol::LeaderChanged& change) override;

private:
    enum class Kind { elected, deposed, change };
    struct Job {
        Kind kind;
        const char* name;  // of the hook
        std::string command;
        protocol::Epoch epoch;
        std::vector<std::string> environment;
    };

    Job make_job(Kind kind, protocol::Epoch epoch, protocol::NodeId leader, const char* role,
                 const char* reason) const;
    void push(Job job);
    void run();
    void run_job(const Job& job);
    void wait_for(pid_t child, const Job& job);
    /// When the running command is killed; INT64_MAX for never. Under `mutex_`.
    std::int64_t kill_at_ns(const Job& job) const;
    void wake();

    HookCommands commands_;
    protocol::NodeId self_;
    std::string cluster_;
    protocol::Duration step_down_timeout_;
    NodeLink& node_;
    OwnedFd wake_fd_;  // an eventfd: `deposed_at_ns_` or `stopping_at_ns_` has changed
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> queue_;
    std::int64_t deposed_at_ns_ = INT64_MAX;  // while an on-deposed is queued or runs
    std::int64_t stopping_at_ns_ = INT64_MAX;
    std::thread thread_;
};

}  // namespace bullring
