// Owns: this process's line to the service manager that has started it, by the protocol of
// sd_notify(3): a datagram for each report. Never waits: what the manager has no room
// for is not sent, and the caller learns so. libsystemd's own function waits for room, and its
// libraries would have to be taken down before a dead node's sockets are closed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// The variables by which a service manager speaks to a process that it starts, removed from the
/// environment: nothing that this process starts may speak in its name. Before there are threads.
struct ManagerVariables {
    std::string socket;           // NOTIFY_SOCKET; empty: there is no such manager
    protocol::Duration watchdog;  // WATCHDOG_USEC, if it is meant for this process; 0: none
    std::string problem;          // why one of them can't be used, as a line for the log
};
ManagerVariables take_manager_variables();

/// Lines NAME=value, before the variables are taken.
void tell_manager(const std::string& lines);

class NotifySocket {
public:
    /// `path`: absolute, or the name of an abstract socket behind a '@'.
    explicit NotifySocket(const std::string& path);

    /// Lines NAME=value. False: not now, try again later.
    bool send(const std::string& lines) const;

private:
    std::string address_;  // a sockaddr_un, as far as it is used
    OwnedFd socket_;
};

}  // namespace bullring
