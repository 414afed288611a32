// The holder's arithmetic (R3): votes by voter, and D as the q-th largest end.
#include "protocol/lease/lease.hpp"

#include <algorithm>
#include <functional>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace bullring::protocol::lease_test {
namespace {

Instant both(std::int64_t at) { return {at, at}; }

Lease lease_with(std::size_t members, const std::vector<std::int64_t>& ends) {
    Lease lease(members, members / 2 + 1);
    lease.begin({1});
    for (std::size_t i = 0; i < ends.size(); ++i)
        lease.count(static_cast<Index>(i), both(ends[i]), no_session);
    return lease;
}

std::int64_t dumb_nth_largest(std::vector<std::int64_t> ends, std::size_t nth) {
    std::sort(ends.begin(), ends.end(), std::greater<>());
    return ends[nth - 1];
}

TEST_CASE("lease: with fewer voters than a majority there is no lease") {
    Lease lease(5, 3);
    lease.begin({1});
    CHECK(lease.deadline() == long_ago);
    lease.count(0, both(100), no_session);
    lease.count(1, both(100), no_session);
    CHECK(lease.deadline() == long_ago);
    lease.count(2, both(100), no_session);
    CHECK(lease.deadline() == both(100));
}

// R3.7
TEST_CASE("lease: D is the end of the majority's last grant, not the newest one") {
    CHECK(lease_with(3, {100, 300}).deadline() == both(100));
    CHECK(lease_with(3, {100, 300, 200}).deadline() == both(200));
    CHECK(lease_with(5, {10, 20, 30, 40, 50}).deadline() == both(30));
}

TEST_CASE("lease: what is tied to no session holds for itself, whatever is tied later") {
    const SessionId session{9};
    Lease lease(5, 3);
    lease.begin({1});
    lease.count(0, both(500), no_session);
    lease.count(1, both(400), session);
    lease.count(2, both(300), no_session);
    CHECK(lease.deadline() == both(300));
    CHECK(lease.untied_deadline() == long_ago);
    lease.count(3, both(200), no_session);
    CHECK(lease.deadline() == both(300));
    CHECK(lease.untied_deadline() == both(200));
    lease.count(0, both(600), session);
    CHECK(lease.untied_deadline() == both(200));
    lease.count(2, both(700), no_session);
    CHECK(lease.untied_deadline() == both(200));
    lease.count(3, both(700), no_session);
    CHECK(lease.untied_deadline() == both(500));
    lease.end();
    CHECK(lease.untied_deadline() == long_ago);
}

// R8.3
TEST_CASE("lease: D is the q-th largest end, clock by clock") {
    CHECK(rc::check("deadline() == sorted ends [q-1] for each clock", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 65);
        const auto q = *rc::gen::inRange<std::size_t>(1, members + 1);
        Lease lease(members, q);
        lease.begin({1});
        std::vector<std::int64_t> boottime(members, long_ago.boottime_ns);
        std::vector<std::int64_t> raw(members, long_ago.raw_ns);
        const auto count = *rc::gen::inRange(0, 200);
        for (int i = 0; i < count; ++i) {
            const auto voter = *rc::gen::inRange<std::size_t>(0, members);
            const Instant end{*rc::gen::inRange(0, 1000), *rc::gen::inRange(0, 1000)};
            lease.count(static_cast<Index>(voter), end, no_session);
            boottime[voter] = std::max(boottime[voter], end.boottime_ns);
            raw[voter] = std::max(raw[voter], end.raw_ns);
        }
        RC_ASSERT(lease.deadline() ==
                  (Instant{dumb_nth_largest(boottime, q), dumb_nth_largest(raw, q)}));
    }));
}

