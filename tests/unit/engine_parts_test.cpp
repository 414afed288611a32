// The parts of the lease engine, each alone: reserve, voter, holder, recovery.
#include <vector>

#include <doctest/doctest.h>

#include "protocol/lease/holder.hpp"
#include "protocol/lease/voter.hpp"
#include "protocol/recovery/recovery.hpp"
#include "protocol/recovery/reserve.hpp"
#include "tests/support/node_fixture.hpp"

namespace bullring::protocol::engine_parts_test {
namespace {

using test::only;

constexpr Instant at(std::int64_t ms) { return Instant{} + milliseconds(ms); }

Membership list_of(std::uint64_t members) {
    std::vector<NodeId> ids;
    for (std::uint64_t id = 1; id <= members; ++id) ids.push_back({id});
    return Membership(ids);
}

TEST_CASE(
    "reserve: what is being written covers nothing yet, and what it lowers nothing any more") {
    std::vector<Action> out;
    Step step{at(0), out};
    Reserve reserve(Durable{{100}, milliseconds(50)}, false);
    CHECK(reserve.covers({100}, milliseconds(50)));
    CHECK_FALSE(reserve.covers({101}, milliseconds(50)));
    CHECK_FALSE(reserve.covers({100}, milliseconds(51)));

    reserve.want({200}, milliseconds(80));
    reserve.write(step);
    CHECK(reserve.writing());
    CHECK_FALSE(reserve.covers({101}, milliseconds(50)));
    CHECK_FALSE(reserve.covers({100}, milliseconds(80)));
    CHECK(reserve.promised_max() == milliseconds(80));
    reserve.on_persisted({{200}, milliseconds(80)});
    CHECK(reserve.covers({200}, milliseconds(80)));

    reserve.lower_promised_max(milliseconds(60));
    reserve.write(step);
    CHECK(reserve.covers({200}, milliseconds(60)));
    CHECK_FALSE(reserve.covers({200}, milliseconds(80)));
    CHECK(only<Persist>(out) ==
          std::vector<Persist>{{{{200}, milliseconds(80)}}, {{{200}, milliseconds(60)}}});
}

TEST_CASE("reserve: one write at a time, and the next has all that was wanted meanwhile") {
    std::vector<Action> out;
    Step step{at(0), out};
    Reserve reserve(std::nullopt, false);
    CHECK(reserve.all_written());
    reserve.want({10}, {});
    reserve.write(step);
    reserve.want({20}, {});
    reserve.want({15}, milliseconds(5));
    reserve.write(step);
    CHECK(only<Persist>(out).size() == 1);
    CHECK_FALSE(reserve.all_written());
    reserve.on_persisted({{10}, {}});
    reserve.write(step);
    REQUIRE(only<Persist>(out).size() == 2);
    CHECK(only<Persist>(out)[1].durable == Durable{{20}, milliseconds(5)});
    reserve.on_persisted({{20}, milliseconds(5)});
    CHECK(reserve.all_written());
}

TEST_CASE("reserve: it is filled up when little is left, and only then") {
    Reserve reserve(Durable{{5000}, {}}, false);
    reserve.keep_ahead_of({5000 - Reserve::low});
    CHECK(reserve.all_written());
    reserve.keep_ahead_of({5001 - Reserve::low});
    std::vector<Action> out;
    Step step{at(0), out};
    reserve.write(step);
    REQUIRE(only<Persist>(out).size() == 1);
    CHECK(only<Persist>(out)[0].durable.hw == Epoch{5001 - Reserve::low + Reserve::ahead});
}

// R7.3
TEST_CASE("reserve: it grows as long as epochs outrun the disk") {
    Reserve reserve(Durable{{5000}, {}}, false);
    std::vector<Action> out;
    Step step{at(0), out};
    // Each write takes as long as 2,000 epochs do.
    std::uint64_t seen = 5000;
    bool covered = false;
    for (int writes = 0; writes < 4 && !covered; ++writes) {
        reserve.keep_ahead_of({seen});
        reserve.write(step);
        seen += 2000;
        reserve.keep_ahead_of({seen});
        reserve.on_persisted(only<Persist>(out).back().durable);
        covered = reserve.covers({seen + 1}, {});
    }
    CHECK(covered);
}

// R7.3
TEST_CASE("reserve: it shrinks again when writes are quick, and never outgrows what R9 follows") {
    Reserve reserve(Durable{{5000}, {}}, false);
    std::vector<Action> out;
    Step step{at(0), out};
    Epoch seen{5000};
    for (int i = 0; i < 40; ++i) {  // each epoch far above the last, while a write is under way
        reserve.keep_ahead_of(seen);
        reserve.write(step);
        seen = seen + (std::uint64_t{1} << 31U);
        reserve.keep_ahead_of(seen);
        reserve.on_persisted(only<Persist>(out).back().durable);
    }
    CHECK(reserve.ahead_of(seen) == seen + Reserve::ahead_max);
    for (int i = 0; i < 40; ++i) {
        reserve.want(reserve.ahead_of(seen), {});
        reserve.write(step);
        reserve.on_persisted(only<Persist>(out).back().durable);
        seen = seen + Reserve::ahead_max;
    }
    CHECK(reserve.ahead_of(seen) == seen + Reserve::ahead);
}

TEST_CASE("reserve: a clean stop may write less than is reserved") {
    Reserve reserve(Durable{{5000}, {}}, false);
    reserve.want_exactly({4100});
    std::vector<Action> out;
    Step step{at(0), out};
    reserve.write(step);
    REQUIRE(only<Persist>(out).size() == 1);
    CHECK(only<Persist>(out)[0].durable.hw == Epoch{4100});
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

// C5.2, R4.5
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

/// One node's knowledge of four others.
struct Restart {
    explicit Restart(bool with_file)
        : config(test::config_for(5, {1, 2, 3, 4, 5})),
          start(with_file ? test::start_with_file(config) : test::start_without_file(config)),
          setup(config, start),
          peers(setup),
          recovery(setup, start) {}

    void answers(Index peer, bool had_file, Duration promised_max, Duration lease) {
        peers[peer].has_ack = true;
        peers[peer].ack.had_file_at_start = had_file;
        peers[peer].ack.promised_max = promised_max;
        peers[peer].ack.lease = lease;
    }
    Duration silence(Duration after = {}) const {
        const Recovery::Silence silence = recovery.silence(start.now + after, peers);
        return silence.known ? elapsed(start.now, silence.until) : forever;
    }
    Duration own() const { return config.timing.promise(config.timing.lease); }

    Config config;
    Start start;
    Setup setup;
    Peers peers;
    Recovery recovery;
};

TEST_CASE("recovery: with a file the silence is what the file says, or its own promise") {
    Restart restart(true);
    CHECK(restart.silence() == std::max(restart.start.file->promised_max, restart.own()));
    restart.answers(0, true, seconds(9), seconds(9));
    CHECK(restart.silence() == std::max(restart.start.file->promised_max, restart.own()));
}

TEST_CASE("recovery: without a file it lasts as long as those that know may have promised") {
    Restart restart(false);
    CHECK(restart.silence() == forever);
    restart.answers(0, true, seconds(3), milliseconds(400));
    restart.answers(1, true, seconds(2), milliseconds(400));
    CHECK(restart.silence() == forever);
    restart.answers(2, true, seconds(1), milliseconds(400));
    CHECK(restart.silence() == seconds(3));
    CHECK_FALSE(restart.recovery.floor_from_clock(restart.peers, false));
    // Asked again, nobody has answered yet.
    CHECK(restart.recovery.floor_from_clock(restart.peers, true));
}

TEST_CASE("recovery: nobody's word makes it longer than the longest promise") {
    Restart restart(false);
    for (const Index i : restart.setup.others())
        restart.answers(i, true, seconds(3600), seconds(3600));
    CHECK(restart.silence() == restart.setup.longest_promise());
}

TEST_CASE("recovery: who is alone and has no file waits for bootstrap-wait, then the longest") {
    Restart restart(false);
    CHECK(restart.silence(restart.config.bootstrap_wait - Duration{1}) == forever);
    CHECK(restart.silence(restart.config.bootstrap_wait) == restart.setup.longest_promise());
}

TEST_CASE("recovery: first-epoch 0 is for a cluster in which nobody had a file") {
    Restart restart(false);
    restart.config.first_epoch = FirstEpoch::zero;
    const Setup setup(restart.config, restart.start);
    const Recovery recovery(setup, restart.start);
    for (const Index i : setup.others()) restart.answers(i, false, {}, milliseconds(400));
    CHECK_FALSE(recovery.floor_from_clock(restart.peers, false));
    restart.answers(0, true, {}, milliseconds(400));
    CHECK(recovery.floor_from_clock(restart.peers, false));
}

}  // namespace
}  // namespace bullring::protocol::engine_parts_test
