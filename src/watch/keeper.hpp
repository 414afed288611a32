// Owns: a second process that shares this one's memory and outlives it by a moment.
//
// It keeps the memory. When a process dies, the kernel takes its memory down before it closes its
// sockets, so the FIN by which the others learn of a leader's death is late by what that takes:
// half a millisecond for a small program, 25 ms for each GiB. As long as somebody else still uses
// the memory there is nothing to take down, and the sockets are closed at once. The keeper runs no
// code of the node, holds none of its sockets and ends 5 ms after it: FIN still means that the
// node computes nothing any more (PROTOCOL R4).
//
// And it kills a leader whose loop stands still, so that another node takes over as after a crash.
// While the node leads it looks at the loop's turns several times within that time, and wakes the
// loop when it has been quiet; while the node does not lead it sleeps. If the node dies as the
// leader without a word, the keeper writes its last event.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "protocol/values/time.hpp"
#include "src/base/os/owned_fd.hpp"
#include "src/watch/loop_pulse.hpp"

namespace bullring {

struct KeeperSettings {
    protocol::Duration hang_after{0};  // 0: nobody is killed
    /// The line on stderr that reports it, around the time of day.
    std::string before_time;
    std::string after_time;
    /// Where the last event goes if the node dies without a word; empty: nowhere.
    std::string events_file;
    std::uint64_t node = 0;
};

class Keeper {
public:
    /// Nothing runs yet. `pulse` lives as long as the process.
    Keeper(LoopPulse& pulse, KeeperSettings settings);
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    /// After stop(), if it was started.
    ~Keeper();

    /// In the thread whose loop is watched. False when the system has refused it: everything works
    /// without it, only later.
    bool start();
    /// In the same thread. A keeper that is not stopped ends 5 ms after the process.
    void stop();

    /// Readable when the loop is to turn; -1: nobody watches. Whoever reads it owns a duplicate.
    int alarm() const { return alarm_.get(); }
    /// The node leads from now on: to be watched, until the pulse says otherwise.
    void watch() const;

private:
    class Work;

    LoopPulse& pulse_;
    KeeperSettings settings_;
    OwnedFd alarm_;  // eventfd, of the node's loop
    OwnedFd wake_;   // eventfd, of the keeper
    std::atomic<bool> stopping_{false};
    Work* work_ = nullptr;
    pid_t process_ = 0;
};

}  // namespace bullring
