// Owns: the wish for one open connection to every peer. Resolves the name at each attempt, tries
// its addresses in turn, waits between attempts (10 … 500 ms, jittered). Knows nothing of
// handshakes: Transport tells it when a connection is of no more use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/rng.hpp"
#include "protocol/time.hpp"
#include "src/net/tcp.hpp"
#include "src/options/node_options.hpp"

namespace bullring {

struct DialTiming {
    protocol::Duration connect_max = protocol::seconds(1);
    protocol::Duration pause_min = protocol::milliseconds(10);
    protocol::Duration pause_max = protocol::milliseconds(500);
    protocol::Duration refused_pause_max = protocol::milliseconds(200);
};

class Dialler {
public:
    struct Callbacks {
        std::function<void(protocol::NodeId, OwnedFd)> connected;
        std::function<void(const std::string&)> failed;  // the node can't go on
        /// Every attempt of the last seconds has failed; said once until one succeeds.
        std::function<void(protocol::NodeId, const std::string& why)> unreachable;
    };

    /// `peers` without this node itself.
    Dialler(asio::io_context& io, const PeerList& peers, const DialTiming& timing,
            std::uint64_t seed, Callbacks callbacks);

    void start();
    /// Ends the waiting of one peer at once, and makes its pauses short again.
    void dial_now(protocol::NodeId peer);
    /// The handshake is done: the next pause is a short one.
    void on_established(protocol::NodeId peer);
    /// The connection is of no more use; `refused` by the peer's handshake.
    void on_session_over(protocol::NodeId peer, bool refused);
    /// No more attempts.
    void stop();
    /// The resolver's thread is busy and would hold up the end of the process.
    bool resolving() const;

private:
    struct Peer {
        Peer(asio::io_context& io, const Endpoint& at) : endpoint(at), resolver(io), signal(io) {}
        Endpoint endpoint;
        asio::ip::tcp::resolver resolver;
        asio::steady_timer signal;  // what the peer's coroutine waits on; cancelled to wake it
        std::vector<asio::ip::tcp::endpoint> addresses;  // the resolver's last answer
        protocol::Duration pause;
        bool resolving = false;
        bool in_session = false;
        bool hurry = false;  // skip the next pause
        bool refused = false;
        std::optional<asio::steady_timer::time_point> failing_since;
        bool told_unreachable = false;
    };

    asio::awaitable<void> keep_connected(protocol::NodeId id, Peer& peer);
    asio::awaitable<void> resolve(Peer& peer);
    asio::awaitable<OwnedFd> connect(asio::ip::tcp::endpoint address);
    asio::awaitable<void> pause(Peer& peer);
    void note_failure(protocol::NodeId id, Peer& peer);
    /// Until `signal` is cancelled or the time is over.
    asio::awaitable<void> wait(Peer& peer, protocol::Duration at_most);

    asio::io_context& io_;
    DialTiming timing_;
    protocol::Rng rng_;
    Callbacks callbacks_;
    std::map<protocol::NodeId, std::unique_ptr<Peer>> peers_;
    bool stopped_ = false;
};

}  // namespace bullring
