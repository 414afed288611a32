#include "src/node/own_name.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/log/logging.hpp"
#include "src/base/os/start_wait.hpp"
#include "src/base/os/tcp.hpp"

namespace bullring {

namespace {

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
    const auto look = [&]() -> Obstacles {
        const auto found = tcp::resolve(listen);
        if (found) return {};
        return {fmt::format("cannot listen on {} yet: {} (--listen 0.0.0.0:{} needs no name)",
                            to_text(listen), found.error(), listen.port)};
    };
    if (!wait_to_start(look, [](const std::string& text) { log(LogLevel::warn, text); }))
        log(LogLevel::info, listen.host + " resolves now");
}

}  // namespace bullring
