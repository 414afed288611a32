// Owns: the node's side of "on_loss": "kill": an attached process that leads ends with this node,
// and before its lease does, whatever it does itself. The node's undertaker sees to that, since it
// outlives the node, and tells the others of the node's end only behind it (PROTOCOL N2.4).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <asio/io_context.hpp>
#include <tl/expected.hpp>

#include "protocol/values/ids.hpp"
#include "protocol/values/timing.hpp"
#include "src/task/session_keeper.hpp"
#include "src/watch/loop_pulse.hpp"
#include "src/watch/undertaker/undertaker.hpp"
#include "src/watch/undertaker/undertaker_watch.hpp"
#include "src/wire/codec.hpp"

namespace bullring {

class ClientGuard final : private SessionKeeper {
public:
    struct Parts {
        Undertaker& undertaker;
        /// It reports the end of this node by notice. Else it is started here, when it is needed
        /// first, and resigns on the node's sessions.
        bool notices = false;
        Sender self;
    };

    ClientGuard(asio::io_context& io, Parts parts, LoopPulse& pulse,
                const protocol::Timing& timing);

    /// Before a process stands that is to end so. `process`: its pidfd; -1: it can't be watched.
    tl::expected<void, std::string> prepare(int process);
    /// It works until then, CLOCK_BOOTTIME in ns, and is killed somewhat earlier.
    void begin(int process, protocol::Epoch epoch, std::int64_t until_ns);
    /// The one that works has until then.
    void prolong(std::int64_t until_ns);
    /// Nobody works any more who is to end so.
    void end();

    /// The instant at which one is killed whose lease ends then.
    std::int64_t killed_at(std::int64_t until_ns) const { return until_ns - early_.ns; }

    /// The one that has to hear of this node's sessions; `next` does, too.
    SessionKeeper* before(SessionKeeper* next);

private:
    void opened(protocol::SessionId session, int descriptor) override;
    void closed(protocol::SessionId session) override;

    asio::io_context& io_;
    Parts parts_;
    LoopPulse& pulse_;
    protocol::Duration early_;
    bool works_ = false;
    /// Unless notices are used. No duplicates: the node's end is known when the last one is closed.
    std::map<protocol::SessionId, int> sessions_;
    SessionKeeper* next_ = nullptr;
    std::optional<UndertakerWatch> watch_;  // of one that was started here
};

}  // namespace bullring
