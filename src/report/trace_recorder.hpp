// Owns: what a trace line needs to know beyond the message: which session it was, as the dialler
// numbers it, and the how-manieth message there.
#pragma once

#include <cstdint>
#include <map>

#include "protocol/actions.hpp"
#include "protocol/events.hpp"
#include "src/report/background_writer.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

class TraceRecorder {
public:
    TraceRecorder(Sender self, BackgroundWriter& writer, BackgroundWriter::StreamId stream)
        : self_(self), writer_(writer), stream_(stream) {}

    void on_event(protocol::Instant now, const protocol::Event& event);
    void on_send(protocol::Instant now, const protocol::Send& send);

private:
    struct Session {
        Sender peer;
        protocol::SessionId number;  // the dialler's
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
    };

    void write(protocol::Instant now, bool sent, Session& session,
               const protocol::Message& message);

    Sender self_;
    BackgroundWriter& writer_;
    BackgroundWriter::StreamId stream_;
    std::map<protocol::SessionId, Session> sessions_;
};

}  // namespace bullring
