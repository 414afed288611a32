// Owns: Ctrl-Z in a terminal (SIGTSTP). A leader that stands still would have to be killed, or be
// waited for: it first hands over, its task ended and its hooks run, and stops when that has been
// reported. SIGCONT goes on.
#pragma once

#include <string>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>

#include "src/task/host_around.hpp"

namespace bullring {

class TerminalStop final : public HostAround, private NodeListener {
public:
    /// `make_inner`: none is NoTask.
    TerminalStop(asio::io_context& io, NodeLink& node, const MakeHost& make_inner);
    ~TerminalStop() override;

    void start(protocol::Epoch epoch) override { inner().start(epoch); }
    void stop(protocol::Epoch epoch, protocol::DeposedReason reason) override {
        inner().stop(epoch, reason);
    }

protected:
    void set_willing(bool willing, const std::string& why) override;

private:
    void elected(protocol::Instant, const protocol::Elected&) override { leads_ = true; }
    void deposed(protocol::Instant at, const protocol::Deposed& deposed) override;

    void wait_for_signal();
    void hand_over();
    void stop_soon();

    asio::signal_set signals_;
    asio::steady_timer timer_;
    bool leads_ = false;
    bool stopping_ = false;
    // As the inner host has said last.
    bool willing_ = true;
    std::string why_unwilling_;
};

}  // namespace bullring
