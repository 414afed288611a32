// Owns: a member of a cluster inside the user's own process.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bullring/administrator.hpp>
#include <bullring/export.hpp>
#include <bullring/leader.hpp>
#include <bullring/leadership.hpp>
#include <bullring/members.hpp>
#include <bullring/options.hpp>

namespace bullring {

struct Status {
    std::string role;  // leader, follower, candidate; stopped
    std::optional<Leader> leader;
    std::chrono::nanoseconds lease_left{0};
    std::vector<std::uint64_t> peers_up;
    std::string why;  // one short sentence: why this node is what it is
};

struct Resignation {
    bool done = false;     // another leader is in place
    bool refused = false;  // it is not tried: there is no successor, this node does not lead …
    std::string why;       // when it is not done
};

class NodeCore;

/// Votes, and leads when it is elected, from start() to stop(). All members may be called from any
/// thread, but only one of the functions that run a task at a time. A process may have several. One
/// that was moved from may only be destroyed or assigned to.
class BULLRING_API Node {
public:
    using Task = std::function<void(const Leadership&)>;

    /// Opens nothing yet. Throws ConfigError with all that is wrong.
    explicit Node(const Options& options);
    Node(Node&&) noexcept;
    Node& operator=(Node&&) noexcept;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    /// stop(), and so it waits for the task; of a name that is being looked up it waits for the
    /// resolver, too. Never in the task, a stop callback, `on_error` or a subscriber's callback:
    /// the node cannot wait there for its own threads.
    ~Node();

    /// Opens the port and the data directory, and takes part from now on. Throws NodeError. Does
    /// nothing when it has been started; a stopped node stays stopped.
    void start();
    /// Hands over if it leads, waits for the task to return, closes. In the task itself it only
    /// asks for all that.
    void stop();

    /// start()s, then runs `task` in this thread each time this node leads, until stop(). The lease
    /// is let go only when the task has returned; one that returns by itself hands over, and this
    /// node stands again after `restart_delay`. What the task throws comes out here, after the
    /// leadership has been handed over; the node goes on voting. Throws NodeError when the node
    /// can't start or go on, std::logic_error when a task is already running, ConfigError with
    /// quorum none, std::invalid_argument for an empty task.
    void run_while_leader(const Task& task);
    /// The same in a thread of the library's own, which stop() ends; std::logic_error also from the
    /// task or `on_error` themselves. `on_error` is called there with what would come out of
    /// run_while_leader(), and the task is run no more; it must not throw (what it throws is a line
    /// in the log). Without it such an exception stops the node, and stop() throws it.
    void start_while_leader(Task task, std::function<void(std::exception_ptr)> on_error = {});

    /// Whom this node follows, itself included, as far as it knows at this moment.
    std::optional<Leader> leader() const;
    /// The callback comes from one thread of the library's own, in the order of the changes, at
    /// first with the leader as it is now. A slow one delays no election; after 1024 changes that
    /// wait it loses the oldest. std::invalid_argument for an empty callback.
    Subscription subscribe(ChangeCallback callback);
    /// If this node leads: hands over to `to`, or to the best one (0), and waits until that leads,
    /// for at most `timeout`; nanoseconds::max() is for ever. With a `timeout` ≤ 0, and in the
    /// task, `on_error` and a stop callback always, it is only asked for: then the result is either
    /// `refused`, which the node knows at once, or neither `done` nor `refused`.
    Resignation resign(std::uint64_t to = 0,
                       std::chrono::nanoseconds timeout = std::chrono::seconds(5));
    Status status() const;
    /// The list of members as this node has it. A node that has been removed keeps the last one
    /// that it had, which may be without it.
    MemberList members() const;
    /// Changes the members through this node: over the Unix socket in its data directory while it
    /// leads, and else at the leader with this node's key or certificate. With security "tls" a
    /// node's certificate is not enough for that: then it is done while this node leads. It may
    /// outlive the node.
    Administrator administrator() const;

private:
    std::unique_ptr<NodeCore> core_;
};

}  // namespace bullring
