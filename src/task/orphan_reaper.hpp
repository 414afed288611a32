// Owns: collecting the exit statuses of orphans that this process has adopted: what a hook or a
// health check has left behind, when this is a subreaper. (Those of a container are its first
// process's, src/base/os/first_process.hpp.)
#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

namespace bullring {

/// Of a program alone: a library's process has children of which the library knows nothing.
class OrphanReaper {
public:
    explicit OrphanReaper(asio::io_context& io);

private:
    void wait_for_signal();
    void reap();

    asio::signal_set ends_;
    asio::steady_timer again_;
};

}  // namespace bullring
