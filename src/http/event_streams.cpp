#include "src/http/event_streams.hpp"

#include <utility>

#include "src/node/observers/watch_sequence.hpp"

namespace bullring {

std::string leader_event(const LeaderTurn& turn) {
    const protocol::LeaderChanged& what = turn.what;
    return "event: leader\nid: " + std::to_string(what.epoch.value) + "\ndata: " +
           watch_line({turn.at.boottime_ns, what.leader, what.epoch, what.advertised}) + "\n\n";
}

void EventStreams::open(HttpReply& reply, const std::string& present) {
    if (listeners_.size() >= streams_max) forget_those_who_are_gone();
    if (listeners_.size() >= streams_max)
        return reply.send(
            {503, "there are " + std::to_string(streams_max) + " streams already\n", "text/plain"});
    listeners_.push_back({reply.stream("text/event-stream")});
    listeners_.back().stream->write(present);
}

void EventStreams::tell(const std::string& event) {
    for (Listener& listener : listeners_) {
        listener.stream->write(event);
        listener.silent_s = 0;
    }
}

void EventStreams::tick() {
    forget_those_who_are_gone();
    for (Listener& listener : listeners_) {
        if (++listener.silent_s < comment_every_s) continue;
        listener.stream->write(":\n\n");
        listener.silent_s = 0;
    }
}

void EventStreams::forget_those_who_are_gone() {
    std::erase_if(listeners_, [](const Listener& one) { return !one.stream->is_open(); });
}

}  // namespace bullring
