// The library's threads, with tasks that start, stop, throw, stall and resign at random times. Made
// for the thread sanitizer; BULLRING_SEED and BULLRING_ROUNDS choose other lives, and longer ones.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <bullring/bullring.hpp>
#include <doctest/doctest.h>

#include "tests/support/library_cluster.hpp"

namespace bullring::library_stress_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::LibraryCluster;

std::uint64_t from_environment(const char* name, std::uint64_t standard) {
    const char* text = std::getenv(name);
    return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
}

struct Shared {
    explicit Shared(std::uint64_t wanted) : rounds(wanted) {}
    bool done() const { return leaderships >= rounds; }
    void add_leadership() {
        if (++leaderships < rounds) return;
        wake();
    }
    void wake() {
        const std::lock_guard lock(mutex);
        changed.notify_all();
    }

    std::mutex mutex;
    std::condition_variable changed;
    const std::uint64_t rounds;
    std::atomic<std::uint64_t> leaderships{0};
    std::atomic<std::uint64_t> highest{0};
    std::atomic<int> working{0};
    std::atomic<bool> overlap{false};
    std::atomic<bool> epoch_fell{false};
};

/// One leadership's work, which ends in one of many ways.
void work(const Leadership& lead, Node& node, std::mt19937_64& random, Shared& shared) {
    if (shared.working.fetch_add(1) != 0) shared.overlap = true;
    if (shared.highest.exchange(lead.epoch()) >= lead.epoch()) shared.epoch_fell = true;
    shared.add_leadership();
    const auto pause = microseconds(random() % 2000);
    lead.wait_for(pause);
    if (lead.valid()) lead.report_progress();
    const auto leave = [&] { shared.working.fetch_sub(1); };
    switch (random() % 6) {
        case 0: return leave();
        case 1: leave(); throw std::runtime_error("on purpose");
        case 2: node.resign(random() % 4); break;
        case 3:
            // Stalls: its work is over before its end is noticed.
            leave();
            while (!lead.stop_token().stop_requested()) std::this_thread::yield();
            return;
        case 4: {
            const std::stop_callback asked(lead.stop_token(), [&] { node.leader(); });
            node.resign();
            lead.wait_for(milliseconds(5));
            break;
        }
        default: node.status(); break;
    }
    leave();
}

void live(const LibraryCluster& cluster, std::uint64_t id, std::uint64_t seed, Shared& shared) {
    std::mt19937_64 random(seed * 8 + id);
    while (!shared.done()) {
        Options options = cluster.options(id);
        options.stall_after = milliseconds(20);
        auto node = std::make_unique<Node>(options);
        std::atomic<std::uint64_t> heard{0};
        const Subscription subscription = node->subscribe([&](const Change&) { ++heard; });
        std::atomic<bool> ended{false};
        std::thread watcher([&] {
            for (int i = 0; i < 3; ++i) {
                node->leader();
                node->status();
            }
            // A node that is the last one waits for a majority that does not come any more.
            std::unique_lock lock(shared.mutex);
            shared.changed.wait(lock, [&] { return ended || shared.done(); });
            lock.unlock();
            node->stop();
        });
        const std::uint64_t mine = 5 + random() % 20;
        std::uint64_t led = 0;
        while (!shared.done() && led < mine) {
            try {
                node->run_while_leader([&](const Leadership& lead) {
                    if (++led >= mine || shared.done()) node->stop();
                    work(lead, *node, random, shared);
                });
                break;
            } catch (const std::runtime_error&) {
                continue;
            }
        }
        ended = true;
        shared.wake();
        watcher.join();
        std::thread other([&] { node->stop(); });
        node->stop();
        other.join();
    }
}

}  // namespace

TEST_CASE("library: random lives of three nodes never show two leaders") {
    const std::uint64_t seed = from_environment("BULLRING_SEED", 1);
    const std::uint64_t rounds = from_environment("BULLRING_ROUNDS", 300);
    MESSAGE("BULLRING_SEED=" << seed << " BULLRING_ROUNDS=" << rounds);
    const LibraryCluster cluster(3);
    Shared shared(rounds);
    std::vector<std::thread> lives;
    for (std::uint64_t id = 1; id <= cluster.size(); ++id)
        lives.emplace_back([&, id] { live(cluster, id, seed, shared); });
    for (std::thread& one : lives) one.join();
    CHECK(shared.leaderships >= rounds);
    CHECK_FALSE(shared.overlap);
    CHECK_FALSE(shared.epoch_fell);
}

TEST_SUITE_END();

}  // namespace bullring::library_stress_test
