// Whole clusters of nodes in the simulated world, whose checks judge every step: what holds for
// clusters of any size, and what no scenario (tests/scenarios) can express.
#include <utility>

#include <doctest/doctest.h>

#include "sim/check/checks.hpp"
#include "sim/world/world.hpp"

namespace bullring::sim::cluster_test {

namespace {

using protocol::Algorithm;
using protocol::FirstEpoch;
using protocol::Node;

const Algorithm both[] = {Algorithm::bully, Algorithm::ring};

Settings members(std::size_t nodes, Algorithm algorithm) {
    Settings settings;
    settings.ids.clear();
    for (std::uint64_t id = 1; id <= nodes; ++id) settings.ids.push_back({id});
    settings.algorithm = algorithm;
    return settings;
}

/// Nodes are named by their ids, 1 … N.
class Cluster : private Observer {
public:
    explicit Cluster(const Settings& settings) : world_(settings), checks_(world_) {
        world_.watch(checks_);
        world_.watch(*this);
    }

    World& world() { return world_; }
    std::uint64_t elections() const { return checks_.elections(); }
    Epoch newest_epoch() const { return checks_.newest_epoch(); }
    std::size_t disk_writes() const { return disk_writes_; }
    const Node& node(std::uint64_t id) const { return *world_.host(id - 1).node; }
    /// 0: none.
    std::uint64_t leader() const {
        const auto leader = world_.leader();
        return leader ? *leader + 1 : 0;
    }

    void start(std::uint64_t id) { world_.start(id - 1); }
    void start_all() {
        for (HostIndex h = 0; h < world_.members(); ++h) world_.start(h);
    }
    void kill(std::uint64_t id) { world_.die(id - 1, Death::killed); }

    /// Whether that became true.
    template <class Condition>
    bool run_until(Time within, Condition condition) {
        const Time limit = world_.now() + within;
        bool met = condition();
        while (!met && world_.advance(limit)) met = condition();
        if (checks_.violation()) FAIL(checks_.violation()->check, ": ", checks_.violation()->what);
        return met;
    }
    void run_for(Time duration) {
        run_until(duration, [] { return false; });
    }
    bool elects(Time within) {
        return run_until(within, [this] { return leader() != 0; });
    }
    bool elects(std::uint64_t id, Time within) {
        return run_until(within, [this, id] { return leader() == id; });
    }

private:
    void on_action(const World&, HostIndex, Instant, const protocol::Action& action) override {
        if (std::holds_alternative<protocol::Persist>(action)) ++disk_writes_;
    }

