// Owns: the wish for one open connection to every peer. Tries the last known addresses of its name
// while the resolver is asked for the next ones, and waits between attempts (10 … 500 ms,
// jittered). Knows nothing of handshakes: Transport tells it when a connection is of no more use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/dialling.hpp"
#include "protocol/values/rng.hpp"
#include "protocol/values/time.hpp"
#include "src/base/os/tcp.hpp"
#include "src/node/net/dial.hpp"
#include "src/node/net/name_lookup.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

struct DialTiming {
    protocol::Duration connect_max = protocol::handshake_max;
    protocol::Duration pause_min = protocol::dial_pause_min;
    protocol::Duration pause_max = protocol::dial_pause_max;
    protocol::Duration refused_pause_max = protocol::milliseconds(200);
};

class Dialler {
public:
    struct Callbacks {
        std::function<void(Dial, OwnedFd)> connected;
        std::function<void(const std::string&)> failed;  // the node can't go on
        /// Every attempt of the last seconds has failed; said once until one succeeds.
        std::function<void(protocol::NodeId, const std::string& why)> unreachable;
    };

    /// All members; `self`, this node, is not dialled.
    Dialler(asio::io_context& io, protocol::NodeId self, const PeerList& peers,
            const DialTiming& timing, std::uint64_t seed, Callbacks callbacks);

    void start();
    /// From now on these. Who is not among them is dialled no more, and who is at another address
    /// now is dialled there at once; their connections are left to whoever uses them.
    void follow(const PeerList& peers);
    /// The peer may be there, too ("host:port", numeric; anything else is nowhere): when it does
    /// not answer at its address it is dialled there.
    void note_call(protocol::NodeId peer, const std::string& from);
    /// Ends the waiting of one peer at once, and makes its pauses short again.
    void dial_now(protocol::NodeId peer);
    /// The handshake is done: the next pause is a short one.
    void on_established(protocol::NodeId peer);
    /// The connection is of no more use; `refused` by the peer's handshake. Nothing happens when
    /// another one has taken its place or is about to.
    void on_session_over(Dial dial, bool refused);
    /// The connection is still of use, and another one is to take its place; once for each.
    void replace(Dial dial);
    /// One of the addresses that a peer was last found at.
    bool is_host_of_peer(const std::string& host) const;
    /// No more attempts.
    void stop();

private:
    using Addresses = std::vector<asio::ip::tcp::endpoint>;

    struct Peer {
        Peer(asio::io_context& io, const Endpoint& at) : endpoint(at), lookup(io), signal(io) {}
        Endpoint endpoint;
        NameLookup lookup;
        asio::steady_timer signal;    // what the peer's coroutine waits on; cancelled to wake it
        Addresses addresses;          // the resolver's last answer
        std::set<std::string> hosts;  // the same, without ports
        bool numeric = false;         // an address needs no look-up
        Addresses called_from;        // tried behind those; at most one
        std::size_t misses = 0;       // connections that came to nothing
        std::optional<asio::steady_timer::time_point> found_at;  // when it came
        bool waits_for_address = false;
        bool gone = false;  // no peer any more, or at another address
        protocol::Duration pause;
        std::uint64_t dial = 0;   // the number of the last one
        bool in_session = false;  // … which is of use
        bool answered = false;    // … and on which the peer has answered
        bool hurry = false;       // skip the next pause
        bool refused = false;
        std::optional<asio::steady_timer::time_point> failing_since;
        bool reported_unreachable = false;
    };

    void add(protocol::NodeId id, const Endpoint& endpoint, Addresses called_from);
    void keep_connected(protocol::NodeId id, const std::shared_ptr<Peer>& peer);
    asio::awaitable<void> dial_again_and_again(protocol::NodeId id, std::shared_ptr<Peer> shared);
    bool is_wanted(const Peer& peer) const { return !stopped_ && !peer.gone; }
    static void end(Peer& peer);
    static Addresses turn_of(const Peer& peer);
    static bool is_elsewhere(const Peer& peer, int fd);
    void look_up(Peer& peer);
    /// False when nothing was found; then what was known before stays.
    bool on_addresses(Peer& peer, Addresses found);
    asio::awaitable<void> pause(Peer& peer);
    void note_failure(protocol::NodeId id, Peer& peer);
    /// Until `signal` is cancelled or the time is over.
    asio::awaitable<void> wait(Peer& peer, protocol::Duration at_most);

    asio::io_context& io_;
    protocol::NodeId self_;
    DialTiming timing_;
    protocol::Rng rng_;
    Callbacks callbacks_;
    std::map<protocol::NodeId, std::shared_ptr<Peer>> peers_;
    std::uint64_t dials_ = 0;
    bool started_ = false;
    bool stopped_ = false;
};

}  // namespace bullring
