#include "src/node/own_name.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/tcp.hpp"

namespace bullring {

namespace {

/// As long as it lives the two signals by which a program is stopped end this one at once, and
/// well: it has not begun.
class StopsAtOnce {
public:
    StopsAtOnce() {
        struct sigaction end {};
        end.sa_handler = [](int) { ::_exit(0); };
        for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &end, &before_[i]);
    }
    StopsAtOnce(const StopsAtOnce&) = delete;
    StopsAtOnce& operator=(const StopsAtOnce&) = delete;
    ~StopsAtOnce() {
        for (std::size_t i = 0; i < signals.size(); ++i)
            ::sigaction(signals[i], &before_[i], nullptr);
    }

private:
    static constexpr std::array<int, 2> signals{SIGTERM, SIGINT};
    std::array<struct sigaction, 2> before_{};
};

bool is_name(const Endpoint& endpoint) { return tcp::numeric_addresses(endpoint).empty(); }

}  // namespace

std::string why_nobody_reaches(const NodeOptions& options) {
    if (!is_name(options.listen) || is_loopback(options.listen.host)) return "";
    const bool all_here =
        std::all_of(options.peers.begin(), options.peers.end(), [&](const auto& peer) {
            return peer.second == options.listen || is_loopback(peer.second.host);
        });
    const auto found = tcp::resolve(options.listen);
    if (all_here || !found || found->empty() ||
        !std::all_of(found->begin(), found->end(),
                     [](const auto& one) { return one.address().is_loopback(); }))
        return "";
    return fmt::format(
        "{} is {} on this machine (see /etc/hosts), so this node listens where no other machine "
        "reaches it; take that line out of /etc/hosts, or give --listen 0.0.0.0:{}",
        options.listen.host, found->front().address().to_string(), options.listen.port);
}

void wait_for_own_name(const Endpoint& listen) {
    if (!is_name(listen)) return;
    const StopsAtOnce stops;
    bool warned = false;
    while (true) {
        const auto found = tcp::resolve(listen);
        if (found) break;
        if (!warned)
            log(LogLevel::warn,
                fmt::format(
                    "cannot listen on {} yet: {}; waiting for the name to resolve (--listen "
                    "0.0.0.0:{} needs none)",
                    to_text(listen), found.error(), listen.port));
        warned = true;
        const timespec pause{1, 0};
        ::nanosleep(&pause, nullptr);
    }
    if (warned) log(LogLevel::info, listen.host + " resolves now");
}

}  // namespace bullring
