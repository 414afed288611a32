// Tests how `bullring node` reads its flags, and which it refuses.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/settings/flags.hpp"
#include "tests/support/parsed_options.hpp"

namespace bullring::options_node_test {

namespace {

using namespace bullring::test;
using protocol::Algorithm;
using protocol::milliseconds;
using protocol::NodeId;
using protocol::seconds;

NodeOptions node_of(const Words& more = {}, const Environment& environment = home_only) {
    return options_of<NodeOptions>(node_words(more), environment);
}

std::vector<std::string> node_problems(const Words& more = {}) {
    return problems_of(node_words(more));
}

}  // namespace

TEST_CASE("options: a node speaks at most the version of the wire format that it is told") {
    const auto range = std::to_string(protocol::version_lowest) + " … " +
                       std::to_string(protocol::version_highest);
    for (std::uint16_t version = protocol::version_lowest; version <= protocol::version_highest;
         ++version)
        CHECK(node_of({"--wire", std::to_string(version)}).config.wire_highest == version);
    for (const std::string wrong : {"0", "-1", "two", "65537"}) {
        CAPTURE(wrong);
        const std::vector<std::string> problems = node_problems({"--wire", wrong});
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].find("expected a whole number, " + range) != std::string::npos);
    }
    const Flag* const flag = find_flag("node", "wire");
    REQUIRE(flag != nullptr);
    CHECK(std::string(flag->help).find(range) != std::string::npos);
    CHECK(flag->default_text() == std::to_string(protocol::version_highest));
}

TEST_CASE("options: a node with an ID and peers alone has every default of its flags") {
    const NodeOptions options = node_of();
    const protocol::Config& config = options.config;
    CHECK(config.self == NodeId{2});
    CHECK(config.members.ids() == std::vector<NodeId>{{1}, {2}, {3}});
    CHECK(config.cluster == "bullring");
    CHECK(config.algorithm == Algorithm::bully);
    CHECK(config.quorum == protocol::QuorumMode::majority);
    CHECK(config.priority == protocol::Priority{0});
    CHECK(config.advertised.empty());
    CHECK(config.preempt);
    CHECK(config.fast_release == protocol::FastRelease::fin);
    CHECK(config.tie);
    CHECK(config.bootstrap_wait == seconds(10));
    CHECK(config.wire_highest == protocol::version_highest);
    CHECK(config.first_epoch == protocol::FirstEpoch::clock);
    CHECK(config.timing == make_timing({}, 3, Algorithm::bully));
    CHECK(config.timing.lease_max == seconds(10));
    CHECK(config.timing.preempt_delay == seconds(10));
    CHECK(options.profile == protocol::Profile::lan);
    CHECK(options.peers.size() == 3);
    CHECK(options.listen == Endpoint{"b", 7100});
    CHECK(options.data_dir == "/home/someone/.local/state/bullring/bullring/node-2");
    CHECK(options.events_file.empty());
    CHECK(options.trace_file.empty());
    CHECK_FALSE(options.hooks.any());
    CHECK(options.realtime == RealtimeMode::automatic);
    CHECK(options.log.level == LogLevel::info);
    CHECK(options.log.format == LogFormat::text);
    CHECK(options.start_notes.empty());
}

TEST_CASE("options: every flag of a node reaches its option") {
    const NodeOptions options = node_of({"--algorithm", "ring",
                                         "--quorum",    "majority",
                                         "--listen",    "[::]:7200",
                                         "--cluster",   "prod-1",
                                         "--advertise", "http://b:80/ö",
                                         "--priority",  "-5",
                                         "--preempt",   "--preempt-delay",
                                         "0s",          "--profile",
                                         "cloud",       "--lease",
                                         "2s",          "--lease-max",
                                         "20s",         "--realtime",
                                         "on",          "--bootstrap-wait",
                                         "1500ms",      "--first-epoch",
                                         "0",           "--fast-release",
                                         "off",         "--data-dir",
                                         "/data",       "--events",
                                         "-",           "--trace",
                                         "t.trace",     "--log-level",
                                         "trace",       "--log-format",
                                         "json"});
    const protocol::Config& config = options.config;
    CHECK(config.algorithm == Algorithm::ring);
    CHECK(options.listen == Endpoint{"::", 7200});
    CHECK(config.cluster == "prod-1");
    CHECK(config.advertised == "http://b:80/ö");
    CHECK(config.priority == protocol::Priority{-5});
    CHECK(config.preempt);
    CHECK(config.timing.preempt_delay == seconds(0));
    CHECK(options.profile == protocol::Profile::cloud);
    CHECK(config.timing.lease == seconds(2));
    CHECK(config.timing.heartbeat == milliseconds(200));
    CHECK(config.timing.lease_max == seconds(20));
    CHECK(options.realtime == RealtimeMode::on);
    CHECK(config.bootstrap_wait == milliseconds(1500));
    CHECK(config.first_epoch == protocol::FirstEpoch::zero);
    CHECK(config.fast_release == protocol::FastRelease::off);
    CHECK(options.data_dir == "/data");
    CHECK(options.events_file == "-");
    CHECK(options.trace_file == "t.trace");
    CHECK(options.log.level == LogLevel::trace);
    CHECK(options.log.format == LogFormat::json);
}

