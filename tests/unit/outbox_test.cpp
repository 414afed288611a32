#include "src/node/net/outbox.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::outbox_test {

using bullring::Outbox;
using Kind = bullring::Outbox::Kind;

namespace {

bool push(Outbox& outbox, Kind kind, std::string_view text) {
    return outbox.push(kind, std::as_bytes(std::span(text)));
}

std::string waiting(const Outbox& outbox) {
    std::string text;
    for (const std::byte byte : outbox.waiting()) text += static_cast<char>(byte);
    return text;
}

}  // namespace

TEST_CASE("outbox: frames leave in order, whatever pieces the kernel takes") {
    Outbox outbox(100);
    push(outbox, Kind::plain, "one ");
    push(outbox, Kind::newest_heartbeat, "beat ");
    push(outbox, Kind::newest_coordinator, "lease ");
    CHECK(waiting(outbox) == "one beat lease ");
    outbox.consume(2);
    outbox.consume(9);
    CHECK(waiting(outbox) == "ase ");
    outbox.consume(4);
    CHECK(outbox.empty());
    push(outbox, Kind::plain, "two");
    CHECK(waiting(outbox) == "two");
}

TEST_CASE("outbox: a heartbeat or a lease request is replaced by a newer one of its kind alone") {
    Outbox outbox(100);
    push(outbox, Kind::newest_heartbeat, "beat1 ");
    push(outbox, Kind::newest_coordinator, "lease1 ");
    push(outbox, Kind::plain, "resign ");
    push(outbox, Kind::newest_coordinator, "lease2 ");
    push(outbox, Kind::newest_heartbeat, "beat2 ");
    CHECK(waiting(outbox) == "resign lease2 beat2 ");
}

TEST_CASE("outbox: a frame that the kernel has begun to take is never replaced") {
    Outbox outbox(100);
    push(outbox, Kind::newest_heartbeat, "beat1 ");
    push(outbox, Kind::newest_coordinator, "lease1 ");
    outbox.consume(1);
    push(outbox, Kind::newest_heartbeat, "beat2 ");
    push(outbox, Kind::newest_coordinator, "lease2 ");
    CHECK(waiting(outbox) == "eat1 beat2 lease2 ");
    push(outbox, Kind::newest_heartbeat, "beat3 ");
    CHECK(waiting(outbox) == "eat1 lease2 beat3 ");
    outbox.consume(5);
    push(outbox, Kind::newest_coordinator, "lease3 ");
    CHECK(waiting(outbox) == "beat3 lease3 ");
}

TEST_CASE("outbox: it is full by bytes, and newest-only frames never fill it") {
    Outbox outbox(20);
    CHECK(push(outbox, Kind::plain, "0123456789"));
    for (int i = 0; i < 100; ++i) {
        CHECK(push(outbox, Kind::newest_heartbeat, "beat"));
        CHECK(push(outbox, Kind::newest_coordinator, "lease"));
    }
    CHECK_FALSE(push(outbox, Kind::plain, "too much"));
    CHECK(waiting(outbox) == "0123456789beatlease");
    outbox.consume(10);
    CHECK(push(outbox, Kind::plain, "enough"));
}

}  // namespace bullring::outbox_test
