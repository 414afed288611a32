#include "protocol/trace/trace_recorder.hpp"

#include <type_traits>
#include <variant>

namespace bullring::protocol {

namespace {

class LineWriter final : public TraceSink {
public:
    explicit LineWriter(std::string& out) : out_(out) {}
    void add(const TraceEntry& entry, const Message& message) override {
        append_trace_line(out_, entry, message);
    }
    void add(const TraceMark& mark) override { append_trace_event(out_, mark); }

private:
    std::string& out_;
};

}  // namespace

void TraceRecorder::on_start(const TraceTime& time, const Config& config, std::string& out) const {
    append_trace_start(out, time, incarnation_, config);
}

void TraceRecorder::on_stop(const TraceTime& time, std::string_view reason,
                            std::string& out) const {
    TraceMark stop = new_mark(time, "stop");
    stop.reason = reason;
    append_trace_event(out, stop);
}

void TraceRecorder::on_event(const TraceTime& time, const Event& event, std::string& out) {
    LineWriter lines(out);
    on_event(time, event, lines);
}

void TraceRecorder::on_event(const TraceTime& time, const Event& event, TraceSink& sink) {
    if (const auto* dialled = std::get_if<Dialled>(&event)) {
        Session& session = sessions_[dialled->session];
        session = {};
        session.peer = dialled->peer;
        session.number = dialled->session;
    } else if (const auto* hello = std::get_if<HelloReceived>(&event)) {
        Session& session = sessions_[hello->session];
        session = {};
        session.peer = hello->hello.id;
        session.peer_incarnation = hello->hello.incarnation;
        session.number = hello->hello.session;
        add_message(time, TraceDirection::recv, session, hello->hello, sink);
    } else if (const auto* receive = std::get_if<Receive>(&event)) {
        const auto found = sessions_.find(receive->session);
        if (found == sessions_.end()) return;
        if (const auto* ack = std::get_if<HelloAck>(&receive->message))
            found->second.peer_incarnation = ack->incarnation;
        add_message(time, TraceDirection::recv, found->second, receive->message, sink);
    } else if (const auto* ended = std::get_if<SessionEnded>(&event)) {
        sessions_.erase(ended->session);
    }
}

void TraceRecorder::on_action(const TraceTime& time, const Action& action, std::string& out) {
    LineWriter lines(out);
    on_action(time, action, lines);
}

void TraceRecorder::on_action(const TraceTime& time, const Action& action, TraceSink& sink) {
    std::visit(
        [&](const auto& what) {
            using What = std::decay_t<decltype(what)>;
            TraceMark told;
            if constexpr (std::is_same_v<What, Send>) {
                const auto found = sessions_.find(what.session);
                if (found != sessions_.end())
                    add_message(time, TraceDirection::send, found->second, what.message, sink);
                return;
            } else if constexpr (std::is_same_v<What, CloseSession>) {
                sessions_.erase(what.session);
                return;
            } else if constexpr (std::is_same_v<What, Publish>) {
                if (published_ == what) return;
                published_ = what;
                told = new_mark(time, "publish");
                told.epoch = what.epoch;
                // Without a quorum nothing ends a leadership but the leader itself.
                if (what.epoch && what.deadline != never) told.until = what.deadline;
            } else if constexpr (std::is_same_v<What, PeerUp>) {
                told = new_mark(time, "peer_up");
                told.peer = what.peer;
            } else if constexpr (std::is_same_v<What, PeerDown>) {
                told = new_mark(time, "peer_down");
                told.peer = what.peer;
                told.reason = name(what.reason);
            } else if constexpr (std::is_same_v<What, ElectionStarted>) {
                told = new_mark(time, "election_started");
                told.epoch = what.epoch;
                told.reason = what.reason;
            } else if constexpr (std::is_same_v<What, LeaderChanged>) {
                told = new_mark(time, "leader");
                told.leader = what.leader;
                told.epoch = what.epoch;
            } else if constexpr (std::is_same_v<What, Elected>) {
                told = new_mark(time, "elected");
                told.epoch = what.epoch;
                told.grants = what.grants.size();
            } else if constexpr (std::is_same_v<What, Deposed>) {
                told = new_mark(time, "deposed");
                told.epoch = what.epoch;
                told.reason = name(what.reason);
                told.until = what.held_until;
            } else if constexpr (std::is_same_v<What, RoleChanged>) {
                told = new_mark(time, "role");
                told.role = what.role;
                told.epoch = what.epoch;
            } else {
                return;
            }
            sink.add(told);
        },
        action);
}

void TraceRecorder::add_message(const TraceTime& time, TraceDirection direction, Session& session,
                                const Message& message, TraceSink& sink) const {
    TraceEntry entry;
    entry.time = time;
    entry.node = self_;
    entry.incarnation = incarnation_;
    entry.direction = direction;
    entry.peer = session.peer;
    entry.peer_incarnation = session.peer_incarnation;
    entry.session = session.number;
    entry.index = direction == TraceDirection::send ? session.sent++ : session.received++;
    sink.add(entry, message);
}

TraceMark TraceRecorder::new_mark(const TraceTime& time, std::string_view kind) const {
    TraceMark mark;
    mark.time = time;
    mark.node = self_;
    mark.incarnation = incarnation_;
    mark.kind = kind;
    return mark;
}

}  // namespace bullring::protocol
