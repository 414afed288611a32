// Owns: `--trace FILE` of a running node: hands the recorder what happens and the writer the lines.
// The format is protocol/trace/trace.hpp's.
#pragma once

#include <string>
#include <vector>

#include "protocol/trace/trace_recorder.hpp"
#include "src/node/report/background_writer.hpp"

namespace bullring {

class TraceFile {
public:
    /// The writer must outlive this.
    TraceFile(protocol::NodeId self, protocol::Incarnation incarnation, BackgroundWriter& writer,
              BackgroundWriter::StreamId stream)
        : recorder_(self, incarnation), writer_(writer), stream_(stream) {}

    void started(protocol::Instant now, const protocol::Config& config);
    /// One step, after its messages have left: making the lines must not hold them up.
    void add(protocol::Instant now, const protocol::Event& event,
             const std::vector<protocol::Action>& actions);
    void stopped(protocol::Instant now, const std::string& reason);

private:
    void write(std::string lines);

    protocol::TraceRecorder recorder_;
    BackgroundWriter& writer_;
    BackgroundWriter::StreamId stream_;
};

}  // namespace bullring
