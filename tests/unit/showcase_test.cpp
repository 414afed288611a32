#include "src/node/showcase.hpp"

#include <doctest/doctest.h>
#include <poll.h>

namespace bullring::showcase_test {
namespace {

using protocol::Instant;

constexpr Instant start{1'000'000'000, 2'000'000'000};

bool rings(const Bell& bell) {
    pollfd ready{bell.fd(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
}

TEST_CASE("showcase: a change of leader is told with the view that shows it, and once") {
    protocol::Config config;
    config.self = {1};
    config.members = protocol::Membership(std::vector<protocol::NodeId>{{1}, {2}, {3}});
    Showcase showcase(start, config, {1});
    protocol::View view;
    view.leader = {3};
    view.epoch = {7};

    const protocol::LeaderChanged found{{3}, {7}, "there"};
    showcase.remember(start, protocol::Wake{}, {found}, {{start, found, LeaderEnd::first}});
    CHECK(!rings(showcase.changed()));
    CHECK(showcase.changes().count == 0);
    showcase.show(start, view);
    CHECK(rings(showcase.changed()));
    CHECK(showcase.view().view == view);
    REQUIRE(showcase.changes().count == 1);
    CHECK(showcase.changes().last[0].what.advertised == "there");
    CHECK(showcase.changes().last[0].before == LeaderEnd::first);

    showcase.changed().quiet();
    showcase.show(start, view);
    CHECK(!rings(showcase.changed()));
    CHECK(showcase.changes().count == 1);
}

}  // namespace
}  // namespace bullring::showcase_test
