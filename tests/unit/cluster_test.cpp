// Whole clusters of nodes in a simulated world: elections, failovers, partitions, and long random
// histories of faults, of which each seed can be run again alone:
//   BULLRING_SEED=42 bullring_unit_tests --test-case='*random history*'
#include <cstdlib>

#include <doctest/doctest.h>

#include "tests/support/world.hpp"

namespace bullring::protocol::cluster_test {

using namespace bullring::test;

namespace {

WorldOptions cluster(std::size_t nodes, Algorithm algorithm, std::uint64_t seed = 1) {
    WorldOptions options;
    options.nodes = nodes;
    options.algorithm = algorithm;
    options.seed = seed;
    return options;
}

const Algorithm both[] = {Algorithm::bully, Algorithm::ring};

bool another_leads(World& world, NodeId old, Time within) {
    return world.run_until(world.now() + within,
                           [&] { return world.leader() && world.leader() != old; });
}

}  // namespace

TEST_CASE("cluster: a cold start elects the highest id within one promise and a few hops") {
    for (const Algorithm algorithm : both) {
        for (const std::size_t nodes : {1U, 2U, 3U, 5U, 7U, 16U}) {
            CAPTURE(nodes);
            World world(cluster(nodes, algorithm));
            world.start_all();
            REQUIRE(world.run_until_leader(600 * ms));
            CHECK(world.leader() == NodeId{nodes});
            world.run_for(2000 * ms);
            CHECK(world.elections().size() == 1);
            CHECK(world.violation() == "");
        }
    }
}

TEST_CASE("cluster: with --first-epoch 0 a new cluster's epochs are 1, 2, 3") {
    for (const Algorithm algorithm : both) {
        WorldOptions options = cluster(5, algorithm);
        options.configure = [](Config& config) { config.first_epoch = FirstEpoch::zero; };
        World world(options);
        world.start_all();
        REQUIRE(world.run_until_leader(600 * ms));
        world.run_for(200 * ms);
        world.crash(5);
        world.run_for(200 * ms);
        world.crash(4);
        world.run_for(200 * ms);
        REQUIRE(world.elections().size() == 3);
        for (std::uint64_t i = 0; i < 3; ++i) CHECK(world.elections()[i].epoch == Epoch{i + 1});
    }
}

TEST_CASE("cluster: a node that is ready before the others does not waste an epoch on them") {
    for (const Algorithm algorithm : both) {
        WorldOptions options = cluster(5, algorithm);
        options.configure = [](Config& config) { config.first_epoch = FirstEpoch::zero; };
        World world(options);
        for (const std::uint64_t id : {5U, 4U, 3U, 2U, 1U}) {
            world.start(id);
            world.run_for(40 * ms);
        }
        REQUIRE(world.run_until_leader(800 * ms));
        CHECK(world.elections().front().epoch == Epoch{1});
        CHECK(world.leader() == NodeId{5});
    }
}

TEST_CASE("cluster: a killed leader is replaced in a few message delays, without the disk") {
    for (const Algorithm algorithm : both) {
        for (const std::size_t nodes : {3U, 5U, 7U}) {
            CAPTURE(nodes);
            World world(cluster(nodes, algorithm));
            world.start_all();
            REQUIRE(world.run_until_leader(600 * ms));
            world.run_for(500 * ms);
            const NodeId old = world.leader();
            const std::size_t persists = world.persists();
            const Time killed = world.now();
            world.crash(old.value);
            REQUIRE(another_leads(world, old, 100 * ms));
            // At most 1 ms a message: FIN, request, grant; in Ring the token first.
            const Time hops = algorithm == Algorithm::bully
                                  ? 3
                                  : 2 + static_cast<Time>(nodes - 1 + nodes / 2 + 1);
            CHECK(world.now() - killed <= hops * ms);
            CHECK(world.leader() == NodeId{nodes - 1});
            CHECK(world.persists() == persists);
        }
    }
}

TEST_CASE("cluster: who has resigned can be handed the leadership back once another leads") {
    for (const Algorithm algorithm : both) {
        World world(cluster(5, algorithm));
        world.start_all();
        REQUIRE(world.run_until_leader(600 * ms));
        world.run_for(20 * ms);
        for (const std::uint64_t successor : {1U, 2U, 1U}) {
            world.give(world.leader().value, ResignRequested{{successor}, 0});
            REQUIRE(world.run_until(world.now() + 20 * ms,
                                    [&] { return world.leader() == NodeId{successor}; }));
            world.run_for(4 * ms);
        }
        CHECK(world.violation() == "");
    }
}

TEST_CASE(
    "cluster: a leader that hangs is replaced when its promises end, and comes back deposed") {
    for (const Algorithm algorithm : both) {
        World world(cluster(5, algorithm));
        world.start_all();
        REQUIRE(world.run_until_leader(600 * ms));
        world.run_for(500 * ms);
        const NodeId old = world.leader();
        const Time hung = world.now();
        world.pause(old.value);
        REQUIRE(another_leads(world, old, 1000 * ms));
        CHECK(world.now() - hung <= 520 * ms);
        world.run_for(500 * ms);
        world.resume(old.value);
        world.run_for(2000 * ms);
        CHECK(world.elections().size() == 2);
        CHECK(world.leader() == NodeId{4});
        CHECK(world.violation() == "");
    }
}

TEST_CASE("cluster: a minority never elects, and a majority does when it is back") {
    for (const Algorithm algorithm : both) {
        World world(cluster(5, algorithm));
        world.start_all();
        REQUIRE(world.run_until_leader(600 * ms));
        for (const std::uint64_t id : {5U, 4U, 3U}) world.crash(id);
        const std::size_t before = world.elections().size();
        world.run_for(5000 * ms);
        CHECK(world.leader() == nobody);
        CHECK(world.elections().size() <= before + 1);
        world.start(3);
        REQUIRE(world.run_until_leader(1500 * ms));
        CHECK(world.violation() == "");
    }
}

TEST_CASE("cluster: when every link but the hub's is cut, the hub leads (quorum-loss)") {
    for (const Algorithm algorithm : both) {
        for (std::uint64_t hub = 1; hub <= 5; ++hub) {
            CAPTURE(hub);
            World world(cluster(5, algorithm, hub));
            world.start_all();
            REQUIRE(world.run_until_leader(600 * ms));
            world.run_for(500 * ms);
            for (std::uint64_t a = 1; a <= 5; ++a)
                for (std::uint64_t b = a + 1; b <= 5; ++b)
                    if (a != hub && b != hub) world.cut(a, b);
            world.run_for(3000 * ms);
            CHECK(world.leader() == NodeId{hub});
            const std::size_t settled = world.elections().size();
            world.run_for(5000 * ms);
            CHECK(world.elections().size() == settled);
            CHECK(world.violation() == "");
        }
    }
}

TEST_CASE("cluster: in a chain the leader at its end stays (chained)") {
    for (const Algorithm algorithm : both) {
        World world(cluster(3, algorithm));
        world.start_all();
        REQUIRE(world.run_until_leader(600 * ms));
        world.run_for(500 * ms);
        world.cut(3, 1);  // 3 leads, 2 is in the middle
        world.run_for(5000 * ms);
        CHECK(world.leader() == NodeId{3});
        CHECK(world.elections().size() == 1);
    }
}

TEST_CASE("cluster: epochs go on rising when everybody is killed at once, five times over") {
    for (const Algorithm algorithm : both) {
        World world(cluster(3, algorithm));
        for (int round = 0; round < 6; ++round) {
            world.start_all();
            REQUIRE(world.run_until_leader(2000 * ms));
            world.run_for(200 * ms);
            for (const std::uint64_t id : {1U, 2U, 3U}) world.crash(id);
            world.run_for(100 * ms);
        }
        CHECK(world.violation() == "");
    }
}

TEST_CASE("cluster: a better node that comes back takes over only with preemption") {
    for (const bool preempt : {true, false}) {
        CAPTURE(preempt);
        WorldOptions options = cluster(3, Algorithm::bully);
        options.configure = [preempt](Config& config) {
            config.preempt = preempt;
            config.timing.preempt_delay = seconds(1);
        };
        World world(options);
        world.start_all();
        REQUIRE(world.run_until_leader(600 * ms));
        world.crash(3);
        world.run_for(300 * ms);
        CHECK(world.leader() == NodeId{2});
        world.start(3);
        world.run_for(4000 * ms);
        CHECK(world.leader() == NodeId{preempt ? 3U : 2U});
        CHECK(world.violation() == "");
    }
}

TEST_CASE("cluster: two states of a node have the same digest exactly when they are equal") {
    for (const Algorithm algorithm : both) {
        World world(cluster(3, algorithm));
        world.start_all();
        Node before = world.node(1);
        std::size_t changes = 0;
        for (int i = 0; i < 2000; ++i) {
            world.run_for(ms / 2);
            if (i == 1500) world.crash(3);
            const Node after = world.node(1);
            REQUIRE((after == before) == (after.digest() == before.digest()));
            if (!(after == before)) ++changes;
            before = after;
        }
        CHECK(changes > 50);
    }
}

namespace {

struct Fate {
    std::string violation;
    bool settled = false;
    std::uint64_t digest = 0;
};

/// Random faults for ten seconds, then peace: a leader must come and stay.
Fate random_history(std::uint64_t seed) {
    Rng draw(seed * 77 + 1);
    WorldOptions options =
        cluster(2 + draw.below(5), draw.below(2) == 0 ? Algorithm::bully : Algorithm::ring, seed);
    options.task_ending = draw.below(3) == 0 ? static_cast<Time>(draw.below(300)) * ms : 0;
    options.fsync = static_cast<Time>(draw.below(20)) * ms;
    if (draw.below(4) == 0) options.delay_min = 0;
    const bool preempt = draw.below(2) == 0;
    const bool tie = draw.below(5) != 0;
    options.configure = [=](Config& config) {
        config.preempt = preempt;
        config.timing.preempt_delay = seconds(1);
        config.tie = tie;
    };
    World world(options);
    world.start_all();
    const std::uint64_t nodes = options.nodes;
    for (const Time end = 10'000 * ms; world.now() < end;) {
        world.run_for(static_cast<Time>(5 + draw.below(400)) * ms);
        const std::uint64_t fault = draw.below(100);
        const std::uint64_t a = 1 + draw.below(nodes);
        const std::uint64_t b = 1 + draw.below(nodes);
        if (fault < 20 && a != b)
            world.cut(a, b);
        else if (fault < 45 && a != b)
            world.heal(a, b);
        else if (fault < 55)
            world.crash(a);
        else if (fault < 58)
            world.power_off(a);
        else if (fault < 60 && !world.running(a))
            world.lose_disk(a);
        else if (fault < 75 && !world.running(a))
            world.start(a);
        else if (fault < 80)
            world.pause(a);
        else if (fault < 88)
            world.resume(a);
        else if (fault < 92 && a != b)
            world.reset_sessions(a, b);
        else if (fault < 96)
            world.give(a, ResignRequested{});
        else if (world.leader())
            world.crash(world.leader().value);
    }
    for (std::uint64_t a = 1; a <= nodes; ++a) {
        for (std::uint64_t b = a + 1; b <= nodes; ++b) world.heal(a, b);
        world.resume(a);
        world.start(a);
    }
    Fate fate;
    const bool elected = world.run_until_leader(20'000 * ms);
    world.run_for(14'000 * ms);
    const std::size_t before = world.elections().size();
    world.run_for(3'000 * ms);
    fate.settled = elected && world.leader() && world.elections().size() == before;
    fate.violation = world.violation();
    for (const std::string& line : world.log())
        for (const char c : line)
            fate.digest = fate.digest * 1099511628211ULL + static_cast<unsigned char>(c);
    return fate;
}

}  // namespace

TEST_CASE(
    "cluster: a random history of faults never shows two leases and always ends with a leader") {
    std::uint64_t first = 1;
#if defined(__SANITIZE_ADDRESS__)  // where each takes twenty times as long
    std::uint64_t last = 100;
#else
    std::uint64_t last = 300;
#endif
    if (const char* seed = std::getenv("BULLRING_SEED"))
        first = last = std::strtoull(seed, nullptr, 10);
    MESSAGE("seeds ", first, " to ", last);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        const Fate fate = random_history(seed);
        INFO("rerun: BULLRING_SEED=", seed, " bullring_unit_tests --test-case='*random history*'");
        CHECK(fate.violation == "");
        CHECK(fate.settled);
        if (seed % 50 == 0) CHECK(random_history(seed).digest == fate.digest);
    }
}

}  // namespace bullring::protocol::cluster_test
