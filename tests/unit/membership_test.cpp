// Tests the membership: majorities, masks, the order on the ring, ranks.
#include "protocol/values/membership.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "protocol/values/ids.hpp"
#include "protocol/values/member_change.hpp"

namespace bullring::protocol::membership_test {
namespace {

bool is_possible(const std::vector<MemberEntry>& entries) {
    return Membership::is_possible({{1}, 0}, entries, {{1}});
}

TEST_CASE("membership: ids are sorted, whatever the order they are given in") {
    const Membership members(std::vector<NodeId>{{30}, {7}, {INT64_MAX}, {8}});
    CHECK(members.ids() == std::vector<NodeId>{{7}, {8}, {30}, {INT64_MAX}});
    CHECK(members.id(2) == NodeId{30});
}

TEST_CASE("membership: every member has its place and nobody else has one") {
    const Membership members(std::vector<NodeId>{{30}, {7}, {8}});
    CHECK(members.index({7}) == Index{0});
    CHECK(members.index({8}) == Index{1});
    CHECK(members.index({30}) == Index{2});
    for (const std::uint64_t stranger : {0U, 1U, 9U, 31U}) CHECK_FALSE(members.index({stranger}));
}

TEST_CASE("membership: two majorities always share a member") {
    for (std::size_t n = 1; n <= members_max; ++n) {
        std::vector<NodeId> ids;
        for (std::uint64_t id = 1; id <= n; ++id) ids.push_back({id});
        const Membership members(ids);
        CHECK(members.majority() == n / 2 + 1);
        CHECK(2 * members.majority() > n);
        CHECK(2 * (members.majority() - 1) <= n);
    }
}

TEST_CASE("membership: the ring goes by ascending id and wraps round") {
    const Membership members(std::vector<NodeId>{{5}, {1}, {3}});
    CHECK(members.ring_next(0) == 1);
    CHECK(members.ring_next(2) == 0);
    CHECK(members.ring_next(1, 2) == 0);
    CHECK(members.ring_next(1, 3) == 1);
}

TEST_CASE(
    "membership: a member keeps its slot when others come and go, and masks keep their meaning") {
    const Membership members(
        {{7}, 2}, {{{9}, 5, true, "i:9"}, {{4}, 0, true, ""}, {{6}, 3, false, ""}}, {{1}});
    CHECK(members.tag() == Tag{{7}, 2});
    CHECK(members.changed());
    CHECK(members.ids() == std::vector<NodeId>{{4}, {6}, {9}});
    CHECK(members.places() == 6);
    CHECK(members.id(5) == NodeId{9});
    CHECK(members.id(1) == nobody);
    CHECK(members.id(63) == nobody);
    CHECK(members.index({6}) == Index{3});
    CHECK(members.all() == MemberSet(0b101001));
    CHECK(members.voters() == MemberSet(0b100001));
    CHECK(members.find({9})->address == "i:9");
    // The ring goes by ids, over all members.
    CHECK(members.ring_next(0) == 3);
    CHECK(members.ring_next(3) == 5);
    CHECK(members.ring_next(5) == 0);
}

TEST_CASE("membership: a majority is one of the voters") {
    const Membership members(
        {}, {{{1}, 0, true, ""}, {{2}, 1, true, ""}, {{3}, 2, true, ""}, {{4}, 3, false, ""}},
        {{1}});
    CHECK(members.majority() == 2);
    CHECK(members.is_majority(MemberSet(0b0011)));
    CHECK_FALSE(members.is_majority(MemberSet(0b1001)));
    CHECK_FALSE(members.is_majority(MemberSet(0b1000)));
    CHECK_FALSE(Membership().is_majority(MemberSet(0b1)));
}

TEST_CASE("membership: no list is below every list, and a later leader's above an earlier one's") {
    const Membership founders(std::vector<NodeId>{{1}, {2}});
    CHECK(Membership().tag() < founders.tag());
    CHECK_FALSE(founders.changed());
    CHECK(Tag{{7}, 9} < Tag{{8}, 0});
    CHECK(Tag{{8}, 0} < Tag{{8}, 1});
    CHECK(to_text(Tag{{8}, 1}) == "8.1");
}

TEST_CASE("membership: what is no list of members") {
    const MemberEntry one{{1}, 0, true, ""};
    CHECK(is_possible({one}));
    CHECK_FALSE(is_possible({}));
    CHECK_FALSE(is_possible({{{1}, 0, false, ""}}));      // nobody votes
    CHECK_FALSE(is_possible({one, {{1}, 1, true, ""}}));  // an id twice
    CHECK_FALSE(is_possible({one, {{2}, 0, true, ""}}));  // a slot twice
    CHECK_FALSE(is_possible({{nobody, 0, true, ""}}));
    CHECK_FALSE(is_possible({{{1}, Index{members_max}, true, ""}}));
}

TEST_CASE("membership: founders are ids in order, and the members of a list with the first tag") {
    const std::vector<MemberEntry> two{{{1}, 0, true, ""}, {{2}, 1, false, ""}};
    const auto possible = [&](const Tag& tag, const std::vector<NodeId>& founders) {
        return Membership::is_possible(tag, two, founders);
    };
    CHECK(possible({{1}, 0}, {{7}, {9}}));
    CHECK_FALSE(possible({{1}, 0}, {}));
    CHECK_FALSE(possible({{1}, 0}, {{9}, {7}}));
    CHECK_FALSE(possible({{1}, 0}, {{7}, {7}}));
    CHECK_FALSE(possible({{1}, 0}, {nobody, {7}}));
    CHECK(possible({}, {{1}, {2}}));
    CHECK_FALSE(possible({}, {{1}}));
}

TEST_CASE("membership: every list that comes from another one has its founders") {
    using What = MemberChange::What;
    const Membership first(std::vector<NodeId>{{2}, {1}});
    const std::vector<NodeId> founders{{1}, {2}};
    CHECK(first.founders() == founders);
    const Membership grown = *with(first, {What::add, {3}, "h:3"}, {{1}, 0});
    CHECK(grown.founders() == founders);
    const Membership shrunk = *with(grown, {What::remove, {1}, {}}, {{1}, 1});
    CHECK(shrunk.founders() == founders);
    CHECK(retagged(shrunk, {{2}, 0}).founders() == founders);
    CHECK(joined(grown, shrunk).founders() == founders);
    CHECK(with_self(shrunk, {1}).founders() == founders);
    const Membership other(std::vector<NodeId>{{1}});
    CHECK(other.is_of_other_cluster_than(shrunk));
    CHECK_FALSE(first.is_of_other_cluster_than(shrunk));
    CHECK_FALSE(Membership().is_of_other_cluster_than(shrunk));
}

TEST_CASE("membership: a mask is a set, however often a member is put in") {
    CHECK(rc::check("MemberSet behaves as std::set", [] {
        MemberSet mask;
        std::set<Index> set;
        const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 128));
        for (const int step : steps) {
            const auto member = static_cast<Index>(step % 64);
            if (step < 64) {
                mask.insert(member);
                set.insert(member);
            } else {
                mask.erase(member);
                set.erase(member);
            }
        }
        RC_ASSERT(mask.size() == set.size());
        RC_ASSERT(mask.empty() == set.empty());
        for (int i = 0; i < 64; ++i)
            RC_ASSERT(mask.contains(static_cast<Index>(i)) == set.contains(static_cast<Index>(i)));
    }));
}

TEST_CASE("membership: rank is the priority first and the id only among equals") {
    CHECK(Rank{{1}, {1}} > Rank{{0}, {9}});
    CHECK(Rank{{0}, {2}} > Rank{{0}, {1}});
    CHECK(Rank{{-1}, {9}} < Rank{{0}, {1}});
    CHECK(Rank{Priority::never(), {9}} < Rank{{-1000}, {1}});
}

}  // namespace
}  // namespace bullring::protocol::membership_test