    World world_;
    Checks checks_;
    std::size_t disk_writes_ = 0;
};

}  // namespace

TEST_CASE("cluster: a cold start elects the highest id within one promise and a few hops") {
    for (const Algorithm algorithm : both) {
        for (const std::size_t nodes : {1U, 2U, 3U, 5U, 7U, 16U}) {
            CAPTURE(nodes);
            Cluster cluster(members(nodes, algorithm));
            cluster.start_all();
            REQUIRE(cluster.elects(nodes == 1 ? 1100 * ms : 600 * ms));
            CHECK(cluster.leader() == nodes);
            cluster.run_for(2000 * ms);
            CHECK(cluster.elections() == 1);
        }
    }
}

TEST_CASE("cluster: with --first-epoch 0 a new cluster's epochs are 1, 2, 3") {
    for (const Algorithm algorithm : both) {
        Settings settings = members(5, algorithm);
        settings.first_epoch = FirstEpoch::zero;
        Cluster cluster(settings);
        cluster.start_all();
        REQUIRE(cluster.elects(5, 600 * ms));
        CHECK(cluster.newest_epoch() == Epoch{1});
        for (const std::uint64_t killed : {5U, 4U}) {
            cluster.run_for(200 * ms);
            cluster.kill(killed);
            REQUIRE(cluster.elects(killed - 1, 200 * ms));
            CHECK(cluster.newest_epoch() == Epoch{7 - killed});
        }
        CHECK(cluster.elections() == 3);
    }
}

TEST_CASE("cluster: a node that is ready before the others does not waste an epoch on them") {
    for (const Algorithm algorithm : both) {
        Settings settings = members(5, algorithm);
        settings.first_epoch = FirstEpoch::zero;
        Cluster cluster(settings);
        for (const std::uint64_t id : {5U, 4U, 3U, 2U, 1U}) {
            cluster.start(id);
            cluster.run_for(40 * ms);
        }
        REQUIRE(cluster.elects(800 * ms));
        CHECK(cluster.newest_epoch() == Epoch{1});
        CHECK(cluster.leader() == 5);
    }
}

TEST_CASE("cluster: a killed leader is replaced in a few message delays, without the disk") {
    for (const Algorithm algorithm : both) {
        for (const std::size_t nodes : {3U, 5U, 7U}) {
            CAPTURE(nodes);
            Cluster cluster(members(nodes, algorithm));
            cluster.start_all();
            REQUIRE(cluster.elects(nodes, 600 * ms));
            cluster.run_for(500 * ms);
            const std::size_t before = cluster.disk_writes();
            cluster.kill(nodes);
            // At most 1 ms a message: FIN, request, grant; in Ring the token first.
            const std::size_t hops =
                algorithm == Algorithm::bully ? 3 : 2 + nodes - 1 + nodes / 2 + 1;
            CHECK(cluster.elects(nodes - 1, static_cast<Time>(hops) * ms));
            CHECK(cluster.disk_writes() == before);
        }
    }
}

TEST_CASE("cluster: who has resigned can be handed the leadership back once another leads") {
    for (const Algorithm algorithm : both) {
        Cluster cluster(members(5, algorithm));
        cluster.start_all();
        REQUIRE(cluster.elects(600 * ms));
        cluster.run_for(20 * ms);
        for (const std::uint64_t successor : {1U, 2U, 1U}) {
            cluster.world().resign(cluster.leader() - 1, {successor});
            REQUIRE(cluster.elects(successor, 20 * ms));
            cluster.run_for(4 * ms);
        }
    }
}

TEST_CASE("cluster: a leader that hangs is replaced when its promises end") {
    for (const Algorithm algorithm : both) {
        Cluster cluster(members(5, algorithm));
        cluster.start_all();
        REQUIRE(cluster.elects(5, 600 * ms));
        cluster.run_for(500 * ms);
        cluster.world().pause(4);
        CHECK(cluster.elects(4, 520 * ms));
    }
}

TEST_CASE("cluster: a better node that comes back takes over only with preemption") {
    for (const bool preempt : {true, false}) {
        CAPTURE(preempt);
        Settings settings = members(3, Algorithm::bully);
        settings.preempt = preempt;
        settings.preempt_delay = protocol::seconds(1);
        Cluster cluster(settings);
        cluster.start_all();
        REQUIRE(cluster.elects(3, 600 * ms));
        cluster.kill(3);
        REQUIRE(cluster.elects(2, 300 * ms));
        cluster.start(3);
        cluster.run_for(4000 * ms);
        CHECK(cluster.leader() == (preempt ? 3 : 2));
    }
}

TEST_CASE("cluster: two states of a node have the same digest exactly when they are equal") {
    for (const Algorithm algorithm : both) {
        Cluster cluster(members(3, algorithm));
        cluster.start_all();
        Node before = cluster.node(1);
        std::size_t changes = 0;
        for (int i = 0; i < 2000; ++i) {
            cluster.run_for(ms / 2);
            if (i == 1500) cluster.kill(3);
            Node after = cluster.node(1);
            REQUIRE((after == before) == (after.digest() == before.digest()));
            if (!(after == before)) ++changes;
            before = std::move(after);
        }
        CHECK(changes > 30);
    }
}

}  // namespace bullring::sim::cluster_test
