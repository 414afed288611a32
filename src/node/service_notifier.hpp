// Owns: the reports on a node to a service manager: that it is ready, reloads, stops; in one line
// what it is; and that its loop turns. Everything is sent by the loop itself, which makes the
// watchdog evidence, and nothing waits.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "protocol/values/view.hpp"
#include "src/base/os/notify_socket.hpp"
#include "src/task/task_host.hpp"

namespace bullring {

/// "leader, epoch 7: leads with grants of 1, 2, 3".
std::string service_status(const protocol::View& view);

class ServiceNotifier final : public NodeListener {
public:
    /// `variables` have a socket. `view` is asked in the loop.
    ServiceNotifier(asio::io_context& io, const ManagerVariables& variables,
                    std::function<protocol::View()> view);

    /// Once the loop turns, and after a reload.
    void ready();
    void reloading();
    void stopping();

private:
    void leader_changed(protocol::Instant, const protocol::LeaderChanged&) override;
    void elected(protocol::Instant, const protocol::Elected&) override;
    void deposed(protocol::Instant, const protocol::Deposed&) override;

    void look_in(std::chrono::milliseconds time);
    void send();
    void keep_alive();

    NotifySocket socket_;
    std::chrono::microseconds alive_every_;  // 0: nobody watches
    std::function<protocol::View()> view_;
    asio::steady_timer look_timer_;
    asio::steady_timer alive_timer_;
    std::string state_;   // not sent yet
    std::string status_;  // sent last
    bool is_ready_ = false;
};

}  // namespace bullring
