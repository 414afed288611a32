// The voter's arithmetic (R2, R4, R5): one promise at a time, whatever is asked and in which order;
// its table as text is lease/testdata/promise.txt.
#include "protocol/lease/promise.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/text_cases.hpp"

namespace bullring::protocol::promise_test {
namespace {

using test::CommandWords;

class PromisePlayer {
public:
    std::string play(CommandWords& words) {
        const std::string first = words.next();
        if (first == "new") return start(words);
        if (first == "at") return set_clocks(words);
        if (first == "floor") return raise(words);
        if (first == "fin") return fin(words);
        if (first == "resign") return resign(words);
        const HolderKey key = key_of(first);
        const std::string what = words.next();
        const PromiseRequest request = request_of(key, words);
        if (what == "asks") return verdict(promise_.judge(request, now_));
        promise_.grant(request, now_);
        return state();
    }

private:
    /// `1` and `1'` are two runs of one member.
    static HolderKey key_of(const std::string& word) {
        const std::uint64_t id = std::stoull(word);
        return {{id}, {id * 10 + (word.back() == '\'' ? 1U : 0U)}};
    }
    static std::string text(HolderKey key) {
        return std::to_string(key.id.value) + (key.incarnation.value % 10 == 1 ? "'" : "");
    }

    static PromiseRequest request_of(HolderKey key, CommandWords& words) {
        PromiseRequest request{key, words.id<Epoch>(), false, Duration{100}, SessionId{1}};
        request.renew = words.take("renew");
        if (words.take("for")) request.length = Duration{words.number()};
        if (words.take("on")) request.session = words.id<SessionId>();
        if (words.take("untied")) request.session = no_session;
        return request;
    }

    std::string start(CommandWords& words) {
        promise_ = Promise(words.take("floor") ? words.id<Epoch>() : Epoch{});
        now_ = {0, 0};
        return {};
    }
    std::string set_clocks(CommandWords& words) {
        now_.boottime_ns = now_.raw_ns = words.number();
        if (words.take("raw")) now_.raw_ns = words.number();
        return state();
    }
    std::string raise(CommandWords& words) {
        promise_.raise_floor(words.id<Epoch>());
        return state();
    }
    std::string fin(CommandWords& words) {
        const bool released = promise_.release_session(words.id<SessionId>(), now_);
        return (released ? "released, " : "nothing, ") + state();
    }
    std::string resign(CommandWords& words) {
        const HolderKey key = key_of(words.next());
        const bool released = promise_.release_resigned(key, words.id<Epoch>());
        return (released ? "released, " : "nothing, ") + state();
    }

    static std::string verdict(PromiseVerdict verdict) {
        switch (verdict) {
            case PromiseVerdict::acceptable: return "acceptable";
            case PromiseVerdict::busy: return "busy";
            case PromiseVerdict::stale: return "stale";
        }
        return "?";
    }
    std::string state() const {
        const std::string vmax = "vmax " + std::to_string(promise_.vmax().value);
        if (!promise_.live(now_)) return "free, " + vmax;
        const Instant end = promise_.end();
        return "to " + text(promise_.key()) + " for " + std::to_string(promise_.epoch().value) +
               (promise_.to_leader() ? ", leads," : ",") + " until " +
               std::to_string(end.boottime_ns) +
               (end.raw_ns == end.boottime_ns ? "" : " raw " + std::to_string(end.raw_ns)) + ", " +
               vmax;
    }

    Promise promise_;
    Instant now_{0, 0};
};

TEST_CASE("promise: the table of R2 and R4 as text") {
    PromisePlayer player;
    test::play_text_cases("lease/testdata/promise.txt",
                          [&](CommandWords& words) { return player.play(words); });
}

constexpr HolderKey anna{{1}, {11}};
constexpr HolderKey anna_again{{1}, {12}};  // the same id, another run
constexpr HolderKey berta{{2}, {21}};
constexpr SessionId first{101};
constexpr SessionId second{102};

Instant at(std::int64_t time) { return {time, time}; }

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
