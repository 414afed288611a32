// Owns: what the runs of the members have bound themselves by in their HELLOs, and so whose notice
// of death is to be believed (PROTOCOL R4). Knows nothing of connections.
#pragma once

#include <cstddef>
#include <deque>
#include <map>

#include "protocol/values/ids.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

class Notices {
public:
    /// Of one node; older runs are forgotten then, and reports on them are not believed. It
    /// costs whoever waits for it the rest of a lease.
    static constexpr std::size_t runs_max = 4;

    /// `said` has given it in a HELLO that was accepted; `authenticated`: by a session that nobody
    /// else can have. The first one of a run counts, since a second one is somebody else's, but for
    /// one that is authenticated when the first was not.
    void learn(const Sender& said, const protocol::Commitment& commitment, bool authenticated);
    /// A run whose end has not been reported.
    bool knows(const Sender& said);
    /// Nobody but that run and its undertaker knows the secret. True once: what is said again is
    /// nothing new.
    bool prove(const Sender& said, const DeathSecret& secret);

private:
    struct Run {
        protocol::Incarnation incarnation;
        protocol::Commitment commitment;
        bool authenticated = false;
        bool ended = false;
    };
    Run* find(const Sender& said);

    std::map<protocol::NodeId, std::deque<Run>> runs_;  // the newest last
};

}  // namespace bullring
