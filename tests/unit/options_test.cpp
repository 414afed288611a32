// The command line, the environment and the file: who wins, what is said about what is wrong.
#include "src/cli/options/options.hpp"

#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "src/base/commit/commit.hpp"
#include "src/settings/flags.hpp"
#include "src/verify/drill/drill_options.hpp"
#include "tests/support/parsed_options.hpp"
#include "tests/support/temporary_files.hpp"

namespace bullring::options_test {

namespace {

using namespace bullring::test;
using protocol::milliseconds;
using protocol::NodeId;
using protocol::seconds;

std::string information_of(const Words& words) {
    const ParsedOptions parsed = parse_options(words, home_only);
    const auto* information = std::get_if<Information>(&parsed);
    REQUIRE(information != nullptr);
    return information->text;
}

Words observer_words(const char* subcommand, const Words& more = {}) {
    return with({subcommand, "--peers", three_peers}, more);
}

Environment with_home(Environment environment) {
    environment.emplace("HOME", "/home/someone");
    return environment;
}

}  // namespace

TEST_CASE("options: status, watch and resign have their defaults and their flags") {
    const auto status = options_of<StatusOptions>(observer_words("status"));
    CHECK(status.peers.size() == 3);
    CHECK(status.cluster == "bullring");
    CHECK_FALSE(status.json);
    CHECK_FALSE(status.wait);
    CHECK(status.timeout == seconds(1));
    const auto waiting = options_of<StatusOptions>(observer_words(
        "status",
        {"--json", "--wait", "--timeout", "3s", "--cluster", "c", "--log-level", "error"}));
    CHECK(waiting.json);
    CHECK(waiting.wait);
    CHECK(waiting.timeout == seconds(3));
    CHECK(waiting.cluster == "c");
    CHECK(waiting.log.level == LogLevel::error);

    const auto watch = options_of<WatchOptions>(observer_words("watch", {"--cluster", "c"}));
    CHECK(watch.peers.size() == 3);
    CHECK(watch.cluster == "c");

    CHECK(options_of<ResignOptions>(observer_words("resign")).timeout == seconds(5));
    CHECK_FALSE(options_of<ResignOptions>(observer_words("resign")).to);
    const auto resign =
        options_of<ResignOptions>(observer_words("resign", {"--to", "3", "--timeout", "250ms"}));
    CHECK(resign.to == NodeId{3});
    CHECK(resign.timeout == milliseconds(250));
    const auto local = options_of<ResignOptions>({"resign", "--local", "--data-dir", "/d"});
    CHECK(local.data_dir == "/d");
    CHECK(local.cluster.empty());
    CHECK(local.peers.empty());
    CHECK(options_of<ResignOptions>({"resign", "--local", "--id", "2", "--cluster", "blue"})
              .data_dir.ends_with("/bullring/blue/node-2"));
    CHECK(one_has(problems_of({"resign", "--local"}), "which node? expected --data-dir DIR"));
    CHECK(one_has(problems_of(observer_words("resign", {"--data-dir", "/d"})),
                  "--data-dir: it needs --local"));
    const auto both = problems_of(observer_words(
        "resign", {"--local", "--data-dir", "/d", "--security", "key", "--key-file", "k"}));
    CHECK(both.size() == 3);
    for (const char* flag : {"--peers", "--security", "--key-file"})
        CHECK(one_has(both, std::string(flag) + ": it means nothing with --local"));
}

TEST_CASE("options: an observer's mistakes are told like a node's") {
    CHECK(one_has(problems_of({"status"}), "--peers: it is missing; expected ID=HOST:PORT"));
    CHECK(one_has(problems_of({"watch", "--peers", ""}), "the peer list is empty"));
    CHECK(one_has(problems_of(observer_words("status", {"--timeout", "0s"})),
                  "--timeout: \"0s\" must be more than 0"));
    // The list of members may have changed since.
    CHECK(options_of<ResignOptions>(observer_words("resign", {"--to", "4"})).to.value == 4);
    CHECK(one_has(problems_of(observer_words("resign", {"--to", "0"})), "--to: "));
    CHECK(one_has(problems_of(observer_words("watch", {"--wait"})),
                  "watch has no flag \"--wait\"; it is one of lead and status"));
}

TEST_CASE("options: all that is wrong is told at once, whatever kind it is of") {
    const auto problems =
        problems_of({"node", "--id", "x", "--bogus", "--heartbaet", "50ms", "--priority", "9999",
                     "stray", "--lease", "5", "--listen", "-q", "--", "sleep"},
                    with_home({{"BULLRING_QUORUM", "half"}}));
    CHECK(problems.size() == 11);
    CHECK(one_has(problems, "unknown flag \"--bogus\"; see bullring node --help"));
    CHECK(one_has(problems, "unknown flag \"--heartbaet\"; did you mean --heartbeat?"));
    CHECK(one_has(problems, "unexpected argument \"stray\""));
    CHECK(one_has(problems, "unknown flag \"-q\""));
    CHECK(one_has(problems, "--listen: it needs a value; expected --listen HOST:PORT"));
    CHECK(one_has(problems, "unexpected \"--\"; node takes no command after it"));
    CHECK(one_has(problems, "--id: ID \"x\" is not a number"));
    CHECK(one_has(problems, "--peers: it is missing"));
    CHECK(one_has(problems, "--priority: \"9999\" is out of range"));
    CHECK(one_has(problems, "--lease: \"5\" has no unit"));
    CHECK(one_has(problems, "BULLRING_QUORUM: \"half\" is not one of"));
}

TEST_CASE("options: a flag of another subcommand is told as that, and its value with it") {
    const auto only = [](const Words& words) {
        const auto problems = problems_of(words);
        REQUIRE(problems.size() == 1);
        return problems.front();
    };
    CHECK(only(node_words({"--kill-after", "1s"})) ==
          "node has no flag \"--kill-after\"; it is one of run and lead");
    CHECK(only(node_words({"--on-exit=leave"})) ==
          "node has no flag \"--on-exit\"; it is one of run");
    CHECK(only(observer_words("resign", {"--json"})) ==
          "resign has no flag \"--json\"; it is one of doctor, status, member, drill and audit");
    // Near to a flag of another subcommand is not near enough.
    CHECK(only(node_words({"--max-restart"})) ==
          "unknown flag \"--max-restart\"; see bullring node --help");
    const auto stray = problems_of(observer_words("resign", {"--json", "stray"}));
    CHECK(stray.size() == 2);
}

TEST_CASE("options: what is wrong is told together with the names of programs to look for") {
    const auto parsed =
        parse_options({"run", "--health-cmd", "check", "--", "job", "x"}, home_only);
    const auto* wrong = std::get_if<UsageProblems>(&parsed);
    REQUIRE(wrong != nullptr);
    CHECK(wrong->command == Command{"job", "x"});
    CHECK(wrong->health_cmd == "check");
}

TEST_CASE("options: a switch and its negation may be given when they agree") {
    const TemporaryFile agree("preempt = true\nno-preempt = false\n");
    CHECK(options_of<NodeOptions>(node_words({"--config", agree.path()})).config.preempt);
    const TemporaryFile differ("preempt = true\nno-preempt = true\n");
    CHECK(problems_of(node_words({"--config", differ.path()})).size() == 1);
}

TEST_CASE("options: without a subcommand, or with a wrong one, the right ones are named") {
    for (const Words& words : {Words{}, Words{"nod"}, Words{"--id", "3"}, Words{""}}) {
        const auto problems = problems_of(words);
        REQUIRE(problems.size() == 1);
        CHECK(one_has(problems,
                      "expected one of node, run, address, lead, doctor, status, watch, resign"));
    }
    CHECK(one_has(problems_of({"nod"}), "unknown subcommand \"nod\""));
    CHECK(one_has(problems_of(with({"--quick"}, node_words())),
                  "unexpected \"--quick\" before the subcommand node"));
}

TEST_CASE("options: values may follow an equals sign, be negative, a dash or empty") {
    const auto options = options_of<NodeOptions>(
        {"node", "--id=2", std::string("--peers=") + three_peers, "--priority=-7", "--events", "-",
         "--advertise=", "--on-change=-x=1"});
    CHECK(options.config.priority.value == -7);
    CHECK(options.events_file == "-");
    CHECK(options.config.advertised.empty());
    CHECK(options.hooks.on_change == "-x=1");
}

TEST_CASE("options: of a flag given twice the last one counts") {
    CHECK(options_of<NodeOptions>(node_words({"--id", "1", "--id", "3"})).config.self == NodeId{3});
}

TEST_CASE("options: a flag without its value takes no other flag for it") {
    CHECK(problems_of({"node", "--peers", three_peers, "--id"}) ==
          std::vector<std::string>{"--id: it needs a value; expected --id N|hostname"});
    CHECK(problems_of({"node", "--id", "--peers", three_peers}) ==
          std::vector<std::string>{"--id: it needs a value; expected --id N|hostname"});
}

TEST_CASE("options: the command line wins over the environment, the environment over the file") {
    const TemporaryFile file("cluster = \"file\"\nadvertise = \"file\"\nlog-level = \"error\"\n");
    const Environment environment = with_home({{"BULLRING_CONFIG", file.path()},
                                               {"BULLRING_CLUSTER", "environment"},
                                               {"BULLRING_ADVERTISE", "environment"}});
    const auto options = options_of<NodeOptions>(node_words({"--cluster", "line"}), environment);
    CHECK(options.config.cluster == "line");
    CHECK(options.config.advertised == "environment");
    CHECK(options.log.level == LogLevel::error);
}

TEST_CASE("options: what a higher source overrides is not looked at") {
    CHECK(problems_of(node_words({"--lease", "1s"}), with_home({{"BULLRING_LEASE", "nonsense"}}))
              .empty());
    const auto options = options_of<NodeOptions>(node_words({"--preempt"}),
                                                 with_home({{"BULLRING_NO_PREEMPT", "1"}}));
    CHECK(options.config.preempt);
}

TEST_CASE("options: every flag has its variable, and a wrong value names it") {
    const Environment environment = with_home({{"BULLRING_ID", "3"},
                                               {"BULLRING_PEERS", three_peers},
                                               {"BULLRING_SUSPECT_AFTER", "300ms"},
                                               {"BULLRING_NO_PREEMPT", "true"},
                                               {"BULLRING_PRIORITY", ""},
                                               {"BULLRING_EPOCH", "not a flag"}});
    const auto options = options_of<NodeOptions>({"node"}, environment);
    CHECK(options.config.self == NodeId{3});
    CHECK(options.config.timing.suspect_after == milliseconds(300));
    CHECK_FALSE(options.config.preempt);

    for (const Flag& flag : flag_table()) {
        if (!flag.belongs_to("node")) continue;
        const std::string variable = environment_name(flag.name);
        CAPTURE(variable);
        const std::string name = flag.name;
        // Any text will do for these.
        if (name.starts_with("on-") || name == "advertise" || name == "data-dir" ||
            name == "events" || name == "trace" || name == "health-cmd") {
            continue;
        }
        const auto problems = problems_of({"node"}, with_home({{variable, "!"}}));
        CHECK(one_has(problems, variable + ": "));
    }
}

TEST_CASE("options: one file or environment serves founders, and nodes that join them") {
    const Environment both = with_home({{"BULLRING_PEERS", "1=127.0.0.1:1,2=127.0.0.1:2"},
                                        {"BULLRING_JOIN", "127.0.0.1:1,127.0.0.1:2"},
                                        {"BULLRING_LISTEN", "127.0.0.1:4"},
                                        {"BULLRING_VOTER", "on"}});
    const auto founder = options_of<NodeOptions>({"node", "--id", "2"}, both);
    CHECK(founder.join.empty());
    CHECK(founder.config.members.size() == 2);
    const auto joiner = options_of<NodeOptions>({"node", "--id", "4"}, both);
    CHECK(joiner.join.size() == 2);
    CHECK(joiner.voter);
    CHECK(joiner.config.members.empty());
    // The command line comes before it.
    const Words typed{"node", "--id", "2", "--join", "127.0.0.1:1"};
    CHECK(options_of<NodeOptions>(typed, both).join.size() == 1);
    CHECK(to_text(options_of<NodeOptions>(with(typed, {"--join-as", "a:5"}), both).listen) ==
          "127.0.0.1:4");
    CHECK(to_text(options_of<NodeOptions>(with(typed, {"--join-as", "a:5"}), home_only).listen) ==
          "a:5");
    CHECK(options_of<NodeOptions>({"node", "--id", "4", "--peers", "4=127.0.0.1:4"}, both)
              .join.empty());

    CHECK(problems_of({"node", "--id", "2", "--voter"}, both) ==
          std::vector<std::string>{"--voter: it is for nodes that join, and peers has this one"});

    const TemporaryFile file(
        "peers = [\"1=127.0.0.1:1\"]\njoin = [\"127.0.0.1:1\"]\n"
        "listen = \"127.0.0.1:4\"\n");
    const Words by_file{"node", "--config", file.path(), "--id"};
    CHECK(options_of<NodeOptions>(with(by_file, {"1"}), home_only).join.empty());
    CHECK(options_of<NodeOptions>(with(by_file, {"4"}), home_only).join.size() == 1);
}

TEST_CASE("options: a node's environment does not disturb an observer") {
    CHECK(problems_of(observer_words("status"),
                      with_home({{"BULLRING_ID", "x"}, {"BULLRING_LEASE", "?"}}))
              .empty());
}

TEST_CASE("options: the file's keys are the flags' names, with strings, numbers and booleans") {
    const TemporaryFile file(
        "# a node\n"
        "id = 3\n"
        "peers = [\"1=a:7100\", \"2=b:7100\", \"3=c:7100\"]\n"
        "priority = -4\n"
        "preempt = false\n"
        "fast-release = \"off\"\n"
        "first-epoch = 0\n"
        "suspect-after = \"300ms\"\n"
        "json = true\n");
    const auto options = options_of<NodeOptions>({"node", "--config", file.path()});
    CHECK(options.config.self == NodeId{3});
    CHECK(options.peers.size() == 3);
    CHECK(options.config.priority.value == -4);
    CHECK_FALSE(options.config.preempt);
    CHECK(options.config.fast_release == protocol::FastRelease::off);
    CHECK(options.config.first_epoch == protocol::FirstEpoch::zero);
    CHECK(options.config.timing.suspect_after == milliseconds(300));
    // The same file serves an observer, which skips what is the node's.
    CHECK(options_of<StatusOptions>({"status", "--config", file.path()}).json);

    const TemporaryFile text("peers = \"1=a:1,2=b:1,3=c:1\"\nno-preempt = true\n");
    CHECK_FALSE(
        options_of<NodeOptions>({"node", "--id", "1", "--config", text.path()}).config.preempt);
}

TEST_CASE("options: one wait in the file or the environment serves status and lead") {
    const auto status_waits = [](const Environment& environment) {
        return options_of<StatusOptions>(observer_words("status"), with_home(environment)).wait;
    };
    const auto lead_waits = [](const Environment& environment) {
        return options_of<LeadOptions>({"lead", "--data-dir", "/x", "--", "job"}, environment).wait;
    };
    for (const auto& [text, waits, time] : {std::tuple{"wait = \"30s\"\n", true, seconds(30)},
                                            {"wait = \"0s\"\n", false, seconds(0)},
                                            {"wait = false\n", false, seconds(0)}}) {
        CAPTURE(text);
        const TemporaryFile file(text);
        CHECK(status_waits({{"BULLRING_CONFIG", file.path()}}) == waits);
        CHECK(lead_waits({{"BULLRING_CONFIG", file.path()}}) == time);
    }
    CHECK(status_waits({{"BULLRING_WAIT", "2m"}}));
    CHECK(lead_waits({{"BULLRING_WAIT", "2m"}}) == seconds(120));
    CHECK(status_waits({{"BULLRING_WAIT", "on"}}));
    CHECK(one_has(problems_of({"lead", "--data-dir", "/x", "--", "job"}, {{"BULLRING_WAIT", "on"}}),
                  "BULLRING_WAIT: \"on\" is not a duration"));
    CHECK(one_has(problems_of(observer_words("status"), with_home({{"BULLRING_WAIT", "30"}})),
                  "BULLRING_WAIT: \"30\" is neither on nor off"));
}

TEST_CASE("options: unknown keys of the file and values of a wrong kind are all named") {
    const TemporaryFile file(
        "id = 1\n"
        "peers = [1, 2]\n"
        "suspect_after = \"200ms\"\n"
        "colour = \"red\"\n"
        "config = \"other.toml\"\n"
        "heartbeat = 50\n"
        "lease = 0.5\n"
        "advertise = \"a\\u0000b\"\n"
        "[node]\n"
        "id = 1\n");
    const auto problems = problems_of({"node", "--config", file.path()});
    CHECK(problems.size() == 8);
    CHECK(one_has(problems, file.path() + " line 3: unknown key \"suspect_after\"; did you mean "
                                          "suspect-after?"));
    CHECK(one_has(problems, "line 4: unknown key \"colour\""));
    CHECK(one_has(problems, "line 5: unknown key \"config\""));
    CHECK(one_has(problems, "line 9: a table [node] has no meaning; expected keys without"));
    CHECK(one_has(problems,
                  "peers in " + file.path() +
                      ": [ 1, 2 ] can't be its value; expected a text in quotes, or an array"));
    CHECK(one_has(problems, "lease in " + file.path() +
                                ": 0.5 can't be its value; expected a time with its unit"));
    CHECK(one_has(problems, "advertise in " + file.path() + ": a text with a NUL"));
    CHECK(one_has(problems, "heartbeat in " + file.path() + ": \"50\" has no unit"));
    CHECK(problems_of({"status", "--peers", three_peers, "--config", file.path()}).size() == 5);
}

TEST_CASE("options: a file that is no TOML is told by its line, and nothing is called missing") {
    const TemporaryFile file("id = 1\nid = 2\n");
    const auto problems = problems_of({"node", "--config", file.path(), "--lease", "?"});
    REQUIRE(problems.size() == 2);
    CHECK(problems.front().starts_with(file.path() + " line 2: it is not TOML"));
    CHECK(problems_of({"node"}, with_home({{"BULLRING_CONFIG", "/no/such/file"}})) ==
          std::vector<std::string>{"BULLRING_CONFIG: the file \"/no/such/file\" can't be read: No "
                                   "such file or directory"});
    CHECK(problems_of({"node", "--config"}) ==
          std::vector<std::string>{"--config: it needs a value; expected --config FILE"});
}

TEST_CASE("options: --version and --help win over everything that is wrong") {
    const std::string told = "bullring " + version_text() + "\n";
    CHECK(information_of({"--version"}) == told);
    CHECK(information_of({"node", "--bogus", "--version"}) == told);
    CHECK(information_of({"node", "--id", "x", "--help"}) == information_of({"node", "--help"}));
    CHECK(information_of({"--help"}).find("\n  resign ") != std::string::npos);
    CHECK(information_of({"--help"}).find("\n  help ") != std::string::npos);
}

TEST_CASE("options: drill has its defaults and its flags") {
    using Faults = std::vector<DrillRequest>;
    const auto usual = options_of<DrillOptions>(observer_words("drill"));
    CHECK(usual.rounds == 20);
    CHECK_FALSE(usual.time.has_value());
    CHECK(usual.every == seconds(10));
    CHECK(usual.faults == Faults(all_faults.begin(), all_faults.end()));
    const auto given = options_of<DrillOptions>(observer_words(
        "drill", {"--for", "10m", "--faults", "cut, crash", "--every", "0s", "--json"}));
    CHECK(given.time == seconds(600));
    CHECK_FALSE(given.rounds.has_value());
    CHECK(given.faults == Faults{DrillRequest::cut, DrillRequest::crash});
    CHECK(given.every == seconds(0));
    CHECK(given.json);
    CHECK(options_of<NodeOptions>(node_words({"--allow-drill"})).allow_drill);
    CHECK_FALSE(options_of<NodeOptions>(node_words({})).allow_drill);
}

TEST_CASE("options: what is wrong with a drill is told with its value") {
    const auto problem = [](const Words& words, const char* part) {
        const auto problems = problems_of(observer_words("drill", words));
        CHECK(problems.size() == 1);
        CHECK(one_has(problems, part));
    };
    problem({"--faults", "crash,flood"}, "\"flood\" is not one of crash, hang, resign, cut");
    problem({"--faults", "crash,crash"}, "\"crash\" is there twice");
    problem({"--faults", ""}, "\"\" is not one of");
    problem({"--rounds", "0"}, "\"0\" is out of range");
    problem({"--for", "0s"}, "must be more than 0");
    problem({"--for", "1m", "--rounds", "3"}, "--for: it excludes --rounds");
    CHECK(one_has(problems_of({"drill", "--peers", "1=h:1,2=h:2"}), "at least 3 members"));
}

TEST_CASE("options: audit takes files, and its flags anywhere between them") {
    const auto audit = options_of<AuditOptions>({"audit", "a", "b"});
    CHECK(audit.files == Words{"a", "b"});
    CHECK(audit.clock_error == milliseconds(10));
    CHECK_FALSE(audit.json);
    const auto mixed = options_of<AuditOptions>(
        {"audit", "a", "--clock-error", "2s", "-", "--json", "--", "--odd"},
        {{"BULLRING_CLOCK_ERROR", "1s"}});
    CHECK(mixed.files == Words{"a", "-", "--odd"});
    CHECK(mixed.clock_error == seconds(2));
    CHECK(mixed.json);
    CHECK(options_of<AuditOptions>({"audit", "a"}, {{"BULLRING_CLOCK_ERROR", "1s"}}).clock_error ==
          seconds(1));
    CHECK(one_has(problems_of({"audit"}), "no event stream; expected bullring audit EVENTS"));
    CHECK(one_has(problems_of({"audit", ""}), "names no file"));
    CHECK(one_has(problems_of({"audit", "a", "--clock-error", "5"}), "--clock-error"));
    CHECK(one_has(problems_of({"audit", "a", "--peers", "1=h:1"}), "audit has no flag"));
}

TEST_CASE("options: every subcommand's help names its own flags with their defaults, no others") {
    for (const Subcommand& subcommand : subcommand_table()) {
        const std::string help = information_of({subcommand.name, "--help"});
        for (const Flag& flag : flag_table()) {
            CAPTURE(flag.name);
            const std::string column = "\n  --" + std::string(flag.name) +
                                       (flag.is_switch() ? "" : " " + std::string(flag.argument));
            const bool named = help.find(column + " ") != std::string::npos ||
                               help.find(column + "\n") != std::string::npos;
            if (find_flag(subcommand.name, flag.name) == nullptr) CHECK_FALSE(named);
            if (!flag.belongs_to(subcommand.name)) continue;
            CHECK(named);
            CHECK((!flag.default_text().empty() || flag.negates != nullptr));
        }
        CHECK(help.find('\0') == std::string::npos);
    }
    const std::string node_help = information_of({"node", "-h"});
    CHECK(node_help.find("  lan         50ms        200ms       500ms\n") != std::string::npos);
    CHECK(node_help.find("[10s]") != std::string::npos);
}

TEST_CASE("options: every flag belongs to subcommands that there are") {
    for (const Flag& flag : flag_table()) {
        for (const std::string_view words : flag.owners) {
            std::istringstream owners{std::string(words)};
            for (std::string owner; owners >> owner;) {
                CAPTURE(owner);
                CHECK((find_subcommand(owner) != nullptr || owner == any_subcommand ||
                       owner == library));
            }
        }
    }
}

TEST_CASE("options: whatever the words are, they end in options, information or problems") {
    std::vector<std::string> pieces{"",     "-",      "--",      "---",  "--=",  "-5",
                                    "-h=",  "=",      "[a]",     "{}",   "@",    "--id",
                                    "node", "status", "--json=", "true", "++",   "/h",
                                    "%%",   "--json", "1,2",     "\n",   "\xff", "-xyz"};
    for (const Flag& flag : flag_table()) {
        const std::string name = std::string("--") + flag.name;
        for (const std::string& piece : {name, name + "=", name + "=[x]", name + "={}"}) {
            pieces.push_back(piece);
        }
    }
    CHECK(rc::check("any words", [&] {
        const auto words = *rc::gen::container<Words>(rc::gen::elementOf(pieces));
        const ParsedOptions parsed = parse_options(with({"node"}, words), home_only);
        if (const auto* wrong = std::get_if<UsageProblems>(&parsed)) {
            RC_ASSERT_FALSE(wrong->problems.empty());
            for (const std::string& problem : wrong->problems) {
                RC_ASSERT(problem.find('\n') == std::string::npos);
            }
        }
    }));
}

}  // namespace bullring::options_test