TEST_CASE("options: a hang is as long as the profile's longest pause, unless it is given or off") {
    CHECK(node_of().hang_after == milliseconds(100));
    CHECK(node_of({"--lease", "2s"}).hang_after == milliseconds(100));
    const std::vector<std::pair<const char*, int>> profiles{
        {"realtime", 5}, {"fast", 30}, {"lan", 100}, {"cloud", 200}, {"wan", 500}};
    for (const auto& [profile, ms] : profiles)
        CHECK(node_of({"--profile", profile}).hang_after == milliseconds(ms));
    CHECK(node_of({"--hang-after", "499ms"}).hang_after == milliseconds(499));
    CHECK(node_of({"--hang-after", "off"}).hang_after == seconds(0));
}

TEST_CASE("options: preemption is on with bully and off with ring, unless it is given") {
    CHECK(node_of().config.preempt);
    CHECK_FALSE(node_of({"--algorithm", "ring"}).config.preempt);
    CHECK_FALSE(node_of({"--no-preempt"}).config.preempt);
    CHECK(node_of({"--algorithm", "ring", "--preempt"}).config.preempt);
    CHECK(node_problems({"--preempt", "--no-preempt"}) ==
          std::vector<std::string>{"--no-preempt: it excludes --preempt; give one of them"});
}

TEST_CASE("options: a priority is a number within its bounds, or never") {
    CHECK(node_of({"--priority", "never"}).config.priority.is_never());
    CHECK(node_of({"--priority", "1000"}).config.priority.value == 1000);
    CHECK(node_of({"--priority", "-1000"}).config.priority.value == -1000);
    for (const char* wrong : {"1001", "-1001", "99999999999999999999", "high", "1.5", "", "5x"}) {
        CAPTURE(wrong);
        const auto problems = node_problems({"--priority", wrong});
        REQUIRE(problems.size() == 1);
        CHECK(problems.front().starts_with("--priority: \"" + std::string(wrong) + "\" is "));
        CHECK(one_has(problems, "expected a whole number, -1000 … 1000, or never"));
    }
}

