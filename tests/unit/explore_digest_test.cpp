// When two states of a small world count as one.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/explore/small_world.hpp"

namespace bullring::sim::explore::explore_digest_test {
namespace {

using protocol::Algorithm;
using protocol::Duration;
using protocol::milliseconds;
using protocol::seconds;

SmallWorldOptions options_of(Algorithm algorithm) {
    SmallWorldOptions options;
    options.algorithm = algorithm;
    return options;
}

Move node_move(MoveKind kind, std::size_t node) {
    return {kind, {static_cast<std::uint8_t>(node), 0, 0}};
}

std::uint64_t digest(const SmallWorld& world, const WorldState& state) {
    return CanonicalDigest(world.old_ages(state)).of(state);
}

/// Everything that goes on by itself, what arrives first, until `until`.
void run_until(const SmallWorld& world, WorldState& state, RealTime until) {
    std::vector<Move> moves;
    const std::uint32_t faults_left = std::exchange(state.faults_left, 0U);
    for (;;) {
        world.moves(state, moves);
        const Move& next = moves.front();
        if (next.kind == MoveKind::wake && state.hosts[next.node()].wake_at > until) break;
        REQUIRE_FALSE(world.make(state, next).has_value());
    }
    state.now = until;
    state.faults_left = faults_left;
}

const Algorithm both[] = {Algorithm::bully, Algorithm::ring};

}  // namespace

TEST_CASE("explore digest: a shift of time makes no difference") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm));
        WorldState early = world.cold(0);
        WorldState late = world.cold(seconds(77).ns);
        CHECK(digest(world, early) == digest(world, late));
        run_until(world, early, milliseconds(300).ns);
        run_until(world, late, (seconds(77) + milliseconds(300)).ns);
        CHECK(digest(world, early) == digest(world, late));
        run_until(world, late, (seconds(77) + milliseconds(301)).ns);
        CHECK(digest(world, early) != digest(world, late));
    }
}

TEST_CASE("explore digest: a quiet cluster comes back to the same state with each second renewal") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm));
        WorldState state = world.settled();
        const std::uint64_t before = digest(world, state);
        const Duration period = world.config(0).timing.followers_pace();
        run_until(world, state, state.now + period.ns / 2);
        CHECK(digest(world, state) != before);
        run_until(world, state, state.now + period.ns - period.ns / 2);
        CHECK(digest(world, state) == before);
    }
}

TEST_CASE("explore digest: the names of runs make no difference") {
    const SmallWorld world(options_of(Algorithm::bully));
    WorldState first = world.cold();
    WorldState second = world.cold();
    world.make(second, node_move(MoveKind::crash, 1));
    world.make(second, node_move(MoveKind::restart, 1));
    second.faults_left = first.faults_left;
    CHECK(first.hosts[1].runs != second.hosts[1].runs);
    CHECK(digest(world, first) == digest(world, second));
    const RealTime until = seconds(2).ns;
    run_until(world, first, until);
    run_until(world, second, until);
    CHECK(first.hosts[1].node->digest() != second.hosts[1].node->digest());
    CHECK(digest(world, first) == digest(world, second));
}

TEST_CASE("explore digest: the names of sessions make no difference, their order does") {
    const SmallWorld world(options_of(Algorithm::bully));
    WorldState first = world.settled();
    WorldState second = world.settled();
    const auto redial = [&](WorldState& state) {
        const std::uint16_t number = state.hosts[0].dials[1];
        world.make(state, {MoveKind::reset, {0, 1, number}});
        run_until(world, state, state.now);
        state.faults_left = 2;
    };
    const std::uint16_t settled = first.hosts[0].dials[1];
    redial(first);
    redial(second);
    redial(second);
    CHECK(first.hosts[0].dials[1] == settled + 1);
    CHECK(second.hosts[0].dials[1] == settled + 2);
    run_until(world, first, first.now + seconds(30).ns);
    run_until(world, second, second.now + seconds(30).ns);
    CHECK(first.hosts[0].node->digest() != second.hosts[0].node->digest());
    CHECK(digest(world, first) == digest(world, second));
}

