// Owns: the log's lines of the levels `debug` and `trace`, in the format of `--trace FILE`: what
// happens to this node, and from `trace` on also each message, without those of each heartbeat.
#pragma once

#include <string>
#include <vector>

#include "protocol/trace/trace_recorder.hpp"
#include "src/settings/node_options.hpp"

namespace bullring {

class TraceLog {
public:
    TraceLog(protocol::NodeId self, protocol::Incarnation incarnation)
        : recorder_(self, incarnation) {}

    /// One step, after its messages have left. Only while the log has `debug` switched on.
    void add(protocol::Instant now, const protocol::Event& event,
             const std::vector<protocol::Action>& actions);

private:
    protocol::TraceRecorder recorder_;
    bool leads_ = false;
};

}  // namespace bullring
