#include "src/task/orphan_reaper.hpp"

#include <chrono>

#include <signal.h>

#include "src/base/os/children.hpp"

namespace bullring {

namespace {

/// A child of the program itself blocks the view until the part that waits for it has taken its
/// status.
constexpr std::chrono::milliseconds again_after{50};

}  // namespace

OrphanReaper::OrphanReaper(asio::io_context& io) : ends_(io, SIGCHLD), again_(io) {
    wait_for_signal();
    reap();
}

void OrphanReaper::wait_for_signal() {
    ends_.async_wait([this](const asio::error_code& error, int) {
        if (error) return;
        reap();
        wait_for_signal();
    });
}

void OrphanReaper::reap() {
    if (reap_orphans()) return;
    again_.expires_after(again_after);
    again_.async_wait([this](const asio::error_code& error) {
        if (!error) reap();
    });
}

}  // namespace bullring
