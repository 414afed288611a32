// Owns: what the trace of one run of a node needs to know beyond its events and actions: which
// session a message used, as the dialler numbers it, and the index of the message in it.
// Makes lines and writes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/trace/trace.hpp"
#include "protocol/values/actions.hpp"
#include "protocol/values/config.hpp"
#include "protocol/values/events.hpp"

namespace bullring::protocol {

/// The receiver of the lines of a trace.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void add(const TraceEntry& entry, const Message& message) = 0;
    virtual void add(const TraceMark& mark) = 0;
};

/// Must be handed every event and then, in their order, all actions that came of it. Appends whole
/// lines to `out`, or nothing. Copyable.
class TraceRecorder {
public:
    TraceRecorder(NodeId self, Incarnation incarnation) : self_(self), incarnation_(incarnation) {}

    void on_start(const TraceTime& time, const Config& config, std::string& out) const;
    void on_event(const TraceTime& time, const Event& event, std::string& out);
    void on_event(const TraceTime& time, const Event& event, TraceSink& sink);
    void on_action(const TraceTime& time, const Action& action, std::string& out);
    void on_action(const TraceTime& time, const Action& action, TraceSink& sink);
    /// The process ends in an orderly way.
    void on_stop(const TraceTime& time, std::string_view reason, std::string& out) const;

private:
    struct Session {
        NodeId peer;
        Incarnation peer_incarnation;
        SessionId number;  // the dialler's
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
    };

    void add_message(const TraceTime& time, TraceDirection direction, Session& session,
                     const Message& message, TraceSink& sink) const;
    TraceMark new_mark(const TraceTime& time, std::string_view kind) const;

    NodeId self_;
    Incarnation incarnation_;
    std::map<SessionId, Session> sessions_;
    std::optional<Publish> published_;  // the last that was recorded: a line for each change only
};

}  // namespace bullring::protocol