TEST_CASE("options: each wrong value is named with its flag and what would be right") {
    const std::vector<std::pair<Words, const char*>> cases{
        {{"--algorithm", "raft"}, "--algorithm: \"raft\" is not one of bully, ring"},
        {{"--quorum", "2"}, "--quorum: \"2\" is not one of majority, none"},
        {{"--profile", "lann"}, "\"lann\" is not one of realtime, fast, lan"},
        {{"--realtime", "yes"}, "\"yes\" is not one of on, off, auto"},
        {{"--first-epoch", "1"}, "\"1\" is not one of clock, 0"},
        {{"--fast-release", "on"}, "--fast-release: \"on\" is not one of off, fin, notice"},
        {{"--hang-after", "never"}, "--hang-after: \"never\" is not a duration; expected"},
        {{"--hang-after", "never"}, ", or off"},
        {{"--hang-after", "100"}, "--hang-after: \"100\" has no unit"},
        {{"--hang-after", "0s"}, "--hang-after: \"0s\" must be more than 0, or off"},
        {{"--hang-after", "999us"}, "--hang-after: \"999us\" is too short; expected at least 1ms"},
        {{"--hang-after", "500ms"}, "\"500ms\" is too long: it must be < lease (500ms)"},
        {{"--log-level", "loud"}, "\"loud\" is not one of trace, debug"},
        {{"--log-format", "xml"}, "\"xml\" is not one of text, json"},
        {{"--heartbeat", "50"}, "--heartbeat: \"50\" has no unit"},
        {{"--lease", "-1s"}, "--lease: \"-1s\" is negative"},
        {{"--lease", "0s"}, "--lease: \"0s\" must be more than 0"},
        {{"--lease-max", "0ms"}, "--lease-max: \"0ms\" must be more than 0"},
        {{"--preempt-delay", "soon"}, "--preempt-delay: \"soon\" is not a duration"},
        {{"--bootstrap-wait", "9999999h"}, "--bootstrap-wait: \"9999999h\" is too long"},
        {{"--listen", ":7100"}, "--listen: \":7100\": it has no host"},
        {{"--cluster", ""}, "--cluster: \"\" is not a cluster's name"},
        {{"--cluster", ".."}, "--cluster: \"..\" is not a cluster's name"},
        {{"--cluster", "a/b"}, "--cluster: \"a/b\" is not a cluster's name"},
        {{"--cluster", std::string(65, 'c')}, "expected 1 … 64 letters"},
        {{"--advertise", std::string(257, 'a')}, "has 257 bytes; expected at most 256"},
        {{"--advertise", "\xff"}, "--advertise: \"\\xff\" is not UTF-8"},
        {{"--data-dir", ""}, "--data-dir: \"\" names no directory"},
        {{"--config", "/no/such/file"}, "--config: the file \"/no/such/file\" can't be read"},
    };
    for (const auto& [words, told] : cases) {
        CAPTURE(told);
        const auto problems = node_problems(words);
        REQUIRE(problems.size() == 1);
        CAPTURE(problems.front());
        CHECK(one_has(problems, told));
    }
    CHECK(node_of({"--cluster", std::string(64, 'c')}).config.cluster.size() == 64);
    CHECK(node_of({"--advertise", std::string(256, 'a')}).config.advertised.size() == 256);
}

TEST_CASE("options: an ID must be one, and in the peer list") {
    const std::vector<std::pair<const char*, const char*>> cases{
        {"9", "--id: \"9\" is not in the peer list, which has 1, 2, 3"},
        {"0", "--id: ID \"0\" is zero"},
        {"-2", "--id: ID \"-2\" is negative"},
        {"two", "--id: ID \"two\" is not a number"},
        {"9223372036854775808", "--id: ID \"9223372036854775808\" is too large"},
    };
    for (const auto& [id, told] : cases) {
        const auto problems = problems_of({"node", "--id", id, "--peers", three_peers});
        REQUIRE(problems.size() == 1);
        CHECK(one_has(problems, told));
    }
}

TEST_CASE("options: timing that can't be safe is refused with the inequality and its numbers") {
    CHECK(node_problems({"--heartbeat", "100ms", "--suspect-after", "200ms"}) ==
          std::vector<std::string>{"timing (profile lan): 3 × heartbeat (300ms) must be ≤ "
                                   "suspect-after (200ms)"});
    CHECK(node_problems({"--lease", "11s"}) ==
          std::vector<std::string>{"timing (profile lan): lease (11s) must be ≤ lease-max (10s)"});
    CHECK(node_of({"--lease", "11s", "--lease-max", "11s"}).config.timing.lease == seconds(11));
}

TEST_CASE("options: a constraint is told when it does not hang on a value that can't be read") {
    const Words broken{"--heartbeat", "100ms", "--suspect-after", "200ms"};
    const std::string told = "3 × heartbeat (300ms) must be ≤ suspect-after (200ms)";
    for (const char* unreadable :
         {"--lease", "--lease-max", "--preempt-delay", "--profile", "--algorithm"}) {
        CAPTURE(unreadable);
        const auto problems = node_problems(with(broken, {unreadable, "?"}));
        CHECK(problems.size() == 2);
        CHECK(one_has(problems, std::string(unreadable) + ": \"?\" is "));
        CHECK(one_has(problems, told));
        CHECK(one_has(problems, std::string(unreadable) == "--profile"
                                    ? "timing: 3"
                                    : "timing (profile lan): 3"));
    }
    // The consequences of a value that cannot be read are not known.
    for (const Words& words :
         {Words{"--lease", "?", "--heartbeat", "1s"}, Words{"--lease", "11s", "--lease-max", "?"},
          Words{"--profile", "?", "--suspect-after", "20s"},
          Words{"--heartbeat", "?", "--suspect-after", "1ms"}}) {
        CAPTURE(words[0]);
        CHECK(node_problems(words).size() == 1);
    }
}

