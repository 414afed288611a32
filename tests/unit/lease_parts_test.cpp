// Voter and holder, each alone.
#include <vector>

#include <doctest/doctest.h>

#include "protocol/lease/holder.hpp"
#include "protocol/lease/voter.hpp"

namespace bullring::protocol::lease_parts_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant{} + milliseconds(ms); }

Membership list_of(std::uint64_t members) {
    std::vector<NodeId> ids;
    for (std::uint64_t id = 1; id <= members; ++id) ids.push_back({id});
    return Membership(ids);
}

AcceptedSession session(std::uint64_t id, Index peer) {
    AcceptedSession made;
    made.id = {id};
    made.peer = peer;
    made.incarnation = {peer + 100U};
    return made;
}
Coordinator request(std::uint64_t epoch) { return {{epoch}, milliseconds(10), at(0), false, true}; }
PromiseRequest promise_to(std::uint64_t id, std::uint64_t epoch, std::uint64_t session) {
    return {{{id}, {id + 100}}, {epoch}, false, milliseconds(10), {session}};
}

TEST_CASE("voter: the request for the highest epoch is parked, the newest of those") {
    Voter voter(Epoch{});
    voter.grant(promise_to(1, 1, 9), at(0));
    CHECK(voter.park(session(1, 1), request(5), at(0)));
    CHECK_FALSE(voter.park(session(2, 2), request(4), at(0)));
    CHECK(voter.park(session(3, 2), request(5), at(1)));
    CHECK_FALSE(voter.take_parked(at(9), milliseconds(50)));  // the promise lives
    const auto taken = voter.take_parked(at(10), milliseconds(50));
    REQUIRE(taken);
    CHECK(taken->from.id == SessionId{3});
    CHECK_FALSE(voter.take_parked(at(10), milliseconds(50)));
}

TEST_CASE("voter: a parked request is forgotten when its patience, session or candidacy is over") {
    const auto parked = [] {
        Voter voter(Epoch{});
        voter.grant(promise_to(1, 1, 9), at(0));
        voter.park(session(3, 2), request(5), at(0));
        return voter;
    };
    Voter late = parked();
    CHECK_FALSE(late.take_parked(at(50), milliseconds(50)));
    Voter ended = parked();
    ended.on_session_ended(session(3, 2), false, at(1));
    CHECK_FALSE(ended.take_parked(at(20), milliseconds(50)));
    Voter resigned = parked();
    CHECK_FALSE(resigned.on_resigned(session(3, 2), {{2}, {102}}, {5}));
    CHECK_FALSE(resigned.take_parked(at(20), milliseconds(50)));
    Voter other = parked();
    other.on_session_ended(session(4, 2), false, at(1));
    other.on_resigned(session(3, 2), {{2}, {102}}, {4});
    CHECK(other.take_parked(at(20), milliseconds(50)));
}

TEST_CASE("voter: of each peer the newest request waits for the disk") {
    Voter voter(Epoch{});
    voter.wait_for_disk(session(1, 1), request(5), at(0));
    voter.wait_for_disk(session(2, 2), request(6), at(0));
    voter.wait_for_disk(session(1, 1), request(7), at(1));
    const std::vector<PendingRequest> waiting = voter.take_waiting();
    REQUIRE(waiting.size() == 2);
    CHECK(waiting[0].request.epoch == Epoch{6});
    CHECK(waiting[1].request.epoch == Epoch{7});
    CHECK(voter.take_waiting().empty());
}

TEST_CASE("voter: only a FIN that may release it ends the promise, and the longest is remembered") {
    Voter voter(Epoch{});
    voter.grant(promise_to(1, 1, 9), at(0));
    voter.on_session_ended(session(9, 0), false, at(1));
    CHECK(voter.promise().live(at(1)));
    voter.on_session_ended(session(8, 0), true, at(1));
    CHECK(voter.promise().live(at(1)));
    voter.on_session_ended(session(9, 0), true, at(1));
    CHECK_FALSE(voter.promise().live(at(1)));
    CHECK(voter.longest_given() == milliseconds(10));
}

TEST_CASE("holder: it cannot win any more when no majority is left that has not refused") {
    Holder holder;
    holder.begin({1}, list_of(5), at(100));
    holder.count(0, at(50), no_session, {});
    holder.refuse(1, milliseconds(7));
    holder.refuse(2, milliseconds(9));
    CHECK_FALSE(holder.cannot_win_any_more());
    // Two have not answered: it need not wait for those that have refused.
    CHECK(holder.wait_until_quorum_free(at(0), seconds(10)) == Duration{0});
    holder.refuse(3, milliseconds(3));
    CHECK(holder.cannot_win_any_more());
    CHECK(holder.wait_until_quorum_free(at(0), seconds(10)) == milliseconds(3));
    // A grant takes a refusal back.
    Holder granted = holder;
    granted.count(3, at(50), no_session, {});
    CHECK_FALSE(granted.cannot_win_any_more());
    holder.refuse(4, seconds(60));
    CHECK(holder.wait_until_quorum_free(at(0), seconds(10)) == milliseconds(7));
}

TEST_CASE("holder: a new candidacy has neither grants nor refusals of the last one") {
    Holder holder;
    holder.begin({1}, list_of(3), at(100));
    holder.count(0, at(50), no_session, {});
    holder.refuse(1, seconds(1));
    holder.refuse(2, seconds(1));
    holder.end();
    CHECK(holder.candidate_until() == never);
    holder.begin({2}, list_of(3), at(200));
    CHECK_FALSE(holder.cannot_win_any_more());
    CHECK(holder.lease().voters(at(0)).empty());
    CHECK(holder.candidate_until() == at(200));
    holder.win(at(3));
    CHECK(holder.next_renewal() == at(3));
}

// R4.5, C5.6
TEST_CASE(
    "holder: an end of untied grants counts for a new list as long as somebody asks for them") {
    Holder holder;
    holder.begin({1}, list_of(1), at(100));
    const Membership two({{1}, 1}, {{{1}, 0, true, ""}, {{2}, 1, true, ""}}, {{1}});
    holder.propose(two, at(0));
    const auto granted = [&](std::int64_t until, SessionId by_2) {
        holder.count(0, at(until), no_session, *two.tag());
        holder.count(1, at(until), by_2, *two.tag());
    };
    granted(50, SessionId{7});
    CHECK(Holder(holder).settle_if_held(at(1)));
    Holder asked = holder;
    asked.set_tied(false);
    CHECK_FALSE(Holder(asked).settle_if_held(at(1)));
    asked.set_tied(true);
    CHECK_FALSE(Holder(asked).settle_if_held(at(1)));
    CHECK(Holder(asked).settle_if_held(at(51)));
    asked.count(1, at(50), no_session, *two.tag());
    CHECK(asked.settle_if_held(at(1)));
    CHECK(asked.base() == two);
}

}  // namespace
}  // namespace bullring::protocol::lease_parts_test
