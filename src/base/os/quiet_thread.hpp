// Owns: how the threads of the program and of the library are made. None of them ever handles a
// signal of the process: those are for the main thread, which in the library's case is its user's.
// In such a thread a write to a pipe that nobody reads fails with EPIPE, and SIGPIPE, which the
// kernel sends to the writing thread alone, ends nothing.
#pragma once

#include <thread>
#include <utility>

#include <signal.h>

namespace bullring {

/// As long as it lives, the calling thread has all signals blocked; a thread inherits that from the
/// one that makes it.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

/// Throws std::system_error when the system has no more threads.
template <class Body>
std::thread quiet_thread(Body body) {
    const SignalsBlocked blocked;
    return std::thread(std::move(body));
}

}  // namespace bullring
