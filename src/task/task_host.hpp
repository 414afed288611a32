// The seam between a node and the work that only a leader may do: hooks, a supervised command, a
// library user's task. All calls of a host come from the node's loop, in the order of the
// protocol's actions; none may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"
#include "protocol/values/time.hpp"
#include "src/task/session_keeper.hpp"

namespace bullring {

/// Learns of changes of the leadership without taking part in it. Called in the node's loop, after
/// the messages of the step have left.
class NodeListener {
public:
    NodeListener() = default;
    NodeListener(const NodeListener&) = delete;
    NodeListener& operator=(const NodeListener&) = delete;
    virtual ~NodeListener() = default;

    /// Whom this node follows now.
    virtual void leader_changed(protocol::Instant, const protocol::LeaderChanged&) {}
    virtual void elected(protocol::Instant, const protocol::Elected&) {}
    virtual void deposed(protocol::Instant, const protocol::Deposed&) {}
    /// The list of members is another one now.
    virtual void members_changed(protocol::Instant, const protocol::MembersChanged&) {}
    /// The two hear each other from now on, or no more.
    virtual void peer_changed(protocol::Instant, protocol::NodeId, bool /*up*/) {}
    /// Here or by the peer.
    virtual void handshake_refused(protocol::Instant, const protocol::HandshakeRefused&) {}
    /// To a ResignRequested of the host.
    virtual void resign_answered(const protocol::ResignAnswer&) {}
};

/// An attached process that leads through this node.
struct AttachedHolder {
    std::int64_t pid = 0;
    std::string name;
    protocol::Instant since;
    bool operator==(const AttachedHolder&) const = default;
};

/// The node, as a host sees it. Any thread, the loop's own included; nothing waits.
class NodeLink {
public:
    NodeLink() = default;
    NodeLink(const NodeLink&) = delete;
    NodeLink& operator=(const NodeLink&) = delete;
    virtual ~NodeLink() = default;

    virtual void tell(const protocol::Event& event) = 0;
    /// As SIGTERM does: hand over, then end the loop. `reason` is for the event stream.
    virtual void shut_down(const std::string& reason) = 0;
    /// `why` is what `status` says as long as it is so.
    virtual void set_health(bool healthy, const std::string& why) = 0;
    virtual void set_willing(bool willing, const std::string& why) = 0;
    /// `what` this node asks the members of its cluster for in vain; empty: nothing.
    virtual void set_joining(const std::string& what) = 0;
    /// The leader's task has begun, or has ended, or could not begin. `end`: how it did, unless it
    /// was asked to. For people and metrics alone.
    virtual void task_runs(bool runs, const std::string& end) = 0;
    /// So many commands of `bullring lead` run. The loop's thread.
    virtual void lead_commands(std::size_t) {}
    /// So many attached processes want to lead, or do; and which one does. The loop's thread.
    virtual void attached(std::size_t, const std::optional<AttachedHolder>&) {}
    /// Until when this leadership holds whatever becomes of the sessions, also while it steps down.
    /// The loop's thread.
    virtual protocol::Instant untied_until() const = 0;
    /// From now on, until the end of the loop. Before it runs.
    virtual void listen(NodeListener& listener) = 0;
};

class TaskHost {
public:
    TaskHost() = default;
    TaskHost(const TaskHost&) = delete;
    TaskHost& operator=(const TaskHost&) = delete;
    virtual ~TaskHost() = default;

    /// This node leads from now on.
    virtual void start(protocol::Epoch epoch) = 0;
    /// The leadership ends: to be answered with TaskEnded as soon as nothing works under it any
    /// more. Until then nobody else is let in.
    virtual void stop(protocol::Epoch epoch, protocol::DeposedReason reason) = 0;
    /// Until when the leadership lasts; epoch 0: it is over. Comes before any message of its step.
    virtual void publish(const protocol::Publish&) {}
    /// The node is asked to end; stop() follows if it leads.
    virtual void stopping() {}
    /// SIGHUP: what waits to be tried again is tried now.
    virtual void try_again() {}
    /// Somebody else has removed this file from the data directory, or DirectoryWatch::any_file.
    virtual void file_removed(const std::string&) {}
    /// The path of the data directory leads to another one, for this reason; empty: not any more.
    virtual void directory_misplaced(const std::string&) {}
    /// Of the program, if the node itself has ended well.
    virtual int exit_status() const { return 0; }
    /// Sends a last message on the sessions when this process has died; null: nothing does.
    virtual SessionKeeper* session_keeper() { return nullptr; }
};

using MakeHost = std::function<std::unique_ptr<TaskHost>(asio::io_context&, NodeLink&)>;

/// A node that does nothing but vote and lead.
class NoTask final : public TaskHost {
public:
    explicit NoTask(NodeLink& node) : node_(node) {}
    void start(protocol::Epoch) override {}
    void stop(protocol::Epoch epoch, protocol::DeposedReason) override {
        node_.tell(protocol::TaskEnded{epoch});
    }

private:
    NodeLink& node_;
};

}  // namespace bullring
