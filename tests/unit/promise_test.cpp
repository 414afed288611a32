// The voter's arithmetic (R2, R4, R5): one promise at a time, whatever is asked and in which order.
#include "protocol/lease/promise.hpp"

#include <algorithm>
#include <optional>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace bullring::protocol::promise_test {
namespace {

constexpr HolderKey anna{{1}, {11}};
constexpr HolderKey anna_again{{1}, {12}};  // the same id, another run
constexpr HolderKey berta{{2}, {21}};
constexpr SessionId first{101};
constexpr SessionId second{102};

Instant at(std::int64_t time) { return {time, time}; }

PromiseRequest ask(HolderKey key, std::uint64_t epoch, bool renew = false,
                   SessionId session = first, std::int64_t length = 100) {
    return {key, {epoch}, renew, {length}, session};
}

Promise granted(const PromiseRequest& request, std::int64_t now = 0) {
    Promise promise;
    promise.grant(request, at(now));
    return promise;
}

TEST_CASE("promise: nothing is promised at the start and only epochs above the floor are given") {
    const Promise promise(Epoch{10});
    CHECK_FALSE(promise.live(at(0)));
    CHECK(promise.judge(ask(anna, 10), at(0)) == PromiseVerdict::stale);
    CHECK(promise.judge(ask(anna, 11), at(0)) == PromiseVerdict::acceptable);
}

TEST_CASE("promise: it is live until both clocks have passed its end") {
    Promise promise;
    promise.grant(ask(anna, 1), Instant{0, 50});
    CHECK(promise.end() == Instant{100, 150});
    CHECK(promise.live({100, 149}));
    CHECK(promise.live({99, 150}));
    CHECK_FALSE(promise.live({100, 150}));
}

// ---- The table of R2's conditions that lie in the promise: every combination.

struct Row {
    bool same_key;
    bool live;
    int epoch;  // against rec.epoch: lower, equal, between it and vmax, above vmax
    bool dead;
    bool renew;
    PromiseVerdict expected;
};

/// R2 as PROTOCOL §5 words it, and nothing else.
PromiseVerdict rule(const Row& row) {
    if (row.live && !row.same_key) return PromiseVerdict::busy;
    const bool equal = row.epoch == 5;
    const bool lower = row.epoch < 5;
    const bool above_vmax = row.epoch > 8;
    const bool same_grant = row.same_key && equal && !row.dead;
    const bool renewal = row.renew && !(row.same_key && (lower || (equal && row.dead)));
    return same_grant || above_vmax || renewal ? PromiseVerdict::acceptable : PromiseVerdict::stale;
}

/// rec = {anna, 5}, vmax = 8 (the floor of its own candidacies), live or over, dead or not.
Promise promise_of(const Row& row) {
    Promise promise = granted(ask(anna, 5), 0);
    promise.raise_floor({8});
    if (row.dead) promise.release_resigned(anna, {5});
    return promise;
}

TEST_CASE("promise: every row of R2's conditions gives what the rule says") {
    int rows = 0;
    for (const bool same_key : {false, true})
        for (const bool live : {false, true})
            for (const int epoch : {4, 5, 6, 8, 9})
                for (const bool dead : {false, true})
                    for (const bool renew : {false, true}) {
                        if (dead && live) continue;  // a resigned promise is over: cannot be
                        const Row row{same_key, live, epoch, dead, renew, {}};
                        const PromiseRequest request =
                            ask(same_key ? anna : berta, static_cast<std::uint64_t>(epoch), renew);
                        CAPTURE(same_key);
                        CAPTURE(live);
                        CAPTURE(epoch);
                        CAPTURE(dead);
                        CAPTURE(renew);
                        CHECK(promise_of(row).judge(request, at(live ? 50 : 150)) == rule(row));
                        ++rows;
                    }
    CHECK(rows == 60);
}

// R2.5
TEST_CASE("promise: the rows of R2 that others have got wrong, spelt out") {
    const std::vector<Row> rows{
        // A duplicate of the granted request is granted again, live or not.
        {true, true, 5, false, false, PromiseVerdict::acceptable},
        {true, false, 5, false, false, PromiseVerdict::acceptable},
        // A candidacy is never below vmax, a renewal may be.
        {false, false, 8, false, false, PromiseVerdict::stale},
        {false, false, 8, false, true, PromiseVerdict::acceptable},
        {false, false, 4, false, true, PromiseVerdict::acceptable},
        {true, true, 6, false, false, PromiseVerdict::stale},
        {true, true, 6, false, true, PromiseVerdict::acceptable},
        // For one key the epoch never falls, and a resigned epoch stays dead.
        {true, false, 4, false, true, PromiseVerdict::stale},
        {true, false, 5, true, true, PromiseVerdict::stale},
        {true, false, 5, true, false, PromiseVerdict::stale},
        // A live promise is not broken by any epoch.
        {false, true, 9, false, false, PromiseVerdict::busy},
        {false, true, 9, false, true, PromiseVerdict::busy},
    };
    for (const Row& row : rows) {
        CAPTURE(row.epoch);
        CAPTURE(row.renew);
        const PromiseRequest request =
            ask(row.same_key ? anna : berta, static_cast<std::uint64_t>(row.epoch), row.renew);
        CHECK(promise_of(row).judge(request, at(row.live ? 50 : 150)) == row.expected);
    }
}

TEST_CASE("promise: another run of the same id is another holder") {
    const Promise promise = granted(ask(anna, 5));
    CHECK(promise.judge(ask(anna_again, 9, true), at(50)) == PromiseVerdict::busy);
    CHECK(promise.judge(ask(anna_again, 5, true), at(150)) == PromiseVerdict::acceptable);
}

// ---- exp and fl.

// R2.7
TEST_CASE("promise: a later request on the same session never shortens it") {
    Promise promise = granted(ask(anna, 5, false, first, 100));
    promise.grant(ask(anna, 5, true, first, 10), at(50));
    CHECK(promise.end() == at(100));
    promise.grant(ask(anna, 5, true, first, 100), at(60));
    CHECK(promise.end() == at(160));
}

// R2.7
TEST_CASE("promise: on another session the old end stays, without being tied to either session") {
    Promise promise = granted(ask(anna, 5, true, first, 100));
    promise.grant(ask(anna, 5, true, second, 10), at(50));
    CHECK(promise.end() == at(100));
    CHECK_FALSE(promise.release_session(first, at(51)));
    CHECK(promise.end() == at(100));
    CHECK(promise.release_session(second, at(51)));
    CHECK(promise.live(at(99)));
    CHECK_FALSE(promise.live(at(100)));
}

TEST_CASE("promise: FIN of the tied session releases it at once") {
    Promise promise = granted(ask(anna, 5, true, first, 100));
    CHECK(promise.release_session(first, at(10)));
    CHECK_FALSE(promise.live(at(10)));
}

TEST_CASE("promise: FIN of any other session releases nothing") {
    Promise promise = granted(ask(anna, 5, true, first, 100));
    CHECK_FALSE(promise.release_session(second, at(10)));
    CHECK(promise.live(at(99)));
}

TEST_CASE("promise: an untied promise is released by no session, not even by no_session") {
    Promise promise = granted(ask(anna, 5, true, no_session, 100));
    CHECK_FALSE(promise.release_session(first, at(10)));
    CHECK_FALSE(promise.release_session(no_session, at(10)));
    CHECK(promise.live(at(99)));
}

TEST_CASE("promise: a new grant after the end does not bring an old untied part back") {
    Promise promise = granted(ask(anna, 5, true, first, 100));
    promise.grant(ask(anna, 5, true, second, 100), at(50));
    promise.grant(ask(anna, 5, true, second, 100), at(200));
    CHECK(promise.release_session(second, at(201)));
    CHECK_FALSE(promise.live(at(201)));
}

// ---- RESIGN.

TEST_CASE("promise: RESIGN of the promised epoch ends all of it, on whichever session it was") {
    Promise promise = granted(ask(anna, 5, true, first, 100));
    promise.grant(ask(anna, 5, true, second, 100), at(50));
    CHECK(promise.release_resigned(anna, {5}));
    CHECK_FALSE(promise.live(at(51)));
}

TEST_CASE("promise: RESIGN of another epoch or of another run has no effect") {
    const Promise before = granted(ask(anna, 5, true));
    for (const std::uint64_t epoch : {4U, 6U}) {
        Promise promise = before;
        CHECK_FALSE(promise.release_resigned(anna, {epoch}));
        CHECK(promise == before);
    }
    Promise promise = before;
    CHECK_FALSE(promise.release_resigned(anna_again, {5}));
    CHECK_FALSE(promise.release_resigned(berta, {5}));
    CHECK(promise == before);
}

TEST_CASE("promise: a delayed renewal of the holder's previous epoch cannot wipe its current one") {
    Promise promise = granted(ask(anna, 5, true));
    promise.grant(ask(anna, 7, true), at(10));
    REQUIRE(promise.judge(ask(anna, 5, true), at(20)) == PromiseVerdict::stale);
    CHECK_FALSE(promise.release_resigned(anna, {5}));
    CHECK(promise.epoch() == Epoch{7});
    CHECK(promise.live(at(20)));
}

TEST_CASE("promise: a resigned epoch stays dead until its holder has a higher one") {
    Promise promise = granted(ask(anna, 5));
    promise.release_resigned(anna, {5});
    CHECK(promise.judge(ask(anna, 5, true), at(10)) == PromiseVerdict::stale);
    promise.grant(ask(anna, 6), at(10));
    CHECK(promise.judge(ask(anna, 6, true), at(20)) == PromiseVerdict::acceptable);
}

// ---- vmax.

// R2.7
TEST_CASE("promise: a renewal below vmax does not lower it") {
    Promise promise(Epoch{10});
    promise.grant(ask(anna, 5, true), at(0));
    CHECK(promise.vmax() == Epoch{10});
    CHECK(promise.judge(ask(berta, 10), at(150)) == PromiseVerdict::stale);
}

TEST_CASE("promise: only a renewal makes its holder a leader") {
    CHECK_FALSE(granted(ask(anna, 5, false)).to_leader());
    CHECK(granted(ask(anna, 5, true)).to_leader());
}

/// The model of a promise: every grant ever given, instead of two instants.
class DumbPromise {
public:
    bool live_to_other(HolderKey key, std::int64_t now) const {
        return std::any_of(given_.begin(), given_.end(),
                           [&](const Given& g) { return g.key != key && g.until > now; });
    }
    bool live(std::int64_t now) const {
        return std::any_of(given_.begin(), given_.end(),
                           [&](const Given& g) { return g.until > now; });
    }
    void grant(const PromiseRequest& request, std::int64_t now) {
        given_.push_back({request.key, request.epoch, request.session, now + request.length.ns});
        if (request.epoch > vmax_) vmax_ = request.epoch;
    }
    void resign(HolderKey key, Epoch epoch) {
        std::erase_if(given_, [&](const Given& g) { return g.key == key && g.epoch <= epoch; });
    }
    Epoch vmax() const { return vmax_; }

private:
    struct Given {
        HolderKey key;
        Epoch epoch;
        SessionId session;
        std::int64_t until;
    };
    std::vector<Given> given_;
    Epoch vmax_;
};

TEST_CASE("promise: whatever happens, two holders are never promised to at once") {
    CHECK(rc::check("no grant while any earlier, unreleased grant to another key lasts", [] {
        Promise promise;
        DumbPromise dumb;
        std::int64_t now = 0;
        const auto steps = *rc::gen::inRange(1, 60);
        for (int i = 0; i < steps; ++i) {
            now += *rc::gen::inRange(0, 60);
            const HolderKey key = *rc::gen::element(anna, anna_again, berta);
            const Epoch epoch{*rc::gen::inRange<std::uint64_t>(1, 8)};
            if (*rc::gen::inRange(0, 6) == 0) {
                if (promise.release_resigned(key, epoch)) dumb.resign(key, epoch);
                continue;
            }
            const PromiseRequest request{key,
                                         epoch,
                                         *rc::gen::arbitrary<bool>(),
                                         {*rc::gen::inRange(1, 100)},
                                         *rc::gen::element(no_session, first, second)};
            if (promise.judge(request, at(now)) != PromiseVerdict::acceptable) continue;
            RC_ASSERT_FALSE(dumb.live_to_other(key, now));
            if (!request.renew && epoch <= promise.vmax())
                RC_ASSERT(promise.key() == key && promise.epoch() == epoch);
            promise.grant(request, at(now));
            dumb.grant(request, now);
            RC_ASSERT(promise.live(at(now)) == dumb.live(now));
            RC_ASSERT(promise.vmax() == dumb.vmax());
        }
    }));
}

}  // namespace
}  // namespace bullring::protocol::promise_test
