// A process that is a member of a cluster, whatever it does while it leads: opens everything that
// can fail at the start, then runs the loop to its end. One in a process.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "src/base/os/notify_socket.hpp"
#include "src/http/endpoint.hpp"
#include "src/node/open_node.hpp"
#include "src/observe/joiner.hpp"
#include "src/task/health_check.hpp"
#include "src/watch/lease_page.hpp"

namespace bullring {

/// For the process's life, in memory that others can share. Null after a line on stderr.
SharedLeasePage* lasting_lease_page();

class Member {
public:
    /// Starts the log; nothing has been opened. The options outlive it, the pulse the process.
    /// The pulse is in memory that other processes can share. `guarded`: what this node does while
    /// it leads ends only when its guard has said so.
    Member(const NodeOptions& options, LoopPulse& pulse, KeeperSettings keeper, bool guarded);
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    ~Member();

    /// Waits for the data directory's lock for at most `lock_wait`: the process before this one may
    /// be about to end.
    tl::expected<void, OpenError> open(protocol::Duration lock_wait);
    /// After open() and before run(); -1 with quorum none.
    std::vector<int> directory_locks() const {
        return opened_->parts.state ? opened_->parts.state->locks() : std::vector<int>();
    }
    /// After open() and before run().
    protocol::Incarnation incarnation() const { return opened_->parts.start.incarnation; }
    /// Null: nobody reports the end of this process.
    Undertaker* undertaker() const { return notices_ ? &undertaker_ : nullptr; }
    /// To the end of the node. `own_task`: the host has work that only one may do at a time, in
    /// turns with the attached processes. The exit status.
    int run(MakeHost make_host, bool own_task);

private:
    MakeHost surround(MakeHost host, bool own_task);
    void dismiss_watchers();

    NodeOptions options_;
    LoopPulse& pulse_;
    Keeper& keeper_;
    bool notices_;
    Undertaker& undertaker_;
    ManagerVariables manager_;
    std::optional<OpenedNode> opened_;
    std::unique_ptr<HttpEndpoint> http_;  // if it is asked for
    std::optional<Runtime> runtime_;
    std::optional<HealthCheck> health_;
    std::optional<Joiner> joiner_;  // of a node that asks to be added
};

}  // namespace bullring
