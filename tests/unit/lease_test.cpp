// The holder's arithmetic (R3): votes by voter, and D as the q-th largest end.
#include "protocol/lease/lease.hpp"

#include <algorithm>
#include <functional>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace bullring::protocol::lease_test {
namespace {

Instant both(std::int64_t at) { return {at, at}; }

/// The list with that tag, in which the first so many have a vote.
Membership list_of(std::size_t members, std::size_t voters, Tag tag = {}) {
    std::vector<MemberEntry> entries;
    for (std::size_t i = 0; i < members; ++i)
        entries.push_back({NodeId{i + 1}, static_cast<Index>(i), i < voters, ""});
    std::vector<NodeId> founders = ids_of(entries);
    return {tag, std::move(entries), std::move(founders)};
}

Lease lease_of(std::size_t members) {
    Lease lease;
    lease.begin({1}, list_of(members, members));
    return lease;
}

bool count(Lease& lease, std::size_t voter, Instant end, SessionId tied = no_session,
           Tag tag = {}) {
    return lease.count(static_cast<Index>(voter), end, tied, tag);
}

Lease lease_with(std::size_t members, const std::vector<std::int64_t>& ends) {
    Lease lease = lease_of(members);
    for (std::size_t i = 0; i < ends.size(); ++i) count(lease, i, both(ends[i]));
    return lease;
}

std::int64_t dumb_nth_largest(std::vector<std::int64_t> ends, std::size_t nth) {
    std::sort(ends.begin(), ends.end(), std::greater<>());
    return ends[nth - 1];
}

TEST_CASE("lease: with fewer voters than a majority there is no lease") {
    Lease lease = lease_of(5);
    CHECK(lease.deadline() == long_ago);
    count(lease, 0, both(100));
    count(lease, 1, both(100));
    CHECK(lease.deadline() == long_ago);
    count(lease, 2, both(100));
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
    Lease lease = lease_of(5);
    count(lease, 0, both(500));
    count(lease, 1, both(400), session);
    count(lease, 2, both(300));
    CHECK(lease.deadline() == both(300));
    CHECK(lease.untied_deadline() == long_ago);
    count(lease, 3, both(200));
    CHECK(lease.deadline() == both(300));
    CHECK(lease.untied_deadline() == both(200));
    count(lease, 0, both(600), session);
    CHECK(lease.untied_deadline() == both(200));
    count(lease, 2, both(700));
    CHECK(lease.untied_deadline() == both(200));
    count(lease, 3, both(700));
    CHECK(lease.untied_deadline() == both(500));
    lease.end();
    CHECK(lease.untied_deadline() == long_ago);
}

// R8.3, C5.3
TEST_CASE("lease: D is the q-th largest end of the voters, clock by clock") {
    CHECK(rc::check("deadline() == sorted ends [q-1] for each clock", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 65);
        const auto voters = *rc::gen::inRange<std::size_t>(1, members + 1);
        const std::size_t q = voters / 2 + 1;
        Lease lease;
        lease.begin({1}, list_of(members, voters));
        std::vector<std::int64_t> boottime(voters, long_ago.boottime_ns);
        std::vector<std::int64_t> raw(voters, long_ago.raw_ns);
        const auto grants = *rc::gen::inRange(0, 200);
        for (int i = 0; i < grants; ++i) {
            const auto voter = *rc::gen::inRange<std::size_t>(0, members);
            const Instant end{*rc::gen::inRange(0, 1000), *rc::gen::inRange(0, 1000)};
            count(lease, voter, end);
            if (voter >= voters) continue;
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
        Lease lease = lease_of(members);
        const auto grants = *rc::gen::inRange(0, 20);
        Instant stamp{0, 0};
        for (int i = 0; i < grants; ++i) {
            // The holder's own clocks only go forward, each at its own pace.
            stamp = {stamp.boottime_ns + *rc::gen::inRange(0, 9),
                     stamp.raw_ns + *rc::gen::inRange(0, 9)};
            count(lease, *rc::gen::inRange<std::size_t>(0, members), stamp + Duration{50});
        }
        const Instant now{*rc::gen::inRange(0, 200), *rc::gen::inRange(0, 200)};
        if (lease_valid(now, lease.deadline())) RC_ASSERT(lease.voters(now).size() >= q);
    }));
}

// R3.7
TEST_CASE("lease: the same voter counts once, however many messages it sends") {
    Lease lease = lease_of(3);
    for (int i = 0; i < 100; ++i) count(lease, 1, both(100 + i));
    CHECK(lease.deadline() == long_ago);
    CHECK(lease.voters(both(0)).size() == 1);
}

