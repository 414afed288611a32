// Measures one step of the state machine: nanoseconds and allocations for a heartbeat and for a
// COORDINATOR, in the steady state of a cluster of five; and how many messages a second the
// simulator delivers with all its checks. Times are of this thread's CPU.
//
// Usage: bullring_step_cost [--check]
//
//   --check   exit 1 when a step of the steady state allocates, or a check of the simulator fails
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/check/checks.hpp"
#include "sim/world/world.hpp"

namespace {
std::uint64_t allocations = 0;
}

// Not inlined: g++ 12 takes one of a pair that it has inlined alone for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace bullring {
namespace {

std::int64_t cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// A step as it happened: the node before it, when, and what.
struct Moment {
    protocol::Node node;
    protocol::Instant now;
    protocol::Event event;
};

/// Keeps the newest heartbeat and the newest renewal that a node was given.
class Camera : public sim::Observer {
public:
    void before_step(const sim::World& world, sim::HostIndex h, protocol::Instant now,
                     const protocol::Event& event) override {
        const auto* receive = std::get_if<protocol::Receive>(&event);
        if (receive == nullptr) return;
        const auto keep = [&](std::optional<Moment>& moment) {
            moment.emplace(Moment{*world.host(h).node, now, event});
        };
        if (std::holds_alternative<protocol::Heartbeat>(receive->message)) keep(heartbeat);
        if (std::holds_alternative<protocol::Coordinator>(receive->message)) keep(coordinator);
    }

    std::optional<Moment> heartbeat;
    std::optional<Moment> coordinator;
};

struct Cost {
    double median_ns = 0;
    double worst_ns = 0;  // of the rounds' means
    double allocations = 0;
};

Cost measure(Moment moment) {
    constexpr int rounds = 101;
    constexpr int steps = 10'000;
    std::vector<protocol::Action> out;
    const auto play = [&] {
        for (int i = 0; i < steps; ++i) {
            out.clear();
            moment.node.step(moment.now, moment.event, out);
        }
    };
    play();  // what is told once is told now
    std::array<double, rounds> times{};
    const std::uint64_t before = allocations;
    for (double& time : times) {
        const std::int64_t start = cpu_ns();
        play();
        time = static_cast<double>(cpu_ns() - start) / steps;
    }
    Cost cost;
    cost.allocations = static_cast<double>(allocations - before) / (rounds * steps);
    std::sort(times.begin(), times.end());
    cost.median_ns = times[rounds / 2];
    cost.worst_ns = times.back();
    return cost;
}

/// Five nodes with the profile lan that have elected a leader, and are checked.
struct SettledCluster {
    explicit SettledCluster(protocol::Algorithm algorithm) : world(settings(algorithm)) {
        world.watch(checks);
        for (sim::HostIndex h = 0; h < world.hosts(); ++h) world.start(h);
        world.run_until(10 * sim::sec);
    }
    static sim::Settings settings(protocol::Algorithm algorithm) {
        sim::Settings settings;
        settings.ids = {{1}, {2}, {3}, {4}, {5}};
        settings.algorithm = algorithm;
        return settings;
    }

    sim::World world;
    sim::Checks checks{world};
};

/// False when a step allocates.
bool show_step(protocol::Algorithm algorithm, const char* name) {
    SettledCluster cluster(algorithm);
    Camera camera;
    cluster.world.watch(camera);
    cluster.world.run_until(cluster.world.now() + sim::sec);
    const Cost heartbeat = measure(*camera.heartbeat);
    const Cost coordinator = measure(*camera.coordinator);
    std::printf(
        "%-6s one step: heartbeat %.0f ns (worst round %.0f), %.3f allocations; "
        "COORDINATOR %.0f ns (%.0f), %.3f allocations\n",
        name, heartbeat.median_ns, heartbeat.worst_ns, heartbeat.allocations, coordinator.median_ns,
        coordinator.worst_ns, coordinator.allocations);
    return heartbeat.allocations == 0 && coordinator.allocations == 0;
}

/// False when a check fails.
bool show_simulator(protocol::Algorithm algorithm, const char* name) {
    SettledCluster cluster(algorithm);
    sim::World& world = cluster.world;
    const std::uint64_t before = world.delivered();
    const std::uint64_t allocated = allocations;
    const std::int64_t start = cpu_ns();
    constexpr int minutes = 10;
    world.run_until(world.now() + minutes * 60 * sim::sec);
    const double seconds = static_cast<double>(cpu_ns() - start) / 1e9;
    const auto delivered = static_cast<double>(world.delivered() - before);
    std::printf(
        "%-6s simulator: %.2f million messages a CPU second with all checks, "
        "%.2f simulated hours of an idle `lan` cluster; %.3f allocations a message%s\n",
        name, delivered / seconds / 1e6, minutes / 60.0 / seconds,
        static_cast<double>(allocations - allocated) / delivered,
        cluster.checks.violation() ? "; A CHECK FAILED" : "");
    return !cluster.checks.violation();
}

}  // namespace
}  // namespace bullring

int main(int argc, char** argv) {
    using bullring::protocol::Algorithm;
    const bool check = argc == 2 && std::string_view(argv[1]) == "--check";
    if (argc > 1 && !check) {
        std::fprintf(stderr, "usage: bullring_step_cost [--check]\n");
        return 2;
    }
    bool good = bullring::show_step(Algorithm::bully, "Bully");
    good = bullring::show_step(Algorithm::ring, "Ring") && good;
    good = bullring::show_simulator(Algorithm::bully, "Bully") && good;
    good = bullring::show_simulator(Algorithm::ring, "Ring") && good;
    return check && !good ? 1 : 0;
}
