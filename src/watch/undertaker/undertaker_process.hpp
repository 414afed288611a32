// The code of a node's undertaker (PROTOCOL R4): it holds a connection of its own with each member
// and reports on it that the node has ended, when the kernel says so and nothing acts for the node
// any more. A process that is to end with the node it ends first. It holds nothing of the node's
// but the secret, neither its keys nor, except for that process's sake, its sockets.
//
// It may run in the copy of a process that had many threads, so nothing here may allocate, or take
// a lock.
#pragma once

#include "protocol/values/time.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

struct UndertakerTask {
    int orders = -1;       // UndertakerOrder records
    int node = -1;         // the node's pidfd
    bool guarded = false;  // a guard has to say first that nothing of the command is left
    /// In shared memory; null: nothing else acts for the node.
    LoopPulse* pulse = nullptr;
    /// For so long after the node's end: nothing binds anybody to it for longer.
    protocol::Duration patience{0};
};

/// To the end of the node and of what there is to say.
void run_undertaker(const UndertakerTask& task);

}  // namespace bullring
