#include "sim/swarm/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "protocol/values/rng.hpp"
#include "sim/scenario/runner.hpp"
#include "sim/swarm/running_seed.hpp"

namespace bullring::sim {

namespace {

std::int64_t thread_cpu_ns() {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return spent.tv_sec * 1'000'000'000 + spent.tv_nsec;
}

/// Seeds are picked for a second run by a hash, so that all kinds of runs are.
bool twice(std::uint64_t seed, std::uint32_t percent) {
    return protocol::Rng(seed).below(100) < percent;
}

void one_seed(const SweepOptions& options, std::uint64_t seed, SweepResult& result) {
    running_seed = seed;
    const Scenario scenario = draw_scenario(seed, options.swarm);
    const Outcome outcome = run(scenario);
    ++result.seeds;
    result.steps += outcome.steps;
    result.delivered += outcome.delivered;
    result.elections += outcome.elections;
    result.simulated += outcome.simulated;
    result.digest += outcome.digest;
    result.coverage.add(outcome.coverage);
    for (const Waited& waited : outcome.waited)
        result.waited[waited.check].add(waited.took, waited.limit);
    if (outcome.violation) result.violations.push_back({seed, *outcome.violation});
    if (twice(seed, options.twice_percent)) {
        ++result.twice;
        const Outcome again = run(draw_scenario(seed, options.swarm));
        if (again.digest != outcome.digest)
            result.violations.push_back(
                {seed, {"replay", "the same seed gave another history", again.simulated, 0}});
    }
}

}  // namespace

bool overlap(const Share& a, const Share& b) {
    if (a.flags != b.flags) return false;
    const std::uint64_t last = std::min(a.seeds.last, b.seeds.last);
    std::uint64_t seed = std::max(a.seeds.first, b.seeds.first);
    seed += (a.shard + a.shards - seed % a.shards) % a.shards;
    // The remainders by b's shards come round again after so many steps.
    for (std::uint64_t i = 0; i < b.shards && seed <= last; ++i, seed += a.shards)
        if (seed % b.shards == b.shard) return true;
    return false;
}

void SweepResult::add(const SweepResult& other) {
    shares.insert(shares.end(), other.shares.begin(), other.shares.end());
    seeds += other.seeds;
    twice += other.twice;
    steps += other.steps;
    delivered += other.delivered;
    elections += other.elections;
    simulated += other.simulated;
    cpu_ns += other.cpu_ns;
    digest += other.digest;
    coverage.add(other.coverage);
    for (const auto& [check, durations] : other.waited) waited[check].add(durations);
    violations.insert(violations.end(), other.violations.begin(), other.violations.end());
    std::stable_sort(violations.begin(), violations.end(),
                     [](const Found& a, const Found& b) { return a.seed < b.seed; });
}

SweepResult sweep(const SweepOptions& options, const std::function<void(const Progress&)>& tell) {
    const std::uint64_t step = options.shards;
    const std::uint64_t first =
        options.seeds.first + (options.shard + step - options.seeds.first % step) % step;
    std::atomic<std::uint64_t> next{first};
    std::atomic<std::uint64_t> done{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::condition_variable finished;
    unsigned working = std::max(options.jobs, 1U);
    SweepResult result;

    std::vector<std::jthread> threads;
    for (unsigned i = std::max(options.jobs, 1U); i-- > 0;) {
        threads.emplace_back([&] {
            SweepResult own;
            while (!stop) {
                const std::uint64_t seed = next.fetch_add(step);
                if (seed > options.seeds.last) break;
                one_seed(options, seed, own);
                ++done;
                if (options.stop_at_first && !own.violations.empty()) stop = true;
            }
            own.cpu_ns = thread_cpu_ns();
            const std::scoped_lock lock(mutex);
            result.add(own);
            --working;
            finished.notify_all();
        });
    }

    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t all =
        options.seeds.last < first ? 0 : (options.seeds.last - first) / step + 1;
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, std::chrono::seconds(2), [&] { return working == 0; })) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        tell({done, all, passed.count()});
    }
    lock.unlock();
    threads.clear();
    return result;
}

bool narrows(const SwarmOptions& options) {
    // Where members come and go no id has two processes.
    return options.faults || options.algorithm || options.ids || options.profile ||
           options.quorum || options.members;
}

std::vector<Seen> never_seen(const SweepResult& result) {
    std::vector<Seen> missing;
    // Rare events need many seeds.
    constexpr std::uint64_t enough = 2000;
    if (result.seeds < enough || std::any_of(result.shares.begin(), result.shares.end(),
                                             [](const Share& share) { return !share.full; }))
        return missing;
    for (std::size_t i = 0; i < seen_count; ++i)
        if (result.coverage.of(static_cast<Seen>(i)) == 0) missing.push_back(static_cast<Seen>(i));
    return missing;
}

}  // namespace bullring::sim
