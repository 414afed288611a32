#include "src/node/net/connection_attempt.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <utility>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "src/base/os/readiness.hpp"
#include "src/base/os/tcp.hpp"

namespace bullring {

namespace {

using Clock = asio::steady_timer::clock_type;

/// Shared with the handlers, which may be queued when the coroutine has gone on.
struct Race {
    explicit Race(asio::io_context& io) : news(io) {}
    asio::steady_timer news;  // cancelled when something has been decided
    std::list<asio::posix::stream_descriptor> running;
    OwnedFd winner;
    bool over = false;
};

void run_on(const std::shared_ptr<Race>& race,
            std::list<asio::posix::stream_descriptor>::iterator one) {
    one->async_wait(asio::posix::descriptor_base::wait_write,
                    [race, one](const asio::error_code& error) {
                        if (error || race->over) return;
                        if (!is_ready(one->native_handle(), POLLOUT)) return run_on(race, one);
                        OwnedFd decided(one->release());
                        race->running.erase(one);
                        if (!race->winner && tcp::connect_error(decided.get()) == 0)
                            race->winner = std::move(decided);
                        race->news.cancel();
                    });
}

void enter(asio::io_context& io, const std::shared_ptr<Race>& race,
           const asio::ip::tcp::endpoint& address) {
    OwnedFd fd = tcp::start_connect(address);
    if (!fd) return;
    run_on(race, race->running.emplace(race->running.end(), io, fd.release()));
}

}  // namespace

asio::awaitable<OwnedFd> connect_to_one_of(asio::io_context& io,
                                           std::vector<asio::ip::tcp::endpoint> addresses,
                                           protocol::Duration at_most) {
    const auto race = std::make_shared<Race>(io);
    const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(at_most.ns);
    const auto turns = static_cast<std::int64_t>(std::max<std::size_t>(addresses.size(), 1));
    const std::chrono::nanoseconds turn(at_most.ns / 2 / turns);
    std::size_t entered = 0;
    while (!race->winner && Clock::now() < end) {
        if (entered < addresses.size()) enter(io, race, addresses[entered++]);
        const bool all = entered == addresses.size();
        if (race->running.empty()) {
            if (all) break;
            continue;
        }
        asio::error_code ignored;
        race->news.expires_at(all ? end : std::min(end, Clock::now() + turn));
        co_await race->news.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    race->over = true;
    race->running.clear();
    co_return std::move(race->winner);
}

}  // namespace bullring
