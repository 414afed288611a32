// The seam between a node's sessions and the process that sends a last message on them when the
// node has died (see src/task/supervisor/README.md).
#pragma once

#include "protocol/values/ids.hpp"

namespace bullring {

class SessionKeeper {
public:
    SessionKeeper() = default;
    SessionKeeper(const SessionKeeper&) = delete;
    SessionKeeper& operator=(const SessionKeeper&) = delete;
    virtual ~SessionKeeper() = default;

    /// A dialled session whose handshake is done.
    virtual void opened(protocol::SessionId session, int descriptor) = 0;
    virtual void closed(protocol::SessionId session) = 0;
};

}  // namespace bullring
