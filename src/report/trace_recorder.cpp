#include "src/report/trace_recorder.hpp"

#include <variant>

#include "src/report/trace_file.hpp"

namespace bullring {

void TraceRecorder::on_event(protocol::Instant now, const protocol::Event& event) {
    if (const auto* dialled = std::get_if<protocol::Dialled>(&event)) {
        sessions_[dialled->session] = {.peer = {dialled->peer, {}}, .number = dialled->session};
    } else if (const auto* hello = std::get_if<protocol::HelloReceived>(&event)) {
        Session& session = sessions_[hello->session];
        session = {.peer = {hello->hello.id, hello->hello.incarnation},
                   .number = hello->hello.session};
        write(now, false, session, hello->hello);
    } else if (const auto* receive = std::get_if<protocol::Receive>(&event)) {
        const auto found = sessions_.find(receive->session);
        if (found == sessions_.end()) return;
        if (const auto* ack = std::get_if<protocol::HelloAck>(&receive->message)) {
            found->second.peer.incarnation = ack->incarnation;
        }
        write(now, false, found->second, receive->message);
    } else if (const auto* ended = std::get_if<protocol::SessionEnded>(&event)) {
        sessions_.erase(ended->session);
    }
}

void TraceRecorder::on_send(protocol::Instant now, const protocol::Send& send) {
    const auto found = sessions_.find(send.session);
    if (found != sessions_.end()) write(now, true, found->second, send.message);
}

void TraceRecorder::write(protocol::Instant now, bool sent, Session& session,
                          const protocol::Message& message) {
    TraceEntry entry;
    entry.at = now;
    entry.node = self_.id;
    entry.incarnation = self_.incarnation;
    entry.direction = sent ? TraceDirection::send : TraceDirection::recv;
    entry.peer = session.peer.id;
    entry.peer_incarnation = session.peer.incarnation;
    entry.session = session.number;
    entry.index = sent ? session.sent++ : session.received++;
    writer_.write(stream_, trace_line(entry, message));
}

}  // namespace bullring
