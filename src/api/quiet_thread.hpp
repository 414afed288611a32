// Owns: how the library makes its threads: no signal of the process is ever handled in them, and
// their threads' threads inherit that.
#pragma once

#include <thread>
#include <utility>

#include <signal.h>

namespace bullring {

template <class Body>
std::thread quiet_thread(Body body) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread thread(std::move(body));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace bullring
