#include "src/node/showcase.hpp"

#include <string>
#include <string_view>
#include <vector>

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

    showcase.remember(start, protocol::Wake{}, {protocol::LeaderChanged{{3}, {7}, "there"}});
    CHECK(!rings(showcase.changed()));
    CHECK(showcase.changes().count == 0);
    showcase.show(start, view);
    CHECK(rings(showcase.changed()));
    CHECK(showcase.view().view == view);
    REQUIRE(showcase.changes().count == 1);
    CHECK(showcase.changes().last[0].what.advertised == "there");
    CHECK(showcase.changes().last[0].reason == std::string_view("first"));

    showcase.changed().quiet();
    showcase.show(start, view);
    CHECK(!rings(showcase.changed()));
    CHECK(showcase.changes().count == 1);
}

TEST_CASE("showcase: a change is told with the reason that the metrics count it by") {
    protocol::Config config;
    config.self = {1};
    config.members = protocol::Membership(std::vector<protocol::NodeId>{{1}, {2}, {3}});
    Showcase showcase(start, config, {1});
    using protocol::LeaderChanged;
    const protocol::Event wake = protocol::Wake{};
    showcase.remember(start, wake, {LeaderChanged{{3}, {7}, ""}});
    showcase.remember(
        start, wake,
        {protocol::PeerDown{{3}, protocol::PeerDownReason::eof}, LeaderChanged{{}, {7}, ""}});
    showcase.remember(start, wake, {LeaderChanged{{2}, {8}, ""}});
    showcase.remember(start, protocol::Receive{{1}, protocol::Resign{{8}, {}}},
                      {LeaderChanged{{}, {8}, ""}});
    showcase.remember(start, wake, {LeaderChanged{{1}, {9}, ""}});
    showcase.show(start, {});
    std::vector<std::string> reasons;
    showcase.changes().each_from(0, [&](const RecentChanges::Change& change) {
        reasons.emplace_back(change.reason == nullptr ? "none" : change.reason);
    });
    CHECK(reasons == std::vector<std::string>{"first", "none", "died", "none", "resigned"});
}

}  // namespace
}  // namespace bullring::showcase_test
