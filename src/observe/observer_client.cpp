#include "src/observe/observer_client.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/log/logging.hpp"

namespace bullring {
int run_observer(const ObserverOptions& options,
                 const std::function<asio::awaitable<int>(ObserverLoop&)>& command) {
    ObserverLoop loop;
    // Such a command has no log.
    const auto tell = [silent = options.log.level == LogLevel::error](LogLevel level,
                                                                      const std::string& text) {
        if (!silent && level >= LogLevel::warn) print_error(text);
    };
    const auto secured = loop.secure(options.security, {options.cluster, protocol::nobody}, tell);
    if (!secured) {
        print_error(secured.error());
        return 1;
    }
    const int status = run_to_end(loop, command(loop));
    if (loop.lookups != 0) {
        std::fflush(stdout);
        std::_Exit(status);
    }
    return status;
}

asio::awaitable<void> sleep_until(ObserverLoop& loop, Deadline deadline) {
    asio::steady_timer timer(loop.io, deadline);
    asio::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Deadline round_deadline(Deadline end) { return std::min(end, deadline_in(round_max)); }

void RefusalNotes::say(const std::vector<MemberAnswer>& members) {
    for (const MemberAnswer& member : members) {
        if (member.refused) say(member.id, member.address, member.problem);
    }
}

void RefusalNotes::say(protocol::NodeId id, const std::string& address,
                       const std::string& problem) {
    std::string& said = said_[id];
    if (silent_ || said == problem) return;
    said = problem;
    print_error("node " + std::to_string(id.value) + " at " + address + ": " + problem);
}

}  // namespace bullring