TEST_CASE("lease: the order in which grants arrive makes no difference") {
    CHECK(rc::check("any permutation of grants gives the same deadline", [] {
        auto grants = *rc::gen::container<std::vector<std::pair<int, int>>>(
            rc::gen::pair(rc::gen::inRange(0, 5), rc::gen::inRange(0, 100)));
        const auto deadline = [&] {
            Lease lease = lease_of(5);
            for (const auto& [voter, end] : grants)
                count(lease, static_cast<std::size_t>(voter), both(end));
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
    count(lease, 1, both(150));
    CHECK(lease.deadline() == both(200));
}

TEST_CASE("lease: a new candidacy starts without the votes of the one before") {
    Lease lease = lease_with(3, {200, 200, 200});
    lease.begin({2}, list_of(3, 3));
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
    Lease lease = lease_of(3);
    count(lease, 1, both(100), SessionId{7});
    CHECK(lease.tied_until({7}) == both(100));
    CHECK(lease.tied_until({8}) == long_ago);
    count(lease, 1, both(120), SessionId{8});
    CHECK(lease.tied_until({7}) == long_ago);
    CHECK(lease.tied_until({8}) == both(120));
}

TEST_CASE("lease: an older grant on another session does not move the tie") {
    Lease lease = lease_of(3);
    count(lease, 1, both(120), SessionId{8});
    count(lease, 1, both(100), SessionId{7});
    CHECK(lease.tied_until({8}) == both(120));
    CHECK(lease.tied_until({7}) == long_ago);
}

TEST_CASE("lease: the voters are those whose grant has not ended on either clock") {
    Lease lease = lease_of(3);
    count(lease, 0, {100, 100});
    count(lease, 1, {50, 100});
    count(lease, 2, {100, 50});
    MemberSet first;
    first.insert(0);
    CHECK(lease.voters({60, 60}) == first);
    CHECK(lease.voters({49, 49}).size() == 3);
    CHECK(lease.voters({100, 0}).empty());
}

// ---- Two lists: that which decides, and the one that is to follow it.

constexpr Tag old_tag{};
constexpr Tag new_tag{{1}, 1};

/// Held until 100 by both voters of two; a third is to have a vote.
Lease growing() {
    Lease lease;
    lease.begin({1}, list_of(3, 2));
    count(lease, 0, both(100));
    count(lease, 1, both(100));
    lease.propose(list_of(3, 3, new_tag));
    return lease;
}

// C5.1
TEST_CASE(
    "lease: while a list is under way the one before decides, and only what knows it settles it") {
    Lease lease = growing();
    CHECK(count(lease, 2, both(200), no_session, old_tag));
    CHECK(count(lease, 0, both(200), no_session, new_tag));
    CHECK(lease.deadline() == both(100));
    CHECK(lease.next()->deadline() == long_ago);
    CHECK_FALSE(lease.next_holds(both(50), long_ago));
    CHECK(count(lease, 1, both(200), no_session, old_tag));
    CHECK(lease.deadline() == both(200));
    CHECK_FALSE(lease.next_holds(both(50), long_ago));
}

TEST_CASE("lease: a grant under any other list is not counted") {
    Lease lease = growing();
    CHECK_FALSE(count(lease, 0, both(300), no_session, {{1}, 2}));
    CHECK_FALSE(count(lease, 1, both(300), no_session, {{0}, 9}));
    CHECK(lease.deadline() == both(100));
    CHECK(lease.counted_until(0) == both(100));
}

// C5.2
TEST_CASE(
    "lease: the next list decides when its majority lasts as long as that of the one before") {
    Lease lease = growing();
    count(lease, 0, both(90), no_session, new_tag);
    count(lease, 2, both(90), no_session, new_tag);
    CHECK_FALSE(lease.next_holds(both(50), long_ago));
    count(lease, 0, {100, 99}, no_session, new_tag);
    count(lease, 2, {100, 100}, no_session, new_tag);
    CHECK_FALSE(lease.next_holds(both(50), long_ago));
    count(lease, 0, both(100), no_session, new_tag);
    REQUIRE(lease.next_holds(both(50), long_ago));
    lease.settle();
    CHECK(lease.base().tag() == new_tag);
    CHECK_FALSE(lease.next());
    CHECK(lease.deadline() == both(100));
    // Of node 2 nothing is known under this list.
    CHECK(lease.counted_until(1) == long_ago);
    CHECK_FALSE(count(lease, 1, both(300), no_session, old_tag));
}

// C5.2, R4.5
TEST_CASE("lease: an end of untied grants that somebody relies on is kept") {
    const SessionId session{9};
    Lease lease = growing();
    count(lease, 0, both(100), session, new_tag);
    count(lease, 2, both(100), session, new_tag);
    CHECK(lease.next_holds(both(50), long_ago));
    CHECK_FALSE(lease.next_holds(both(50), both(100)));
    // It is over.
    CHECK(lease.next_holds(both(101), both(100)));
    count(lease, 0, both(120), no_session, new_tag);
    count(lease, 2, both(120), no_session, new_tag);
    CHECK(lease.next_holds(both(50), both(100)));
}

TEST_CASE("lease: a list that takes the place of another one under way begins without its grants") {
    Lease lease = growing();
    count(lease, 0, both(200), no_session, new_tag);
    count(lease, 2, both(200), no_session, new_tag);
    lease.propose(list_of(3, 2, {{1}, 2}));
    CHECK_FALSE(lease.next_holds(both(50), long_ago));
    CHECK_FALSE(count(lease, 1, both(200), no_session, new_tag));
    CHECK(lease.counted_until(2) == both(200));
}

// C5.2
TEST_CASE("lease: D never falls, whatever is granted and whenever lists are settled") {
    CHECK(rc::check("deadline() after count() and settle() is not before the one before", [] {
        const auto members = *rc::gen::inRange<std::size_t>(1, 7);
        Lease lease;
        lease.begin({1}, list_of(members, members));
        std::uint32_t version = 0;
        for (int i = 0; i < 60; ++i) {
            const Instant before = lease.deadline();
            const auto voter = *rc::gen::inRange<std::size_t>(0, members);
            const Instant end{*rc::gen::inRange(0, 50), *rc::gen::inRange(0, 50)};
            const bool knows = lease.next() && *rc::gen::inRange(0, 2) == 1;
            count(lease, voter, end, no_session,
                  knows ? *lease.next()->list().tag() : *lease.base().tag());
            if (lease.next_holds({0, 0}, long_ago)) lease.settle();
            if (!lease.next() && *rc::gen::inRange(0, 4) == 0) {
                const auto voters = *rc::gen::inRange<std::size_t>(1, members + 1);
                lease.propose(list_of(members, voters, {{1}, ++version}));
            }
            RC_ASSERT(later(before, lease.deadline()) == lease.deadline());
        }
    }));
}

}  // namespace
}  // namespace bullring::protocol::lease_test
