// No thread of the library's, nor one of the program's beside its main thread, handles a signal.
#include "src/base/os/quiet_thread.hpp"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include <bullring/bullring.hpp>
#include <doctest/doctest.h>
#include <pthread.h>

#include "src/node/storage/storage.hpp"
#include "src/task/health_check.hpp"
#include "src/task/hooks.hpp"
#include "tests/support/library_cluster.hpp"

namespace bullring::quiet_thread_test {

TEST_SUITE_BEGIN("realtime");

namespace {

using namespace test;

/// Those that can be blocked: not SIGKILL and SIGSTOP, nor the two that are the C library's own.
std::uint64_t all_signals() {
    std::uint64_t mask = ~std::uint64_t{0};
    for (const int signal : {SIGKILL, SIGSTOP, 32, 33}) mask &= ~(std::uint64_t{1} << (signal - 1));
    return mask;
}

bool blocks_all_here() {
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (int signal = 1; signal <= 64; ++signal)
        if ((all_signals() >> (signal - 1) & 1) != 0 && ::sigismember(&blocked, signal) == 0)
            return false;
    return true;
}

std::set<std::string> threads() {
    std::set<std::string> all;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/task"))
        all.insert(one.path().filename());
    return all;
}

/// nullopt when it has ended meanwhile.
std::optional<std::uint64_t> blocked_in(const std::string& thread) {
    std::ifstream status("/proc/self/task/" + thread + "/status");
    std::string line;
    while (std::getline(status, line))
        if (line.starts_with("SigBlk:")) return std::stoull(line.substr(7), nullptr, 16);
    return std::nullopt;
}

/// Notes where its functions are called.
class Link final : public NodeLink {
public:
    void tell(const protocol::Event&) override { quiet.add(blocks_all_here()); }
    void shut_down(const std::string&) override {}
    void set_health(bool, const std::string&) override { quiet.add(blocks_all_here()); }
    void set_joining(const std::string&) override {}
    void set_willing(bool, const std::string&) override {}
    void task_runs(bool, const std::string&) override {}
    protocol::Instant untied_until() const override { return protocol::long_ago; }
    void listen(NodeListener&) override {}

    Notes<bool> quiet;
};

}  // namespace

TEST_CASE("threads: all that the library makes block all signals") {
    const std::set<std::string> before = threads();
    set_log_handler(LogLevel::trace, [](LogLevel, std::string_view) {});
    const LibraryCluster cluster(3);
    // One member is called by a name, for the sake of the resolver.
    std::string peers = cluster.peers();
    const std::string last = peers.substr(peers.rfind("3="));
    peers.replace(peers.rfind("3=") + 2, last.rfind(':') - 2, "localhost");
    Options options = cluster.options(1);
    options.peers = peers;
    options.first_epoch = FirstEpoch::clock;
    options.bootstrap_wait = std::chrono::milliseconds(100);
    options.lease_max = options.lease;  // the third member never comes
    options.events = cluster.directory() / "events";
    options.trace = cluster.directory() / "trace";
    Node node(options);
    options.id = 2;
    options.data_dir = cluster.directory() / "node-2";
    options.events = options.trace = "";
    Node other(options);
    const Observer observer(peers);
    Notes<bool> elected;
    const auto subscription = node.subscribe([&](const Change& change) {
        if (change.leader) elected.add(true);
    });
    const auto work = [](const Leadership& lead) { lead.wait_for(test::generous); };
    other.start_while_leader(work);
    node.start_while_leader(work);
    REQUIRE(elected.wait_for_count(1));
    std::size_t seen = 0;
    for (const std::string& thread : threads()) {
        if (before.contains(thread)) continue;
        const auto blocked = blocked_in(thread);
        if (!blocked) continue;
        ++seen;
        CAPTURE(thread);
        CHECK((*blocked & all_signals()) == all_signals());
    }
    // Two loops, two controls, two runners; a log, a writer, an observer, a subscriber. Those that
    // look up a name come and go.
    CHECK(seen >= 10);
    other.stop();
    node.stop();
    set_log_handler(LogLevel::info, {});
}

TEST_CASE(
    "threads: what writes the state blocks all signals, and one that can't be had is no end") {
    const LibraryCluster cluster(1);
    auto directory = StateDirectory::open(cluster.directory() / "state", {"blue", {1}}, {}).value();
    Notes<bool> quiet;
    Storage storage(std::move(directory), std::nullopt,
                    {[&](const protocol::Durable&) { quiet.add(blocks_all_here()); },
                     [](const std::string& why) { FAIL(why); },
                     {}});
    storage.write({{1}, {1}});
    REQUIRE(quiet.wait_for_count(1));
    CHECK(quiet.all().front());

    pthread_attr_t usual;
    REQUIRE(::pthread_getattr_default_np(&usual) == 0);
    pthread_attr_t too_big = usual;
    ::pthread_attr_setstacksize(&too_big, std::size_t{1} << 50);
    REQUIRE(::pthread_setattr_default_np(&too_big) == 0);
    storage.write({{2}, {1}});
    ::pthread_setattr_default_np(&usual);
    CHECK(quiet.wait_for_count(2));
    ::pthread_attr_destroy(&usual);
    storage.write({{3}, {1}});
    CHECK(quiet.wait_for_count(3));
}

TEST_CASE("threads: those of the health check and of the hooks block all signals") {
    Link link;
    {
        HealthOptions options;
        options.command = "exit 1";
        options.failures = 1;
        const HealthCheck check(options, {1}, "blue", link);
        REQUIRE(link.quiet.wait_for_count(1));
    }
    asio::io_context io;
    protocol::Config config;
    config.self = {1};
    Hooks hooks(io, link, {.on_elected = "", .on_deposed = "true", .on_change = ""}, config,
                protocol::seconds(20), MakeHost{});
    hooks.start({7});
    hooks.stop({7}, protocol::DeposedReason::stopped);
    REQUIRE(link.quiet.wait_for_count(2));
    for (const bool quiet : link.quiet.all()) CHECK(quiet);
}

TEST_CASE("threads: what has made a quiet one handles its own signals as before") {
    sigset_t before;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    quiet_thread([] { CHECK(blocks_all_here()); }).join();
    CHECK_FALSE(blocks_all_here());
    sigset_t after;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int signal = 1; signal <= 64; ++signal)
        CHECK(::sigismember(&before, signal) == ::sigismember(&after, signal));
}

TEST_SUITE_END();

}  // namespace bullring::quiet_thread_test
