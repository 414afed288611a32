// Tests how `bullring run` and `bullring lead` read their flags.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/parsed_options.hpp"

namespace bullring::options_run_test {

namespace {

using namespace bullring::test;
using protocol::milliseconds;
using protocol::seconds;

RunOptions run_of(const Words& more = {}) {
    return options_of<RunOptions>(
        with(with({"run", "--id", "2", "--peers", three_peers}, more), {"--", "job", "--now"}));
}
std::vector<std::string> run_problems(const Words& more) {
    return problems_of(
        with(with({"run", "--id", "2", "--peers", three_peers}, more), {"--", "job"}));
}

}  // namespace

TEST_CASE("options: run has every default of its flags, and its command as it stands") {
    const RunOptions options = run_of();
    CHECK(options.command == Command{"job", "--now"});
    CHECK(options.kill_after == seconds(2));
    CHECK(options.on_exit == OnExit::stay);
    CHECK(options.restart_delay == seconds(1));
    CHECK_FALSE(options.max_restarts);
    CHECK(options.stall_after == protocol::Duration{0});
    CHECK_FALSE(options.node.config.preempt);
    CHECK_FALSE(options.node.config.tie);
    CHECK(options.node.health.command.empty());
}

TEST_CASE("options: the lease of run has room for the killing of its command") {
    const auto lease_of = [](const Words& more) { return run_of(more).node.config.timing.lease; };
    CHECK(run_of().node.config.timing.kill_margin == milliseconds(2100));
    CHECK(run_of().node.config.timing.step_down_timeout == milliseconds(2100));
    CHECK(run_of({"--profile", "fast"}).node.config.timing.kill_margin == milliseconds(2040));
    CHECK(run_of({"--profile", "realtime"}).node.config.timing.kill_margin == milliseconds(2020));
    CHECK(lease_of({}) == milliseconds(2500));
    CHECK(lease_of({"--kill-after", "500ms"}) == milliseconds(1000));
    CHECK(lease_of({"--profile", "cloud"}) == milliseconds(3000));
    CHECK(lease_of({"--profile", "wan"}) == milliseconds(5000));
    // A value that is not given scales by the rest of the lease without the killing.
    CHECK(lease_of({"--lease", "3s"}) == milliseconds(3000));
    CHECK(run_of({"--lease", "3s"}).node.config.timing.heartbeat == milliseconds(100));
    CHECK(run_of({"--lease", "2500ms"}).node.config.timing == run_of().node.config.timing);
    // 20 ms are less than what noticing the loss of the majority takes.
    CHECK(lease_of({"--profile", "realtime"}) == milliseconds(2045));
}

TEST_CASE("options: run refuses a lease in which its command could not be killed") {
    CHECK(one_has(run_problems({"--lease", "1s"}), "must be"));
    CHECK(one_has(run_problems({"--kill-after", "11s"}), "lease-max"));
    CHECK(one_has(run_problems({"--kill-after", "10s"}), "lease-max"));
    CHECK(run_problems({"--kill-after", "20s"}) ==
          std::vector<std::string>{
              "--kill-after: \"20s\" is too long: the lease that it needs, 20.5s, must be ≤ "
              "lease-max (10s); use at most 9.5s, or a longer --lease-max on all members"});
    CHECK(run_problems({"--kill-after", "9500ms"}).empty());
    CHECK(one_has(run_problems({"--lease-max", "2s"}), "2s is too long"));
    // Other faults are reported, too.
    CHECK(
        run_problems({"--kill-after", "20s", "--heartbeat", "1s", "--suspect-after", "1s"}).size() >
        1);
}

TEST_CASE("options: without a readable kill-after the other constraints are told") {
    const Words broken{"--heartbeat", "100ms", "--suspect-after", "200ms"};
    CHECK(run_problems(with(broken, {"--kill-after", "?"})).size() == 2);
    CHECK(run_problems({"--lease", "1s", "--kill-after", "?"}).size() == 1);
    CHECK(run_problems({"--lease", "?", "--kill-after", "20s"}).size() == 1);
}

TEST_CASE("options: on-deposed has time behind the command's end") {
    CHECK(run_of({"--on-deposed", "true"}).node.config.timing.step_down_timeout ==
          milliseconds(2100) + hook_time);
    CHECK(run_of({"--on-change", "true"}).node.hooks.on_change == "true");
}

TEST_CASE("options: the restart delay is at most what it doubles to") {
    CHECK(run_of({"--restart-delay", "1m"}).restart_delay == seconds(60));
    CHECK(one_has(run_problems({"--restart-delay", "61s"}), "expected at most 1m"));
}

TEST_CASE("options: lead takes its node by directory, by id, or not at all") {
    CHECK(options_of<LeadOptions>({"lead", "--data-dir", "/x", "--", "job"}).data_dir == "/x");
    CHECK(
        options_of<LeadOptions>({"lead", "--id", "3", "--cluster", "blue", "--", "job"}).data_dir ==
        "/home/someone/.local/state/bullring/blue/node-3");
    CHECK(options_of<LeadOptions>({"lead", "--", "job"}, {{"STATE_DIRECTORY", "/var/x:/y"}})
              .data_dir == "/var/x");
    CHECK(one_has(problems_of({"lead", "--", "job"}), "--data-dir DIR"));
    CHECK(one_has(problems_of({"lead", "--id", "3"}), "no command"));
    const auto both = options_of<LeadOptions>(
        {"lead", "--data-dir", "/x", "--id", "3", "--cluster", "blue", "--", "job"});
    CHECK(both.data_dir == "/x");
    CHECK(both.id == 3);
    CHECK(both.cluster == "blue");
    CHECK_FALSE(options_of<LeadOptions>({"lead", "--data-dir", "/x", "--", "job"}).id);
    CHECK(one_has(problems_of({"lead", "--id", "3", "job"}), "goes after --"));
}

TEST_CASE("options: the help of run and lead says where the command goes") {
    for (const char* subcommand : {"run", "lead"}) {
        const ParsedOptions parsed = parse_options({subcommand, "--help"}, home_only);
        const auto* help = std::get_if<Information>(&parsed);
        REQUIRE(help != nullptr);
        CHECK(help->text.find(std::string("bullring ") + subcommand +
                              " [OPTIONS] -- COMMAND [ARG…]\n") != std::string::npos);
    }
}

TEST_CASE("options: a health check needs its command") {
    CHECK(one_has(run_problems({"--health-timeout", "1s"}), "--health-cmd"));
    const HealthOptions health = run_of({"--health-cmd", "test -e /x", "--health-interval", "1s",
                                         "--health-timeout", "2s", "--health-failures", "4"})
                                     .node.health;
    CHECK(health.command == "test -e /x");
    CHECK(health.interval == seconds(1));
    CHECK(health.timeout == seconds(2));
    CHECK(health.failures == 4);
}

}  // namespace bullring::options_run_test