TEST_CASE("explore digest: randomness that was not used makes no difference") {
    // Another seed shows in the node's own digest alone.
    const SmallWorld world(options_of(Algorithm::ring));
    const WorldState state = world.cold();
    protocol::Start start;
    start.now = clock_of(0, 0);
    start.incarnation = incarnation_of(0, 1);
    start.wall_clock_ms = 1'000'000;
    const auto with_seed = [&](std::uint64_t seed) {
        start.seed = seed;
        WorldState other = state;
        other.hosts[0].node = std::make_shared<const protocol::Node>(world.config(0), start);
        return other;
    };
    CHECK(with_seed(1).hosts[0].node->digest() != with_seed(2).hosts[0].node->digest());
    CHECK(digest(world, with_seed(1)) == digest(world, with_seed(2)));
}

TEST_CASE("explore digest: another promise, another state") {
    for (const Algorithm algorithm : both) {
        const SmallWorld world(options_of(algorithm));
        const WorldState settled = world.settled();
        // A voter hears the next renewal, or not yet.
        WorldState state = settled;
        std::vector<Move> moves;
        for (int guard = 0; guard < 100; ++guard) {
            world.moves(state, moves);
            if (world.content_name(state, moves.front()) == "COORDINATOR") break;
            world.make(state, moves.front());
        }
        REQUIRE(world.content_name(state, moves.front()) == "COORDINATOR");
        WorldState renewed = state;
        world.make(renewed, moves.front());
        CHECK(digest(world, renewed) != digest(world, state));
        // The same from the same.
        WorldState again = state;
        world.make(again, moves.front());
        CHECK(digest(world, renewed) == digest(world, again));
    }
}

TEST_CASE("explore digest: two states that count as one lead to the same states") {
    for (const Algorithm algorithm : both) {
        SmallWorldOptions options = options_of(algorithm);
        options.faults = 1;
        const SmallWorld world(options);
        const WorldState start = world.settled();
        CanonicalDigest digest_of(world.old_ages(start));
        const auto successors = [&](const WorldState& from) {
            std::vector<Move> moves;
            world.moves(from, moves);
            std::vector<std::pair<std::uint64_t, WorldState>> found;
            for (const Move& move : moves) {
                WorldState next = from;
                REQUIRE_FALSE(world.make(next, move).has_value());
                found.emplace_back(digest_of.of(next), std::move(next));
            }
            return found;
        };
        const auto digests = [&](const WorldState& from) {
            std::vector<std::uint64_t> all;
            for (const auto& [one, state] : successors(from)) all.push_back(one);
            std::sort(all.begin(), all.end());
            return all;
        };
        std::map<std::uint64_t, std::vector<std::uint64_t>> known;
        std::vector<WorldState> layer{start};
        known[digest_of.of(start)] = digests(start);
        std::size_t compared = 0;
        while (known.size() < 3000) {
            std::vector<WorldState> next_layer;
            for (const WorldState& state : layer) {
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
    const SmallWorld world(options_of(Algorithm::bully));
    const WorldState state = world.settled();
    const std::uint64_t before = digest(world, state);
    WorldState other = state;
    --other.faults_left;
    CHECK(digest(world, other) != before);
    other = state;
    other.hosts[2].disk->hw = other.hosts[2].disk->hw + 1;
    CHECK(digest(world, other) != before);
    other = state;
    other.hosts[2].published.deadline = other.hosts[2].published.deadline + Duration{1};
    CHECK(digest(world, other) != before);
    other = state;
    const protocol::Message message = protocol::Ok{1};
    other.sessions.front().to_acceptor.push_back(
        {std::make_shared<const Content>(message), other.now});
    CHECK(digest(world, other) != before);
}

}  // namespace bullring::sim::explore::explore_digest_test
