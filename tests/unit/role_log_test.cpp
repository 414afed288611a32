// The log's lines of a node's roles: one for each change that a user can see.
#include "src/node/report/role_log.hpp"

#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace bullring::role_log_test {

namespace {

using protocol::Action;
using protocol::Role;

constexpr protocol::Instant at{5'000'000'000, 0};

Action role(Role role, std::uint64_t epoch) { return protocol::RoleChanged{role, {epoch}}; }
Action leader(std::uint64_t id, std::uint64_t epoch) {
    return protocol::LeaderChanged{{id}, {epoch}, ""};
}
Action elected(std::uint64_t epoch) {
    protocol::MemberSet grants;
    grants.insert(0);
    grants.insert(1);
    return protocol::Elected{{epoch}, grants};
}

/// Nobody has led since that instant.
Action led_since(std::uint64_t id, std::uint64_t epoch, protocol::Instant unled_since) {
    return protocol::LeaderChanged{{id}, {epoch}, "", false, unled_since};
}

struct Told {
    explicit Told(protocol::NodeId self) : roles(self) {}
    std::optional<RoleChange> change(const std::vector<Action>& actions) {
        return roles.change(actions, leaders.add(at, protocol::Wake{}, actions));
    }

    LeaderLog leaders{at};
    RoleLog roles;
};

/// Empty when there is nothing to say.
std::string text_of(Told& log, const std::vector<Action>& actions) {
    const auto change = log.change(actions);
    return change ? change->text() : "";
}

}  // namespace

TEST_CASE("role log: a leadership is told when it is published, and its end at once") {
    Told log({3});
    CHECK(text_of(log, {protocol::ElectionStarted{{7}, "a lower node asked"},
                        role(Role::candidate, 7)}) ==
          "candidate (was follower), epoch 7, leader none (was none): a lower node asked");
    // It has its majority, but the lease that a command needs only in the next step.
    CHECK(text_of(log, {role(Role::leader, 7)}).empty());
    CHECK(text_of(log, {elected(7), leader(3, 7)}) ==
          "leader (was candidate), epoch 7, leader 3 (was none): elected with 2 grants");
    using protocol::DeposedReason;
    CHECK(text_of(log, {role(Role::stepping_down, 7),
                        protocol::StopTask{{7}, DeposedReason::resigned}, leader(0, 7)}) ==
          "follower (was leader), epoch 7, leader none (was 3): resigned");
    CHECK(
        text_of(log, {role(Role::follower, 7), protocol::Deposed{{7}, DeposedReason::resigned, {}}})
            .empty());
    CHECK(text_of(log, {leader(2, 8)}) == "follower, epoch 8, leader 2 (was none): follows it");
    CHECK(text_of(log, {leader(0, 8)}) ==
          "follower, epoch 8, leader none (was 2): it leads no more");
}

TEST_CASE("role log: a node that is removed has not lost its leader") {
    Told log({3});
    text_of(log, {leader(2, 8)});
    const protocol::Membership without({{8}, 1}, {{{1}, 0, true, ""}, {{2}, 1, true, ""}},
                                       {{1}, {2}, {3}});
    CHECK(text_of(log, {protocol::MembersChanged{without}}).empty());
    CHECK(text_of(log, {leader(0, 8)}) ==
          "follower, epoch 8, leader none (was 2): this node is no member any more");
}

TEST_CASE("role log: a step that goes through several roles is one line") {
    Told log({1});
    protocol::MemberSet alone;
    alone.insert(0);
    CHECK(text_of(log,
                  {protocol::ElectionStarted{{1}, "no leader is known"}, role(Role::candidate, 1),
                   role(Role::leader, 1), protocol::Elected{{1}, alone}, leader(1, 1)}) ==
          "leader (was follower), epoch 1, leader 1 (was none): elected with 1 grant");
}

TEST_CASE("role log: with the next leader stands how long nobody led") {
    Told log({3});
    text_of(log, {leader(2, 8)});
    SUBCASE("after a loss") { text_of(log, {led_since(0, 8, at - protocol::seconds(2))}); }
    SUBCASE("without one") {}
    const std::string text =
        text_of(log, {led_since(1, 9, at - protocol::Duration{2'194'321'987})});
    CHECK(text.substr(text.find(": ")) == ": follows it, after 2.194321s without a leader");
    CHECK(text_of(log, {led_since(1, 10, at)}) ==
          "follower, epoch 10, leader 1 (was 1): follows it");
}

TEST_CASE("role log: a candidacy that is given up says so") {
    Told log({1});
    text_of(log,
            {protocol::ElectionStarted{{5}, "named as the successor"}, role(Role::candidate, 5)});
    CHECK(text_of(log, {role(Role::follower, 5)}) ==
          "follower (was candidate), epoch 5, leader none (was none): not elected");
    text_of(log, {protocol::ElectionStarted{{6}, "no leader is known"}, role(Role::candidate, 6)});
    CHECK(text_of(log, {role(Role::follower, 6), leader(3, 9)}) ==
          "follower (was candidate), epoch 9, leader 3 (was none): follows it");
}

TEST_CASE("role log: a program finds each part of a change by its name") {
    Told log({1});
    log.change({elected(7), leader(1, 7)});
    const auto lost = log.change({role(Role::follower, 7), leader(0, 7)});
    REQUIRE(lost);
    CHECK(lost->fields() == LogFields{{"role", "follower"},
                                      {"old_role", "leader"},
                                      {"epoch", std::uint64_t{7}},
                                      {"leader", std::monostate{}},
                                      {"old_leader", std::uint64_t{1}},
                                      {"reason", "elected with 2 grants"},
                                      {"gap_ms", std::monostate{}}});
    CHECK(log.change({led_since(2, 8, at - protocol::microseconds(1'500))})->fields().back() ==
          LogFields::value_type{"gap_ms", 1.5});
}

}  // namespace bullring::role_log_test