TEST_CASE("options: quorum none is warned about, and refused where hooks would run twice") {
    CHECK(one_has(node_of({"--quorum", "none"}).start_notes,
                  "quorum none elects a leader on each side"));
    for (const char* hook : {"--on-elected", "--on-deposed", "--on-change"}) {
        const auto problems = node_problems({"--quorum", "none", hook, "true"});
        REQUIRE(problems.size() == 1);
        CHECK(problems.front().starts_with(std::string(hook) +
                                           ": it can't be used with quorum none"));
    }
}

TEST_CASE("options: with hooks nothing is tied to a session, and who asked for it is told") {
    const NodeOptions plain = node_of({"--on-elected", "true"});
    CHECK(plain.hooks.on_elected == "true");
    CHECK_FALSE(plain.config.tie);
    CHECK(plain.config.fast_release == protocol::FastRelease::fin);
    CHECK(plain.start_notes.empty());
    CHECK(one_has(node_of({"--on-change", "true", "--fast-release", "fin"}).start_notes,
                  "fast-release is off for this node's own leadership"));
    CHECK(node_of({"--on-elected", ""}).config.tie);
    CHECK(node_of({"--fast-release", "notice"}).config.tells_of_its_end());
    const NodeOptions noticed = node_of({"--on-elected", "true", "--fast-release", "notice"});
    CHECK(one_has(noticed.start_notes, "fast-release is off for this node's own leadership"));
    CHECK_FALSE(noticed.config.tells_of_its_end());
}

TEST_CASE("options: a list of even length is told how many failures it survives") {
    const auto notes = [](const char* peers, const char* quorum) {
        return options_of<NodeOptions>({"node", "--id", "1", "--peers", peers, "--quorum", quorum})
            .start_notes;
    };
    CHECK(notes("1=a:1,2=b:1", "majority") ==
          std::vector<std::string>{"2 members survive no failure; 3 would survive 1 failure"});
    CHECK(notes("1=a:1,2=b:1,3=c:1,4=d:1", "majority") ==
          std::vector<std::string>{"4 members survive 1 failure, no more than 3 members do; 5 "
                                   "would survive 2 failures"});
    CHECK(notes("1=a:1", "majority").empty());
    CHECK(notes("1=a:1,2=b:1,3=c:1", "majority").empty());
    CHECK(notes("1=a:1,2=b:1", "none").size() == 1);
}

TEST_CASE("options: a ring that stretches the lease is told so") {
    std::string peers;
    for (int i = 1; i <= 9; ++i) peers += std::to_string(i) + "=h:" + std::to_string(i) + ",";
    const auto options = options_of<NodeOptions>(
        {"node", "--id", "1", "--peers", peers, "--algorithm", "ring", "--profile", "wan"});
    CHECK(options.config.timing.lease == milliseconds(3400));
    CHECK(one_has(options.start_notes, "the lease is 3.4s, not 3s"));
}

TEST_CASE("options: the data directory's default follows systemd, XDG and HOME in this order") {
    const auto directory = [](const Environment& environment) {
        return node_of({"--cluster", "c"}, environment).data_dir;
    };
    Environment environment{{"STATE_DIRECTORY", "/var/lib/one:/var/lib/two"},
                            {"XDG_STATE_HOME", "/xdg"},
                            {"HOME", "/h"}};
    CHECK(directory(environment) == "/var/lib/one");
    environment["STATE_DIRECTORY"] = "";
    CHECK(directory(environment) == "/xdg/bullring/c/node-2");
    environment["XDG_STATE_HOME"] = "relative";
    CHECK(directory(environment) == "/h/.local/state/bullring/c/node-2");
    environment.erase("HOME");
    const auto problems = problems_of(node_words(), environment);
    REQUIRE(problems.size() == 1);
    CHECK(one_has(problems, "--data-dir: it has no default, because STATE_DIRECTORY"));
    CHECK(one_has(problems, "HOME"));
}

}  // namespace bullring::options_node_test
