// Owns: who is at the other end of a local socket, and when its process ends.
#pragma once

#include <string>

#include <sys/types.h>

#include "src/base/os/owned_fd.hpp"

namespace bullring {

/// The process that has called connect(2), whoever else holds the socket by now.
struct PeerProcess {
    pid_t pid = 0;     // 0: it is in a pid namespace that this one does not see
    std::string name;  // as ps(1) has it; empty: not known
    /// Readable from the end of the process on. None: it can't be watched, or has ended already.
    OwnedFd process;
};

/// `socket`: a connection that has just been accepted. SO_PEERPIDFD names the very process, in
/// whatever namespace it is. Before Linux 6.5 its number does, and a process is only taken for it
/// if it was there when this was called, which one that has got the number of a process that had
/// just ended may have been, too. `without_descriptor`: as on such a kernel; for tests.
PeerProcess peer_of(int socket, bool without_descriptor = false);

}  // namespace bullring
