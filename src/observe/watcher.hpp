// Owns: following the leader from outside: it asks one member at a time, and goes on with the next
// at once when that one is gone, falls silent, is no member any more, or knows no leader for long.
// Who the members are it learns from them, and which cluster of that name it is from most of them.
// One thread: that of its loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/identity.hpp"
#include "protocol/values/membership.hpp"
#include "protocol/values/rng.hpp"
#include "src/node/observers/watch_sequence.hpp"
#include "src/observe/observer_link.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

class Watcher {
public:
    struct Callbacks {
        /// Each change once, none that is older than one before it.
        std::function<void(const ObserverChange&)> change;
        /// With the reason, for people.
        std::function<void(protocol::NodeId, const std::string& address, const std::string&)>
            refused;
        std::function<void()> unreachable;  // said once until a member is heard
        std::function<void()> heard;        // something, be it news or not
    };

    Watcher(ObserverLoop& loop, const PeerList& peers, std::string cluster, Callbacks callbacks);

    /// Until stop().
    asio::awaitable<void> run();
    void stop();

private:
    using Member = std::pair<protocol::NodeId, Endpoint>;

    asio::awaitable<bool> follow(Member member);
    /// Others may know better.
    bool knows_nothing(const ObserverChange& state);
    asio::awaitable<bool> is_no_member(Member member);
    /// The members are asked what is not known yet, and again by whom it is contradicted: one of
    /// them, at an address that is another cluster's, does not say which one is meant.
    asio::awaitable<bool> is_of_this_cluster(protocol::ClusterId id);
    void take_list(const protocol::Membership& list);
    void also(protocol::NodeId id, const Endpoint& endpoint);
    Member next_after(const Member& member) const;
    void note_unreachable();
    asio::awaitable<void> pause();
    void tell(const std::optional<ObserverChange>& change);

    ObserverLoop& loop_;
    const PeerList peers_;
    std::vector<Member> members_;  // to be asked in this order; never empty
    protocol::Membership list_;    // the newest that was told, if it is not that of `peers_`
    std::string cluster_;
    protocol::ClusterId cluster_id_;  // 0: not known yet
    Callbacks callbacks_;
    WatchSequence sequence_;
    protocol::Rng rng_;
    asio::steady_timer pause_timer_;
    ObserverLink* link_ = nullptr;  // the member that is followed now
    protocol::Duration pause_;
    protocol::Duration last_heard_;
    // Of the member that is followed now.
    std::optional<protocol::Duration> learned_;  // when it has told who the members are
    std::optional<protocol::Duration> leaderless_since_;
    protocol::Duration leaderless_max_;  // longer from member to member, as long as none knows one
    bool unreachable_said_ = false;
    bool stopped_ = false;
};

}  // namespace bullring
