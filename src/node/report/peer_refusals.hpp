// Owns: who does not take this node, and why, as long as it lasts: the reason for an operator of a
// majority that is not there though all run.
#pragma once

#include <map>
#include <string>

#include "src/task/task_host.hpp"

namespace bullring {

class PeerRefusals final : public NodeListener {
public:
    explicit PeerRefusals(protocol::NodeId self) : self_(self) {}

    void peer_changed(protocol::Instant at, protocol::NodeId peer, bool up) override;
    void handshake_refused(protocol::Instant at, const protocol::HandshakeRefused& what) override;
    /// The connection could not be secured.
    void not_secured(protocol::NodeId peer, const std::string& why) { why_[peer] = why; }

    /// "1, 2 refuse it: …", of those who do it for the first one's reason. Empty: nobody does.
    std::string text() const;

private:
    protocol::NodeId self_;
    std::map<protocol::NodeId, std::string> why_;
};

}  // namespace bullring
