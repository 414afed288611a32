// Owns: what the steps of a node's state machine mean for its metrics: messages, elections, and who
// led for how long. The loop's thread alone; it reads no clock.
#pragma once

#include <vector>

#include "protocol/values/actions.hpp"
#include "protocol/values/events.hpp"
#include "src/node/metrics/node_counts.hpp"
#include "src/watch/leader_end.hpp"

namespace bullring {

class StepCounter {
public:
    /// There is no leader from `started` on, as far as this node knows.
    StepCounter(protocol::NodeId self, protocol::Instant started, NodeCounts& counts);

    void add(protocol::Instant now, const protocol::Event& event,
             const std::vector<protocol::Action>& actions);

private:
    void count(protocol::Instant now, const protocol::Action& action);
    void count(protocol::Instant now, const protocol::LeaderChanged& change);
    void count_refusal(const protocol::HandshakeRefused& refusal);

    protocol::NodeId self_;
    NodeCounts& counts_;
    protocol::NodeId leader_;  // that it follows, itself included
    protocol::Instant found_;  // the last leader; nobody has led before the start
    bool standing_ = false;    // an election that it began has not ended
    LeaderEnd end_;
};

}  // namespace bullring
