// Owns: a node's wish to be a member of a cluster that runs already (PROTOCOL C2.2, C8.3). It asks
// the members that --join names to be added, to be dialled where it listens now, and with --voter
// for a vote, again and again until that is so. A thread of its own, with a loop; what it says of
// the node's state comes from the node's loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "protocol/values/rng.hpp"
#include "src/node/storage/removed_mark.hpp"
#include "src/observe/join_plan.hpp"
#include "src/observe/observer_client.hpp"
#include "src/settings/node_options.hpp"
#include "src/task/task_host.hpp"

namespace bullring {

class Joiner final : public NodeListener {
public:
    /// Asks at once. `self` is this run of the node, `known` the cluster of its directory,
    /// `security` that of its sessions. Both `options` and `node` outlive it; `node` has to be told
    /// to listen to it.
    Joiner(const NodeOptions& options, protocol::Incarnation self, KnownCluster known,
           std::shared_ptr<const TlsSource> security, NodeLink& node);
    /// Waits for nothing but its thread, which ends at once.
    ~Joiner() override;

    // In the node's loop.
    void leader_changed(protocol::Instant at, const protocol::LeaderChanged& change) override;
    void members_changed(protocol::Instant at, const protocol::MembersChanged& change) override;
    void peer_changed(protocol::Instant at, protocol::NodeId peer, bool up) override;
    void handshake_refused(protocol::Instant at,
                           const protocol::HandshakeRefused& refusal) override;

private:
    asio::awaitable<void> run();
    /// Nothing is left to be asked for, or why there is.
    asio::awaitable<std::string> ask();
    /// Until there is something to be asked for.
    asio::awaitable<void> pause();
    bool stood_still() const;
    /// So long without a turn of this thread is a standstill.
    protocol::Duration standstill() const;
    protocol::Duration learns_within() const;
    protocol::Duration settled_within() const;
    void ask_again(const char* why);
    void stay_out();
    void come_back();
    void clear_mark() const;
    std::vector<Endpoint> addresses() const;
    tl::expected<JoinPlan, Obstacle> plan(const std::vector<MemberAnswer>& answers) const;
    /// It is in the list, and has not been told so.
    std::string why_not_told();
    void tell(const std::string& obstacle);
    void on_list(const KnownCluster& known, bool on_purpose);

    const NodeOptions& options_;
    const protocol::Incarnation self_;
    NodeLink& node_;

    // ---- The node's loop alone.
    protocol::NodeId leader_;  // the last one that was known
    /// From when until when the two heard each other; until `never`: they do.
    struct Hearing {
        protocol::Instant since;
        protocol::Instant until = protocol::long_ago;
    };
    std::map<protocol::NodeId, Hearing> hearing_;

    // ---- The thread alone.
    std::unique_ptr<ObserverLoop> loop_ = std::make_unique<ObserverLoop>();
    asio::steady_timer timer_{loop_->io};
    RemovedMark mark_;
    KnownCluster known_;              // by the node
    protocol::Membership told_list_;  // by the members, when it asked last
    protocol::Rng rng_;
    protocol::Duration pause_;
    bool wanted_ = true;                               // there is something to be asked for
    protocol::Instant looked_at_;                      // the last turn of this thread
    protocol::Instant stood_at_ = protocol::long_ago;  // the end of a standstill before that
    std::string told_;                    // the obstacle that was met last; empty: none
    std::string address_;                 // that the list is to have
    std::string refusal_;                 // the last one, of or by a member; empty: none
    std::optional<Deadline> told_until_;  // by then its leader should have reached it

    std::thread thread_;
};

}  // namespace bullring
