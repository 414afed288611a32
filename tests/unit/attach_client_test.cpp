// An attached process, as the node's loop sees it.
#include "src/task/attach/attach_client.hpp"

#include <array>
#include <memory>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace bullring::attach_client_test {

namespace {

using Descriptor = asio::posix::stream_descriptor;

Descriptor readable(asio::io_context& io) { return Descriptor(io, ::eventfd(1, EFD_CLOEXEC)); }

/// A connection of this very process.
struct Connection {
    Connection() {
        std::array<int, 2> ends{-1, -1};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) ==
                0);
        node = OwnedFd(ends[0]);
        client = OwnedFd(ends[1]);
    }
    OwnedFd node;
    OwnedFd client;
};

struct Seen {
    int lost = 0;
    int closed = 0;
    int ended = 0;
};

std::shared_ptr<AttachClient> start(asio::io_context& io, Connection& connection, Seen& seen) {
    auto page = AttachPage::create();
    REQUIRE(page);
    auto client = std::make_shared<AttachClient>(io, protocol::ClientId{1},
                                                 std::move(connection.node), std::move(*page));
    client->start("{}\n", {[](std::string_view) {}, [&] { ++seen.lost; }, [&] { ++seen.closed; },
                           [&] { ++seen.ended; }});
    return client;
}

}  // namespace

TEST_CASE("attach client: events of descriptors that were closed are no end of a process") {
    asio::io_context io;
    Connection connection;
    Seen seen;
    std::shared_ptr<AttachClient> client;
    // All of them are ready at one look of the reactor; the places of the two that are closed then
    // go to the client's socket and to its process.
    Descriptor first = readable(io);
    auto others = std::make_unique<std::array<Descriptor, 2>>(
        std::array<Descriptor, 2>{readable(io), readable(io)});
    first.async_wait(Descriptor::wait_read, [&](const asio::error_code& error) {
        REQUIRE_FALSE(error);
        others.reset();
        client = start(io, connection, seen);
    });
    for (Descriptor& other : *others)
        other.async_wait(Descriptor::wait_read, [](const asio::error_code&) {});
    io.run_for(std::chrono::milliseconds(20));
    REQUIRE(client);
    CHECK(client->connected());
    CHECK(seen.ended == 0);
    CHECK(seen.lost == 0);
}

TEST_CASE(
    "attach client: the end of a connection is told at once, and again if the process lives") {
    asio::io_context io;
    Connection connection;
    Seen seen;
    const auto client = start(io, connection, seen);
    connection.client = OwnedFd();
    while (seen.lost == 0) io.run_one();
    CHECK(seen.closed == 0);
    while (seen.closed == 0) io.run_one();
    CHECK(seen.lost == 1);
    CHECK(seen.ended == 0);
}

}  // namespace bullring::attach_client_test
