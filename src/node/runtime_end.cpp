// How a node ends: by a signal, by itself when it can't go on, and what is still sent then.
#include <chrono>
#include <csignal>

#include "src/node/runtime.hpp"

namespace bullring {

namespace {

constexpr std::chrono::milliseconds drain_look_every{5};
constexpr int drain_looks_max = 200;

}  // namespace

void Runtime::wait_for_signal() {
    signals_->async_wait([this](const asio::error_code& error, int signal) {
        if (error) return;
        if (signal == SIGHUP) {
            if (service_) service_->reloading();
            if (writer_ != nullptr) writer_->reopen();
            if (credentials_) credentials_->read_again();
            host_->try_again();
            if (service_) service_->ready();
        } else {
            shut_down(signal == SIGTERM ? "SIGTERM" : "SIGINT");
        }
        wait_for_signal();
    });
}

void Runtime::finish() {
    if (finishing_) return;
    finishing_ = true;
    transport_.stop();
    finish_when_drained(drain_looks_max);
}

void Runtime::finish_when_drained(int looks_left) {
    if (looks_left == 0 || transport_.drained()) {
        io_.stop();
        return;
    }
    drain_timer_.expires_after(drain_look_every);
    drain_timer_.async_wait([this, looks_left](const asio::error_code& error) {
        if (!error) finish_when_drained(looks_left - 1);
    });
}

void Runtime::on_fatal(const std::string& what) {
    if (exit_status_ != 0) return;
    exit_status_ = 1;
    stop_reason_ = what;
    tell_failure_(what);
    io_.stop();
}

}  // namespace bullring
