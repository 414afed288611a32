// Owns: the server-sent events: who listens, and when which event is sent. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/http/http_request.hpp"
#include "src/node/showcase.hpp"

namespace bullring {

/// "event: leader", with the epoch as its id and a line of `watch` as its data.
std::string leader_event(const LeaderTurn& turn);

class EventStreams {
public:
    static constexpr std::size_t streams_max = 16;
    /// So often something is written at least.
    static constexpr int comment_every_s = 15;

    /// Answers a request by a stream that begins with what holds now.
    void open(HttpReply& reply, const std::string& present);
    void tell(const std::string& event);
    /// Once a second: forgets those who are gone.
    void tick();

private:
    struct Listener {
        std::unique_ptr<HttpStream> stream;
        int silent_s = 0;
    };
    void forget_those_who_are_gone();

    std::vector<Listener> listeners_;
};

}  // namespace bullring
