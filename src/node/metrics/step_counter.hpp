// Owns: what the steps of a node's state machine mean for its metrics: messages, elections, and who
// led for how long. The loop's thread alone; it reads no clock.
#pragma once

#include <vector>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"
#include "src/node/leaders/leader_log.hpp"
#include "src/node/metrics/node_counts.hpp"

namespace bullring {

class StepCounter {
public:
    /// There is no leader from `started` on.
    StepCounter(protocol::NodeId self, protocol::Instant started, NodeCounts& counts);

    /// One step, and what LeaderLog has made of it.
    void add(const protocol::Event& event, const std::vector<protocol::Action>& actions,
             const std::vector<LeaderTurn>& turns);

private:
    void count(const protocol::Action& action);
    void count(const LeaderTurn& turn);
    void count_refusal(const protocol::HandshakeRefused& refusal);

    protocol::NodeId self_;
    NodeCounts& counts_;
    bool standing_ = false;  // an election that it began has not ended
};

}  // namespace bullring