TEST_CASE("lease: while it is valid at least a majority has voted for it") {
    CHECK(rc::check("with ends from one pair of clocks, D valid implies q valid voters", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 8);
        const std::size_t q = members / 2 + 1;
        Lease lease(members, q);
        lease.begin({1});
        const auto count = *rc::gen::inRange(0, 20);
        Instant stamp{0, 0};
        for (int i = 0; i < count; ++i) {
            // The holder's own clocks only go forward, each at its own pace.
            stamp = {stamp.boottime_ns + *rc::gen::inRange(0, 9),
                     stamp.raw_ns + *rc::gen::inRange(0, 9)};
            lease.count(static_cast<Index>(*rc::gen::inRange<std::size_t>(0, members)),
                        stamp + Duration{50}, no_session);
        }
        const Instant now{*rc::gen::inRange(0, 200), *rc::gen::inRange(0, 200)};
        if (lease_valid(now, lease.deadline())) RC_ASSERT(lease.voters(now).size() >= q);
    }));
}

// R3.7
TEST_CASE("lease: the same voter counts once, however many messages it sends") {
    Lease lease(3, 2);
    lease.begin({1});
    for (int i = 0; i < 100; ++i) lease.count(1, both(100 + i), no_session);
    CHECK(lease.deadline() == long_ago);
    CHECK(lease.voters(both(0)).size() == 1);
}

TEST_CASE("lease: the order in which grants arrive makes no difference") {
    CHECK(rc::check("any permutation of grants gives the same deadline", [] {
        auto grants = *rc::gen::container<std::vector<std::pair<int, int>>>(
            rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::inRange(0, 100)));
        const auto deadline = [&] {
            Lease lease(5, 3);
            lease.begin({1});
            for (const auto& [voter, end] : grants)
                lease.count(static_cast<Index>(voter), both(end), no_session);
            return lease.deadline();
        };
        const Instant before = deadline();
        std::reverse(grants.begin(), grants.end());
        RC_ASSERT(deadline() == before);
        std::sort(grants.begin(), grants.end());
        RC_ASSERT(deadline() == before);
    }));
}

// R3.7
TEST_CASE("lease: a late grant with an earlier end does not shorten it") {
    Lease lease = lease_with(3, {200, 200});
    lease.count(1, both(150), no_session);
    CHECK(lease.deadline() == both(200));
}

TEST_CASE("lease: a new candidacy starts without the votes of the one before") {
    Lease lease = lease_with(3, {200, 200, 200});
    lease.begin({2});
    CHECK(lease.epoch() == Epoch{2});
    CHECK(lease.deadline() == long_ago);
    CHECK(lease.voters(both(0)).empty());
}

TEST_CASE("lease: after its end nothing is counted and the epoch is remembered") {
    Lease lease = lease_with(3, {200, 200, 200});
    lease.end();
    CHECK(lease.deadline() == long_ago);
    CHECK(lease.epoch() == Epoch{1});
}

TEST_CASE("lease: a session is bound until the end of the grant that is tied to it") {
    Lease lease(3, 2);
    lease.begin({1});
    lease.count(1, both(100), SessionId{7});
    CHECK(lease.tied_until({7}) == both(100));
    CHECK(lease.tied_until({8}) == long_ago);
    lease.count(1, both(120), SessionId{8});
    CHECK(lease.tied_until({7}) == long_ago);
    CHECK(lease.tied_until({8}) == both(120));
}

TEST_CASE("lease: an older grant on another session does not move the tie") {
    Lease lease(3, 2);
    lease.begin({1});
    lease.count(1, both(120), SessionId{8});
    lease.count(1, both(100), SessionId{7});
    CHECK(lease.tied_until({8}) == both(120));
    CHECK(lease.tied_until({7}) == long_ago);
}

TEST_CASE("lease: the voters are those whose grant has not ended on either clock") {
    Lease lease(3, 2);
    lease.begin({1});
    lease.count(0, {100, 100}, no_session);
    lease.count(1, {50, 100}, no_session);
    lease.count(2, {100, 50}, no_session);
    MemberSet first;
    first.insert(0);
    CHECK(lease.voters({60, 60}) == first);
    CHECK(lease.voters({49, 49}).size() == 3);
    CHECK(lease.voters({100, 0}).empty());
}

}  // namespace
}  // namespace bullring::protocol::lease_test
