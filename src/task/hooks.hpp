// Owns: the commands that a user has set for changes of the leadership, and the thread that runs
// them: one at a time, in order, by /bin/sh, each in a process group of its own. They wrap
// the other work under the leadership, the inner host: the end of a leadership is reported only
// when that work has ended, and then on-deposed has ended or was killed.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "protocol/values/actions.hpp"
#include "src/base/os/bell.hpp"
#include "src/base/os/boottime_timer.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/settings/node_options.hpp"
#include "src/task/host_around.hpp"

namespace bullring {

class Hooks final : public HostAround, private NodeListener {
public:
    /// on-deposed may take `deposed_time`. `make_inner`: none is NoTask.
    Hooks(asio::io_context& io, NodeLink& node, HookCommands commands,
          const protocol::Config& config, protocol::Duration deposed_time,
          const MakeHost& make_inner);
    /// Gives what runs a second, then kills it; what is queued does not run.
    ~Hooks() override;

    void start(protocol::Epoch epoch) override;
    /// When nothing else works under the leadership any more, commands from before get half of
    /// `deposed_time`, on-deposed the rest of it.
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override;
    /// Nobody's: a hook may outlive this process, so nobody resigns in its name.
    SessionKeeper* session_keeper() override { return nullptr; }

private:
    enum class Kind { elected, deposed, change };
    struct Job {
        Kind kind;
        const char* name;  // of the hook
        std::string command;
        protocol::Epoch epoch;
        std::vector<std::string> environment;
        protocol::TaskEnded ended{};  // of on-deposed: reported when it is over
    };

    // The inner host's calls; its end is kept back until on-deposed is over.
    void tell(const protocol::Event& event) override;
    void leader_changed(protocol::Instant at, const protocol::LeaderChanged& change) override;

    void on_inner_ended(const protocol::TaskEnded& ended);

    Job make_job(Kind kind, protocol::Epoch epoch, protocol::NodeId leader, const char* role,
                 const char* reason) const;
    void push(Job job);
    void run();
    void run_job(const Job& job);
    void wait_for(pid_t child, const Job& job);
    /// When the running command is killed, by the first of the two clocks. Under `mutex_`.
    protocol::Instant kill_at(const Job& job) const;
    void wake();

    HookCommands commands_;
    protocol::NodeId self_;
    std::string cluster_;
    protocol::Duration deposed_time_;
    bool works_inside_;                      // a command, which runs whether on-elected does or not
    Bell bell_;                              // `deposed_at_` or `stopping_at_` has changed
    OwnedFd timer_ = make_boottime_timer();  // of the thread
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> queue_;
    protocol::Epoch leads_;                          // from start() to the end of what works inside
    std::optional<protocol::DeposedReason> reason_;  // of stop(), if it came
    std::optional<protocol::Instant> deposed_at_;    // while an on-deposed is queued or runs
    std::optional<protocol::Instant> stopping_at_;
    std::thread thread_;
};

}  // namespace bullring
