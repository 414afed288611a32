// Owns: another undertaker when the one that a node has has died. Nothing waits for it: until then
// the node's end costs the others the rest of its lease, as if there were none.
#pragma once

#include <optional>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "src/watch/loop_pulse.hpp"
#include "src/watch/undertaker/undertaker.hpp"

namespace bullring {

class UndertakerWatch {
public:
    /// One that has been started.
    UndertakerWatch(asio::io_context& io, Undertaker& undertaker, LoopPulse& pulse);

private:
    void wait_for_end();
    void listen();
    void replace();
    void look_again();

    asio::io_context& io_;
    Undertaker& undertaker_;
    LoopPulse& pulse_;
    std::optional<asio::posix::stream_descriptor> end_;
    asio::steady_timer timer_;
};

}  // namespace bullring
