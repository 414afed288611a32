#include "src/node/service_notifier.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <time.h>

#include "src/base/os/clock.hpp"
#include "src/base/text/text.hpp"
#include "src/node/observers/status_json.hpp"

namespace bullring {

namespace {

/// Of what no event reports, such as a majority that is lost.
constexpr std::chrono::milliseconds look_every{1000};
/// After a change of the leadership, which must not wait for this.
constexpr std::chrono::milliseconds look_soon{1};
/// When the manager had no room.
constexpr std::chrono::milliseconds tried_again_after{100};

}  // namespace

std::string service_status(const protocol::View& view) {
    const char* const role = shown_role(view.role);
    const std::string why = one_line(view.why);
    if (!view.leader) return fmt::format("{}, no leader: {}", role, why);
    return fmt::format("{}, epoch {}: {}", role, view.epoch.value, why);
}

ServiceNotifier::ServiceNotifier(asio::io_context& io, const ManagerVariables& variables,
                                 std::function<protocol::View()> view)
    : socket_(variables.socket),
      alive_every_(variables.watchdog.ns / 2000),
      view_(std::move(view)),
      look_timer_(io),
      alive_timer_(io) {}

void ServiceNotifier::ready() {
    state_ = "READY=1\n";
    send();
    if (!is_ready_ && alive_every_.count() > 0) keep_alive();
    is_ready_ = true;
}

void ServiceNotifier::reloading() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);  // the manager's clock
    state_ = fmt::format("RELOADING=1\nMONOTONIC_USEC={}\n",
                         std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000);
    send();
}

void ServiceNotifier::stopping() {
    state_ = "STOPPING=1\n";
    send();
}

void ServiceNotifier::leader_changed(protocol::Instant, const protocol::LeaderChanged&) {
    look_in(look_soon);
}
void ServiceNotifier::elected(protocol::Instant, const protocol::Elected&) { look_in(look_soon); }
void ServiceNotifier::deposed(protocol::Instant, const protocol::Deposed&) { look_in(look_soon); }

void ServiceNotifier::look_in(std::chrono::milliseconds time) {
    look_timer_.expires_after(time);
    look_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) send();
    });
}

/// Sends the last state; those that had to wait before it are dropped, since the last one says all.
void ServiceNotifier::send() {
    const std::string status = service_status(view_());
    std::string lines = state_;
    if (status != status_) lines += "STATUS=" + status + "\n";
    if (!lines.empty() && !socket_.send(lines)) return look_in(tried_again_after);
    state_.clear();
    status_ = status;
    look_in(look_every);
}

void ServiceNotifier::keep_alive() {
    const bool sent = socket_.send("WATCHDOG=1\n");
    alive_timer_.expires_after(
        sent ? alive_every_ : std::min<std::chrono::microseconds>(alive_every_, tried_again_after));
    alive_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) keep_alive();
    });
}

}  // namespace bullring
