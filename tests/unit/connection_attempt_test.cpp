#include "src/node/net/connection_attempt.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <doctest/doctest.h>

#include "src/base/os/tcp.hpp"

namespace bullring::connection_attempt_test {

TEST_SUITE_BEGIN("realtime");

using asio::ip::tcp;
using std::chrono::steady_clock;

namespace {

constexpr protocol::Duration at_most = protocol::milliseconds(400);

tcp::endpoint anywhere() { return {asio::ip::address_v4::loopback(), 0}; }

/// Its queue of connections is full: it answers no SYN, as a host that is gone.
class Silent {
public:
    explicit Silent(asio::io_context& io) : listener_(io, anywhere()) {
        listener_.listen(0);
        for (int i = 0; i < 4; ++i) waiting_.push_back(bullring::tcp::start_connect(address()));
    }
    tcp::endpoint address() const { return listener_.local_endpoint(); }

private:
    tcp::acceptor listener_;
    std::vector<OwnedFd> waiting_;
};

tcp::endpoint refusing(asio::io_context& io) {
    return tcp::acceptor(io, anywhere()).local_endpoint();  // nobody listens there any more
}

struct Outcome {
    std::optional<tcp::endpoint> connected_to;
    steady_clock::duration took{};
};

Outcome attempt(asio::io_context& io, std::vector<tcp::endpoint> addresses) {
    Outcome outcome;
    const auto start = steady_clock::now();
    const auto go = [&]() -> asio::awaitable<void> {
        OwnedFd fd = co_await connect_to_one_of(io, std::move(addresses), at_most);
        outcome.took = steady_clock::now() - start;
        if (!fd) co_return;
        tcp::socket socket(io, tcp::v4(), fd.release());
        outcome.connected_to = socket.remote_endpoint();
    };
    asio::co_spawn(io, go(), asio::detached);
    io.run();
    return outcome;
}

TEST_CASE("connection attempt: an address that refuses gives way to the next one at once") {
    asio::io_context io(1);
    const tcp::acceptor alive(io, anywhere());
    const Outcome outcome = attempt(io, {refusing(io), alive.local_endpoint()});
    CHECK(outcome.connected_to == alive.local_endpoint());
    CHECK(outcome.took < std::chrono::nanoseconds(at_most.ns) / 4);
}

TEST_CASE("connection attempt: many addresses that do not answer leave time for one that does") {
    asio::io_context io(1);
    const tcp::acceptor alive(io, anywhere());
    std::vector<Silent> silent;
    silent.reserve(7);
    std::vector<tcp::endpoint> addresses;
    for (int i = 0; i < 7; ++i) addresses.push_back(silent.emplace_back(io).address());
    addresses.push_back(alive.local_endpoint());
    CHECK(attempt(io, addresses).connected_to == alive.local_endpoint());
}

TEST_CASE("connection attempt: its time is one, however many addresses there are") {
    asio::io_context io(1);
    const Silent silent(io);
    const Outcome outcome = attempt(io, std::vector<tcp::endpoint>(8, silent.address()));
    CHECK_FALSE(outcome.connected_to.has_value());
    CHECK(outcome.took >= std::chrono::nanoseconds(at_most.ns));
    CHECK(outcome.took < std::chrono::nanoseconds(at_most.ns) * 4);  // and not eight times as long
}

TEST_CASE("connection attempt: without an address, or with none that accepts, it is over at once") {
    asio::io_context io(1);
    CHECK_FALSE(attempt(io, {}).connected_to.has_value());
    io.restart();
    const Outcome outcome = attempt(io, {refusing(io), refusing(io)});
    CHECK_FALSE(outcome.connected_to.has_value());
    CHECK(outcome.took < std::chrono::nanoseconds(at_most.ns));
}

}  // namespace

TEST_SUITE_END();

}  // namespace bullring::connection_attempt_test
