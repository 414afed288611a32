// Owns: what is in the way between this node and members that run, as long as it lasts: the reason,
// for an operator, of a majority that is not there though nobody is down.
#pragma once

#include <map>
#include <string>

#include "src/task/task_host.hpp"

namespace bullring {

class PeerProblems final : public NodeListener {
public:
    /// Longer than until the next attempt to connect, which meets the same problem, or another one,
    /// or nobody.
    static constexpr protocol::Duration remembered_for = protocol::seconds(10);

    explicit PeerProblems(protocol::NodeId self) : self_(self) {}

    void peer_changed(protocol::Instant at, protocol::NodeId peer, bool up) override;
    void handshake_refused(protocol::Instant at, const protocol::HandshakeRefused& what) override;
    /// A connection that this node began: one of the two does not take what the other one shows.
    void not_secured(protocol::Instant at, protocol::NodeId peer, const std::string& why);

    /// "not connected with 1, 2: …", of those who have the first one's problem. Empty: nobody has
    /// any.
    std::string text(protocol::Instant now) const;

private:
    struct Problem {
        protocol::Instant at;
        std::string why;
    };

    protocol::NodeId self_;
    std::map<protocol::NodeId, Problem> problems_;
};

}  // namespace bullring
