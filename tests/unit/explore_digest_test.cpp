// When two states of a small world count as one.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/explore/canonical_digest.hpp"

namespace bullring::sim::explore::explore_digest_test {
namespace {

using protocol::Algorithm;
SmallWorld small(Algorithm algorithm, Begin begin, unsigned faults = 2) {
    Settings settings;
    settings.algorithm = algorithm;
    settings.by_hand = begin;
    settings.delay = {0, 2 * ms};
    return {settings, FaultKinds::usual(), faults};
}

std::uint64_t digest(const SmallWorld& small) {
    return CanonicalDigest(longest_look_back(small.world.config(0), true)).of(small);
}

/// Everything that goes on by itself, what arrives first, until `until`.
void run_until(SmallWorld& small, Time until) {
    std::vector<Move> moves;
    for (;;) {
        find_moves(small.world, {}, moves);
        const Move& next = moves.front();
        if (next.kind == MoveKind::wake && small.world.host(next.node).wake_at > until) break;
        small.make(next);
        REQUIRE_FALSE(small.checks.violation().has_value());
    }
    small.world.advance(until);
}

const Algorithm both[] = {Algorithm::bully, Algorithm::ring};

}  // namespace

TEST_CASE("explore digest: a quiet cluster comes back to the same state with each second renewal") {
    for (const Algorithm algorithm : both) {
        SmallWorld state = small(algorithm, Begin::settled);
        const std::uint64_t before = digest(state);
        const Time period = state.world.config(0).timing.followers_pace().ns;
        run_until(state, state.world.now() + period / 2);
        CHECK(digest(state) != before);
        run_until(state, state.world.now() + period - period / 2);
        CHECK(digest(state) == before);
    }
}

TEST_CASE("explore digest: the names of runs, and their seeds, make no difference") {
    SmallWorld first = small(Algorithm::ring, Begin::cold);
    SmallWorld second = first;
    second.make(move_of(MoveKind::crash, 1));
    second.make(move_of(MoveKind::restart, 1));
    second.faults_left = first.faults_left;
    const auto node_digest = [](const SmallWorld& of) { return of.world.host(1).node->digest(); };
    CHECK(first.world.host(1).run != second.world.host(1).run);
    CHECK(digest(first) == digest(second));
    run_until(first, 2 * sec);
    run_until(second, 2 * sec);
    CHECK(node_digest(first) != node_digest(second));
    CHECK(digest(first) == digest(second));
}

TEST_CASE("explore digest: the names of sessions make no difference") {
    SmallWorld first = small(Algorithm::bully, Begin::settled);
    SmallWorld second = first;
    const auto redial = [&](SmallWorld& state) {
        const SessionId session = state.world.host(0).dialling[1].session;
        state.make(move_of(MoveKind::reset, 0, 1, session.value / 2 - 1));
        run_until(state, state.world.now());
        state.faults_left = 2;
    };
    redial(first);
    redial(second);
    redial(second);
    run_until(first, first.world.now() + 30 * sec);
    run_until(second, second.world.now() + 30 * sec);
    CHECK(first.world.host(0).node->digest() != second.world.host(0).node->digest());
    CHECK(digest(first) == digest(second));
}

TEST_CASE("explore digest: another promise, another state") {
    for (const Algorithm algorithm : both) {
        // A voter hears the next renewal, or not yet.
        SmallWorld state = small(algorithm, Begin::settled);
        std::vector<Move> moves;
        const auto next = [&] {
            state.find_moves(moves);
            return moves.front();
        };
        for (int guard = 0; guard < 100 && content_name(state.world, next()) != "COORDINATOR";
             ++guard)
            state.make(next());
        REQUIRE(content_name(state.world, next()) == "COORDINATOR");
        SmallWorld renewed = state;
        renewed.make(next());
        CHECK(digest(renewed) != digest(state));
        // The same from the same.
        state.make(next());
        CHECK(digest(renewed) == digest(state));
    }
}

TEST_CASE("explore digest: two states that count as one lead to the same states") {
    for (const Algorithm algorithm : both) {
        const SmallWorld start = small(algorithm, Begin::settled, 1);
        CanonicalDigest digest_of(longest_look_back(start.world.config(0), false));
        const auto successors = [&](const SmallWorld& from) {
            std::vector<Move> moves;
            from.find_moves(moves);
            std::vector<std::pair<std::uint64_t, SmallWorld>> found;
            for (const Move& move : moves) {
                SmallWorld next = from;
                next.make(move);
                REQUIRE_FALSE(next.checks.violation().has_value());
                found.emplace_back(digest_of.of(next), next);
            }
            return found;
        };
        const auto digests = [&](const SmallWorld& from) {
            std::vector<std::uint64_t> all;
            for (const auto& [one, state] : successors(from)) all.push_back(one);
            std::sort(all.begin(), all.end());
            return all;
        };
        std::map<std::uint64_t, std::vector<std::uint64_t>> known;
        std::vector<SmallWorld> layer{start};
        known[digest_of.of(start)] = digests(start);
        std::size_t compared = 0;
        while (known.size() < 3000) {
            std::vector<SmallWorld> next_layer;
            for (const SmallWorld& state : layer) {
                for (auto& [one, next] : successors(state)) {
                    const auto [place, is_new] = known.try_emplace(one);
                    const std::vector<std::uint64_t> onward = digests(next);
                    if (is_new) {
                        place->second = onward;
                        next_layer.push_back(std::move(next));
                        continue;
                    }
                    ++compared;
                    REQUIRE(place->second == onward);
                }
            }
            layer = std::move(next_layer);
        }
        CHECK(compared > 500);
    }
}

TEST_CASE("explore digest: what is left of the faults, the disk and what is in flight all count") {
    const SmallWorld state = small(Algorithm::bully, Begin::settled);
    const std::uint64_t before = digest(state);
    SmallWorld other = state;
    --other.faults_left;
    CHECK(digest(other) != before);
    other = state;
    other.world.disk(2).file->hw = other.world.disk(2).file->hw + 1;
    CHECK(digest(other) != before);
    other = state;
    const SessionId session = state.world.host(0).dialling[1].session;
    other.world.sever(session.value / 2 - 1, {protocol::SessionEnd::timeout, {}});
    CHECK(digest(other) != before);
    SmallWorld another = state;
    another.world.sever(session.value / 2 - 1, {protocol::SessionEnd::reset, {}});
    CHECK(digest(another) != digest(other));
}

}  // namespace bullring::sim::explore::explore_digest_test
