#include "src/task/terminal_stop.hpp"

#include <chrono>

#include <signal.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"

namespace bullring {

namespace {

/// For what a step-down still has to send before this process stops.
constexpr std::chrono::milliseconds send_time{50};

}  // namespace

TerminalStop::TerminalStop(asio::io_context& io, NodeLink& node, const MakeHost& make_inner)
    : HostAround(node), signals_(io, SIGTSTP), timer_(io) {
    node.listen(*this);
    enclose(io, make_inner);
    wait_for_signal();
}

TerminalStop::~TerminalStop() { end_inner(); }

void TerminalStop::deposed(protocol::Instant, const protocol::Deposed&) {
    leads_ = false;
    if (stopping_) stop_soon();
}

void TerminalStop::set_willing(bool willing, const std::string& why) {
    willing_ = willing;
    why_unwilling_ = why;
    if (!stopping_) node().set_willing(willing, why);
}

void TerminalStop::wait_for_signal() {
    signals_.async_wait([this](const asio::error_code& error, int) {
        if (error) return;
        if (!stopping_) hand_over();
        wait_for_signal();
    });
}

void TerminalStop::hand_over() {
    stopping_ = true;
    node().set_willing(false, "stopped from its terminal");
    if (!leads_) return stop_soon();
    log(LogLevel::warn, "stopped from its terminal; handing over first");
    node().tell(protocol::ResignRequested{protocol::nobody, {}, true});
}

void TerminalStop::stop_soon() {
    timer_.expires_after(send_time);
    timer_.async_wait([this](const asio::error_code& error) {
        if (error) return;
        ::kill(::getpid(), SIGSTOP);
        stopping_ = false;
        node().set_willing(willing_, why_unwilling_);
    });
}

}  // namespace bullring
