// Owns: what a drill sees of the cluster while faults happen. Every member is followed all the
// time, as `watch` does: that reports a new leader at once. And every member is asked again and
// again for its status, because a leader that has just lost its lease does not report it by itself.
// One thread: that of its loop.
#pragma once

#include <optional>
#include <set>
#include <string>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/ids.hpp"
#include "src/base/text/endpoint.hpp"
#include "src/observe/observer_link.hpp"
#include "src/verify/drill/claims.hpp"

namespace bullring::drill {

class Lookout {
public:
    Lookout(ObserverLoop& loop, const PeerList& peers, std::string cluster);

    void start();
    /// Before it is destroyed, if it was started.
    asio::awaitable<void> stop();

    /// From now on, leaders with an epoch above this one are waited for.
    void expect_leader_above(protocol::Epoch epoch);
    /// When the first member reported one; nothing when none did by the deadline.
    asio::awaitable<std::optional<Deadline>> leader_found(Deadline deadline);

    /// The proof that two nodes led at once, since the last call; empty: there is none.
    std::string take_contradiction();

private:
    asio::awaitable<void> follow(protocol::NodeId id, Endpoint endpoint);
    asio::awaitable<void> listen(protocol::NodeId id, const Endpoint& endpoint);
    asio::awaitable<void> question(protocol::NodeId id, Endpoint endpoint);
    asio::awaitable<void> pause(protocol::Duration time);
    void on_change(protocol::NodeId member, const ObserverChange& change);
    void on_claim(const Claim& claim);
    void spawn(asio::awaitable<void> work);

    ObserverLoop& loop_;
    const PeerList& peers_;
    std::string cluster_;
    Claims claims_;
    std::string contradiction_;
    protocol::Epoch above_;
    std::optional<Deadline> found_;
    std::set<ObserverLink*> links_;         // that are open
    std::set<asio::steady_timer*> pauses_;  // that somebody waits for
    asio::steady_timer news_;               // cancelled when something has changed
    std::size_t working_ = 0;
    bool stopped_ = false;
};

}  // namespace bullring::drill
